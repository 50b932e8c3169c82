"""What packages need of long-term memory, whose store stands beside."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Protocol

from service.core.passages import PassageKey
from service.identity.model import Caller


class MemoryPassage(Protocol):
    """One memory that the caller may read now for the purpose that was asked: re-read from the record."""

    @property
    def key(self) -> PassageKey:
        """Its name in the index; a memory is one passage, ordinal 0."""
        ...

    @property
    def memory_id(self) -> str:
        """The memory's id."""
        ...

    @property
    def version(self) -> int:
        """The version that is current."""
        ...

    @property
    def class_name(self) -> str:
        """Its memory class."""
        ...

    @property
    def key_name(self) -> str:
        """What it says something about (`reply_style`)."""
        ...

    @property
    def text(self) -> str:
        """What is remembered."""
        ...

    @property
    def trust(self) -> str:
        """The lowest trust in its lineage."""
        ...

    @property
    def advisory(self) -> bool:
        """Whether it may only advise, never decide."""
        ...

    @property
    def revalidate(self) -> Sequence[str]:
        """For what it must be checked anew before it counts: money, access, safety, authority."""
        ...

    @property
    def expires_at(self) -> datetime | None:
        """When it ends, or `None`."""
        ...


class MemoryReader(Protocol):
    """Re-reads memories under expiry, consent, purpose, reader policy and supersession."""

    def passages(
        self, keys: Sequence[PassageKey], *, caller: Caller, purpose: str, now: datetime
    ) -> Mapping[PassageKey, MemoryPassage]:
        """Answer those of the memories that the caller may read now for the purpose."""
        ...
