"""Bringing the index in line with the record, item by item, whatever order the news of it arrives in."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Protocol, TypeVar

from sqlmodel import Session

from service.core.cipher import Cipher, Ciphers
from service.core.database import Database
from service.core.failpoints import hit
from service.core.outbox import Message
from service.core.passages import PassageKey
from service.retrieval.model import ItemKind, Point
from service.retrieval.ports import Embedder, SparseEncoder, VectorIndex

EMBED_TEXTS_MAX: Final = 256
"""Most texts of one call to the embedder, and most points of one write."""
_ITEMS_AT_ONCE: Final = 256

Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class Indexable:
    """One passage as it should stand in the index. `readers` are labels; they are hashed on the way."""

    key: PassageKey
    text: str
    scope: str
    readers: tuple[str, ...]


class Source(Protocol):
    """Where one kind of item is read from the record, inside one transaction of one tenant."""

    @property
    def kind(self) -> ItemKind:
        """The kind of item."""
        ...

    def read(
        self, session: Session, tenant_id: str, cipher: Cipher, item_ids: Sequence[str]
    ) -> Sequence[Indexable]:
        """Answer all passages of the items' current versions; nothing of an item that is gone."""
        ...

    def read_versions(
        self, session: Session, tenant_id: str, cipher: Cipher, item_ids: Sequence[str]
    ) -> Mapping[str, int]:
        """Answer the version of each item of which `read` would answer something, without its text."""
        ...

    def list_ids(
        self, session: Session, tenant_id: str, cipher: Cipher, *, after: str, limit: int
    ) -> Sequence[str]:
        """Answer ids of items that belong in the index, in order, after `after`."""
        ...


class Indexer:
    """Keeps one kind of item in the index. Safe to run twice, late, out of order and in two processes.

    It never believes a message: it reads what the record holds now, writes that, and asks the record once
    more. What died or was replaced in between is removed then, and if that comes later still, its own message
    does it. So an old worker can neither bring back what is gone nor leave an old version behind.
    """

    def __init__(
        self,
        source: Source,
        *,
        database: Database,
        ciphers: Ciphers,
        embedder: Embedder,
        sparse: SparseEncoder,
        index: VectorIndex,
    ) -> None:
        self._source = source
        self._database = database
        self._ciphers = ciphers
        self._embedder = embedder
        self._sparse = sparse
        self._index = index

    @property
    def kind(self) -> ItemKind:
        """The kind of item that is kept."""
        return self._source.kind

    def __call__(self, tenant_id: str, messages: Sequence[Message]) -> None:
        """Handle news of items, changed or deleted alike. Raises `Unavailable` when the index is down."""
        self.reconcile(tenant_id, [str(message.payload["item_id"]) for message in messages])

    def reconcile(self, tenant_id: str, item_ids: Sequence[str]) -> int:
        """Make the index hold exactly the current passages of the items; answer how many those are."""
        written = 0
        for part in _parts(list(dict.fromkeys(item_ids)), _ITEMS_AT_ONCE):
            wanted = self.read(tenant_id, part)
            self._write(tenant_id, wanted)
            hit("index.before_fence")
            self._remove_dead(tenant_id, part, self._read_versions(tenant_id, part))
            written += len(wanted)
        return written

    def read(self, tenant_id: str, item_ids: Sequence[str]) -> Sequence[Indexable]:
        """Answer what the index should hold of the items now."""
        cipher = self._ciphers.for_tenant(tenant_id)
        with self._database.read(tenant_id) as session:
            return self._source.read(session, tenant_id, cipher, item_ids)

    def list_ids(self, tenant_id: str) -> Iterator[Sequence[str]]:
        """Answer the ids of all items that belong in the index, some at a time, each read anew."""
        after = ""
        while True:
            cipher = self._ciphers.for_tenant(tenant_id)
            with self._database.read(tenant_id) as session:
                ids = self._source.list_ids(session, tenant_id, cipher, after=after, limit=_ITEMS_AT_ONCE)
            if not ids:
                return
            yield ids
            after = ids[-1]

    def list_keys(self, tenant_id: str) -> Sequence[PassageKey]:
        """Answer what the index holds of this kind."""
        return self._index.list_keys(tenant_id, self.kind)

    def remove(self, tenant_id: str, item_ids: Sequence[str]) -> None:
        """Remove the items from the index, whatever the record says."""
        self._index.delete_items(tenant_id, self.kind, item_ids)

    def _read_versions(self, tenant_id: str, item_ids: Sequence[str]) -> Mapping[str, int]:
        # A cipher of its own: keys that died while the index was written count.
        cipher = self._ciphers.for_tenant(tenant_id)
        with self._database.read(tenant_id) as session:
            return self._source.read_versions(session, tenant_id, cipher, item_ids)

    def _write(self, tenant_id: str, wanted: Sequence[Indexable]) -> None:
        cipher = self._ciphers.for_tenant(tenant_id)
        hashes = {label: cipher.keyed_hash(label) for passage in wanted for label in passage.readers}
        for batch in _parts(wanted, EMBED_TEXTS_MAX):
            texts = [passage.text for passage in batch]
            vectors = self._embedder.embed(texts)
            terms = self._sparse.encode_documents(texts)
            points = [
                Point(
                    key=passage.key,
                    kind=self.kind,
                    scope=passage.scope,
                    readers=tuple(sorted(hashes[label] for label in passage.readers)),
                    dense=vector,
                    sparse=sparse,
                )
                for passage, vector, sparse in zip(batch, vectors, terms, strict=True)
            ]
            self._index.upsert(tenant_id, points)

    def _remove_dead(self, tenant_id: str, item_ids: Sequence[str], versions: Mapping[str, int]) -> None:
        gone = [item_id for item_id in item_ids if item_id not in versions]
        if gone:
            self._index.delete_items(tenant_id, self.kind, gone)
        for item_id, version in versions.items():
            # Versions count from 1: below that there is nothing to remove.
            if version > 1:
                self._index.delete_older_versions(tenant_id, self.kind, item_id, version)


def _parts(values: Sequence[Value], size: int) -> Iterator[Sequence[Value]]:
    for start in range(0, len(values), size):
        yield values[start : start + size]
