"""Memories as a search finds them and as the index gets them."""

from dataclasses import dataclass
from datetime import datetime

from service.core.passages import PassageKey
from service.memories.model import Memory, shown_text


@dataclass(frozen=True, slots=True)
class MemoryPassage:
    """A memory that the caller may read now for the purpose that was asked: re-read from the record."""

    key: PassageKey
    memory: Memory
    revalidate: tuple[str, ...]

    @property
    def memory_id(self) -> str:
        """The memory's id."""
        return self.memory.id

    @property
    def version(self) -> int:
        """The version that is current."""
        return self.memory.version

    @property
    def class_name(self) -> str:
        """Its memory class."""
        return self.memory.class_name

    @property
    def key_name(self) -> str:
        """What it says something about."""
        return self.memory.content.key

    @property
    def text(self) -> str:
        """What is remembered, in words."""
        return shown_text(self.memory.content)

    @property
    def trust(self) -> str:
        """The lowest trust in its lineage."""
        return self.memory.trust

    @property
    def advisory(self) -> bool:
        """Always true: a memory is never a fact."""
        return True

    @property
    def expires_at(self) -> datetime:
        """When it ends."""
        return self.memory.expires_at

    @property
    def tokens(self) -> int:
        """Tokens of the text (o200k_base)."""
        return self.memory.tokens


@dataclass(frozen=True, slots=True)
class IndexedMemory:
    """What the index needs of a memory: its text, whose it is, who may find it."""

    key: PassageKey
    text: str
    project_id: str
    subject: str | None
    readers: tuple[str, ...]
