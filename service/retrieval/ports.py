"""What retrieval needs from outside: an embedder, a sparse encoder and an index."""

from collections.abc import Sequence
from typing import Protocol

from service.core.passages import PassageKey
from service.retrieval.model import Hit, ItemKind, Point, SearchScope, SparseVector


class Embedder(Protocol):
    """Makes unit-length vectors of texts."""

    @property
    def name(self) -> str:
        """Model and version; part of the collection's name, so that models never mix."""
        ...

    @property
    def dimension(self) -> int:
        """Length of every vector."""
        ...

    def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float] | None]:
        """Answer a finite unit vector for each text, `None` for one without direction (empty, unknown)."""
        ...


class SparseEncoder(Protocol):
    """Makes BM25 term vectors, tokenised for many languages."""

    @property
    def name(self) -> str:
        """Tokeniser and parameters; part of the collection's name."""
        ...

    def encode_documents(self, texts: Sequence[str]) -> Sequence[SparseVector]:
        """Answer the document-side weights of each text."""
        ...

    def encode_query(self, text: str) -> SparseVector:
        """Answer the query-side weights."""
        ...


class VectorIndex(Protocol):
    """An index that can be dropped and rebuilt, and is never believed about permission or existence.

    Raises `core.errors.Unavailable` when it does not answer. Results are ordered by (-score, key).
    """

    @property
    def name(self) -> str:
        """Engine and collection, kept in each package's manifest."""
        ...

    def upsert(self, tenant_id: str, points: Sequence[Point]) -> None:
        """Write points; a point of the same tenant, kind and key is replaced. Visible on return.

        Raises `ValueError` for a vector of another dimension, without direction or not finite, and then
        writes none of them.
        """
        ...

    def delete_items(self, tenant_id: str, kind: ItemKind, item_ids: Sequence[str]) -> None:
        """Remove every passage of every version of the items. Removing nothing is fine."""
        ...

    def delete_older_versions(self, tenant_id: str, kind: ItemKind, item_id: str, version: int) -> None:
        """Remove the item's passages of versions below `version`."""
        ...

    def search_dense(
        self,
        scope: SearchScope,
        vector: Sequence[float],
        limit: int,
        *,
        within: Sequence[PassageKey] | None = None,
    ) -> Sequence[Hit]:
        """Answer the nearest passages by cosine; only among `within` where it is given (empty: none)."""
        ...

    def search_sparse(
        self,
        scope: SearchScope,
        vector: SparseVector,
        limit: int,
        *,
        within: Sequence[PassageKey] | None = None,
    ) -> Sequence[Hit]:
        """Answer the best passages by BM25; frequencies are those of what `scope` may find alone.

        More than that would tell a caller how often a word stands where it may not read. A passage that
        shares no term with the query is not answered.
        """
        ...

    def list_keys(self, tenant_id: str, kind: ItemKind) -> Sequence[PassageKey]:
        """Answer all keys of a tenant, in order: for verification and repair."""
        ...

    def count(self, tenant_id: str) -> int:
        """Count a tenant's passages."""
        ...

    def count_items(self, tenant_id: str, kind: ItemKind, item_ids: Sequence[str]) -> int:
        """Count the passages of the items, of any version: what an erasure asks afterwards."""
        ...

    def purge(self) -> None:
        """Leave no bytes of removed passages in files of ours; where a server keeps them, that is its own.

        Meant for after an erasure: it takes its time, and searches and writes go on beside it.
        """
        ...

    def close(self) -> None:
        """Flush and release. Further calls raise `Unavailable`."""
        ...
