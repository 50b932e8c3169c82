"""Divides a package's sections among the messages of an API by how long their text lasts."""

from collections.abc import Mapping
from dataclasses import dataclass

from service.context.model import SEGMENTS, Segment
from service.policies.words import SectionName


@dataclass(frozen=True, slots=True)
class Contents:
    """The system's text, and the texts that follow: the session's first, then this call's. None is empty."""

    stable: str
    changing: tuple[str, ...]


def contents_of(preamble: str, texts: Mapping[SectionName, str]) -> Contents:
    """Answer the messages' contents. Tools are not among them: an API takes them apart."""

    def joined(segment: Segment) -> str:
        return "".join(
            texts.get(name, "")
            for name in SectionName
            if SEGMENTS[name] is segment and name is not SectionName.TOOLS
        )

    changing = (joined(Segment.SESSION), joined(Segment.VOLATILE))
    return Contents(preamble + joined(Segment.STABLE), tuple(text for text in changing if text))
