"""What memories need from beside them: what the record says about a source, and what stands around it."""

from typing import Protocol

from service.memories.model import Citation, Cited
from service.memories.model_review import CitedPassage


class Citations(Protocol):
    """Looks sources up as the caller of one unit of work: what that caller may not read is not found."""

    def look_up(self, citation: Citation, *, subject: str | None) -> Cited:
        """Answer what is known about the source; `facts.found` is false where there is nothing to read.

        `subject` is the person whom the proposal is about: a turn is that person's own only if they said it.
        """
        ...


class Passages(Protocol):
    """Reads what stands around a citation, as the caller of one unit of work."""

    def read(self, citation: Citation, *, subject: str | None) -> CitedPassage | None:
        """Answer the passage, or `None` where there is nothing that the caller may read."""
        ...
