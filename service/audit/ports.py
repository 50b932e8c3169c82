"""What the trail needs from outside: a memory that whoever writes to the record cannot reach."""

from typing import Protocol


class HeadMemory(Protocol):
    """Remembers for each tenant the furthest end of its chain that it was shown, as a signed document."""

    def recall(self, tenant_id: str) -> str | None:
        """Answer the document that was remembered last, `None` when there was none."""
        ...

    def remember(self, tenant_id: str, sequence: int, document: str) -> None:
        """Keep the document in place of one that stands for fewer events; otherwise change nothing."""
        ...

    def replace(self, tenant_id: str, sequence: int, document: str) -> None:
        """Keep the document in place of any other: the record was put back to an earlier moment."""
        ...
