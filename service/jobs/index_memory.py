"""Keeping memories in the index: what of them is indexed, and under which scope and readers."""

from collections.abc import Callable, Mapping, Sequence
from typing import Final, Protocol

from sqlmodel import Session

from service.core.cipher import Cipher
from service.core.passages import PassageKey
from service.jobs.indexer import Indexable
from service.retrieval.model import ItemKind

MEMORY_TOPICS: Final = ("memory.changed", "memory.deleted")


class MemoryPassage(Protocol):
    """One memory as the index needs it: its text is one passage, with ordinal 0."""

    @property
    def key(self) -> PassageKey:
        """The memory's id and version."""
        ...

    @property
    def text(self) -> str:
        """What is searched in."""
        ...

    @property
    def project_id(self) -> str:
        """The project of a memory of a project."""
        ...

    @property
    def subject(self) -> str | None:
        """The person of a memory of a person; `None` for one of a project."""
        ...

    @property
    def readers(self) -> tuple[str, ...]:
        """Labels as in `Caller.reader_labels`."""
        ...


class MemoryPassages(Protocol):
    """The part of the store of memories that indexing reads."""

    def index_passages(self, *item_ids: str) -> Sequence[MemoryPassage]:
        """Answer the current version of those of the memories that may be found at all."""
        ...

    def live_versions(self, item_ids: Sequence[str]) -> Mapping[str, int]:
        """Answer the current version of those of the memories that may be found at all: no text."""
        ...

    def list_live_ids(self, *, after: str = "", limit: int) -> Sequence[str]:
        """Answer ids of memories that may be found at all, in order, after `after`."""
        ...


class MemorySource:
    """Reads memories for the index. `open_store` opens the store in a transaction."""

    kind: ItemKind = ItemKind.MEMORY

    def __init__(self, open_store: Callable[[Session, str, Cipher], MemoryPassages]) -> None:
        self._open_store = open_store

    def read(
        self, session: Session, tenant_id: str, cipher: Cipher, item_ids: Sequence[str]
    ) -> Sequence[Indexable]:
        """Answer all passages of the items' current versions; nothing of an item that is gone."""
        passages = self._open_store(session, tenant_id, cipher).index_passages(*item_ids)
        return [
            Indexable(passage.key, passage.text, _scope_of(passage, cipher), passage.readers)
            for passage in passages
        ]

    def read_versions(
        self, session: Session, tenant_id: str, cipher: Cipher, item_ids: Sequence[str]
    ) -> Mapping[str, int]:
        """Answer the version of each item of which `read` would answer something, without its text."""
        return self._open_store(session, tenant_id, cipher).live_versions(item_ids)

    def list_ids(
        self, session: Session, tenant_id: str, cipher: Cipher, *, after: str, limit: int
    ) -> Sequence[str]:
        """Answer ids of items that belong in the index, in order, after `after`."""
        return self._open_store(session, tenant_id, cipher).list_live_ids(after=after, limit=limit)


def _scope_of(passage: MemoryPassage, cipher: Cipher) -> str:
    if passage.subject is not None:
        return f"user:{cipher.keyed_hash(passage.subject)}"
    return f"project:{passage.project_id}"
