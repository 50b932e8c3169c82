"""Divides a package's sections among the messages of an API by how long their text lasts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from service.context.model import SEGMENTS, Segment
from service.policies.words import SectionName

Pieces = Mapping[SectionName, Sequence[str]]
"""The text of each section that has one, in pieces: its head, block after block, its foot."""


@dataclass(frozen=True, slots=True)
class Contents:
    """The system's text, the session's and this call's. What is empty is left out.

    Of the session `lasting` stays until something is pinned, `growing` gets longer at its end with each turn,
    and `foot` closes it.
    """

    stable: str
    lasting: str
    growing: tuple[str, ...]
    foot: str
    volatile: str

    @property
    def session(self) -> str:
        """All that lasts through the session."""
        return "".join((self.lasting, *self.growing, self.foot))

    @property
    def changing(self) -> tuple[str, ...]:
        """The texts that follow the system's: the session's, then this call's. None is empty."""
        return tuple(text for text in (self.session, self.volatile) if text)


def contents_of(preamble: str, pieces: Pieces) -> Contents:
    """Answer the messages' contents. Tools are not among them: an API takes them apart."""

    def joined(segment: Segment, *apart: SectionName) -> str:
        return "".join(
            piece
            for name in SectionName
            if SEGMENTS[name] is segment and name not in apart
            for piece in pieces.get(name, ())
        )

    # The history is the last section of its segment.
    history = pieces.get(SectionName.HISTORY, ())
    lasting = joined(Segment.SESSION, SectionName.HISTORY) + "".join(history[:1])
    return Contents(
        stable=preamble + joined(Segment.STABLE, SectionName.TOOLS),
        lasting=lasting,
        growing=tuple(history[1:-1]),
        foot="".join(history[1:][-1:]),
        volatile=joined(Segment.VOLATILE),
    )
