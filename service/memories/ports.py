"""What memories need from beside them: what the record says about a source that a proposal cites."""

from typing import Protocol

from service.memories.model import Citation, Cited


class Citations(Protocol):
    """Looks sources up as the caller of one unit of work: what that caller may not read is not found."""

    def look_up(self, citation: Citation, *, subject: str | None) -> Cited:
        """Answer what is known about the source; `facts.found` is false where there is nothing to read.

        `subject` is the person whom the proposal is about: a turn is that person's own only if they said it.
        """
        ...
