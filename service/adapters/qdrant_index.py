"""What both Qdrant engines share: the `VectorIndex` port, but for the few acts each does its own way."""

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

from service.adapters.qdrant_points import (
    Selection,
    check_dense,
    check_points,
    check_sparse,
    collection_name,
    payload_of,
    point_id,
    point_ids,
    points_in_scope,
    query_terms,
    stored_terms,
)
from service.core.errors import Unavailable
from service.core.passages import PassageKey
from service.retrieval.model import Hit, ItemKind, Point, SearchScope, SparseVector
from service.retrieval.ports import Embedder, SparseEncoder

SEARCH_LIMIT_MAX: Final = 10_000
WITHIN_KEYS_MAX: Final = 10_000
_WRITE_POINTS: Final = 256
_DELETE_ITEMS: Final = 500
_PAGE_POINTS: Final = 1_000
_TIE_MARGIN: Final = 16
_TIES_MAX: Final = 4_096
"""How many equal scores at the cut are looked at to cut by key. Beyond it the engine's own order decides."""


class IndexUnavailable(Unavailable):
    """The index is closed, in use elsewhere or does not answer. The record is not touched by that."""

    code = "index_unavailable"
    title = "The search index does not answer"


@dataclass(frozen=True, slots=True)
class StoredPoint:
    """One point as the engines take it. `sparse` is never empty."""

    id: str
    dense: Sequence[float] | None
    sparse: SparseVector
    payload: dict[str, Any]


class QdrantIndex(ABC):
    """Validates, selects, orders and pages; a subclass only talks to its engine.

    Calls are serialised when `serialised`: for engines that do not take threads.
    """

    def __init__(self, engine: str, *, embedder: Embedder, sparse: SparseEncoder, serialised: bool) -> None:
        self.collection: Final = collection_name(embedder, sparse)
        self._engine = engine
        self._dimension = embedder.dimension
        self._serialised = serialised
        self._lock = threading.RLock()
        self._closed = False

    @property
    def name(self) -> str:
        """Engine and collection, kept in each package's manifest."""
        return f"{self._engine}:{self.collection}"

    def upsert(self, tenant_id: str, points: Sequence[Point]) -> None:
        """Write points; a point of the same tenant, kind and key is replaced. Visible on return.

        Raises `ValueError` for any point that may not be written, and then writes none.
        """
        check_points(tenant_id, points, dimension=self._dimension)
        stored = [_stored(tenant_id, point) for point in points]
        for start in range(0, len(stored), _WRITE_POINTS):
            with self._answering():
                self._write(stored[start : start + _WRITE_POINTS])

    def delete_items(self, tenant_id: str, kind: ItemKind, item_ids: Sequence[str]) -> None:
        """Remove every passage of every version of the items. Removing nothing is fine."""
        for start in range(0, len(item_ids), _DELETE_ITEMS):
            part = item_ids[start : start + _DELETE_ITEMS]
            selection = Selection(tenant_id, kind, item_ids=tuple(part))
            with self._answering():
                self._remove(selection)

    def delete_older_versions(self, tenant_id: str, kind: ItemKind, item_id: str, version: int) -> None:
        """Remove the item's passages of versions below `version`."""
        selection = Selection(tenant_id, kind, item_ids=(item_id,), version_below=version)
        with self._answering():
            self._remove(selection)

    def search_dense(
        self,
        scope: SearchScope,
        vector: Sequence[float],
        limit: int,
        *,
        within: Sequence[PassageKey] | None = None,
    ) -> Sequence[Hit]:
        """Answer the nearest passages by cosine; only among `within` where it is given (empty: none).

        Raises `ValueError` for a vector that is not finite, has no direction or has another dimension.
        """
        check_dense(vector, dimension=self._dimension)
        selection = self._selection(scope, within)
        if selection is None:
            return ()
        return self._ordered(lambda count: self._nearest_dense(selection, vector, count), limit)

    def search_sparse(
        self,
        scope: SearchScope,
        vector: SparseVector,
        limit: int,
        *,
        within: Sequence[PassageKey] | None = None,
    ) -> Sequence[Hit]:
        """Answer the best passages by BM25; document frequencies are those of what `scope` may find alone.

        A passage that shares no term with the query is not answered.
        """
        check_sparse(vector)
        terms = query_terms(vector)
        selection = self._selection(scope, within)
        if selection is None or not terms.indices:
            return ()
        corpus = points_in_scope(scope)
        return self._ordered(lambda count: self._nearest_sparse(selection, corpus, terms, count), limit)

    def list_keys(self, tenant_id: str, kind: ItemKind) -> Sequence[PassageKey]:
        """Answer all keys of a tenant, in order: for verification and repair."""
        selection = Selection(tenant_id, kind)
        keys: list[PassageKey] = []
        offset: object = None
        while True:
            with self._answering():
                page, offset = self._page(selection, offset, _PAGE_POINTS)
            keys.extend(page)
            if offset is None:
                return sorted(keys)

    def count(self, tenant_id: str) -> int:
        """Count a tenant's passages."""
        selection = Selection(tenant_id)
        with self._answering():
            return self._count(selection)

    def count_items(self, tenant_id: str, kind: ItemKind, item_ids: Sequence[str]) -> int:
        """Count the passages of the items, of any version: what an erasure asks afterwards."""
        found = 0
        for start in range(0, len(item_ids), _DELETE_ITEMS):
            part = item_ids[start : start + _DELETE_ITEMS]
            selection = Selection(tenant_id, kind, item_ids=tuple(part))
            with self._answering():
                found += self._count(selection)
        return found

    @abstractmethod
    def purge(self) -> None:
        """Leave no bytes of removed points in files of ours."""

    def close(self) -> None:
        """Flush and release. Further calls raise `IndexUnavailable`; closing again does nothing."""
        with self._lock:
            if not self._closed:
                self._closed = True
                self._release()

    @contextmanager
    def _answering(self) -> Iterator[None]:
        if self._serialised:
            with self._lock, self._translated():
                yield
        else:
            with self._translated():
                yield

    @contextmanager
    def _translated(self) -> Iterator[None]:
        if self._closed:
            raise IndexUnavailable("The search index has been closed.")
        try:
            yield
        except BaseException as error:
            if self._is_failure(error):
                # The engine's own words stay in the cause: they may name folders and addresses.
                raise IndexUnavailable("The search index did not answer; try again.") from error
            raise

    def _selection(self, scope: SearchScope, within: Sequence[PassageKey] | None) -> Selection | None:
        selection = points_in_scope(scope)
        if within is None:
            return selection
        if len(within) > WITHIN_KEYS_MAX:
            raise ValueError(f"at most {WITHIN_KEYS_MAX} passages are scored at once")
        ids = point_ids(scope.tenant_id, scope.kind, within)
        return selection.among(ids) if ids else None

    def _ordered(self, ask: Callable[[int], Sequence[Hit]], limit: int) -> Sequence[Hit]:
        """Order by (-score, key) and cut there too: the engine alone would cut through equals by chance."""
        if not 1 <= limit <= SEARCH_LIMIT_MAX:
            raise ValueError(f"a search answers 1 to {SEARCH_LIMIT_MAX} passages")
        asked = limit + _TIE_MARGIN
        while True:
            with self._answering():
                hits = sorted(ask(asked), key=_order)
            cut_through_equals = len(hits) == asked and hits[-1].score == hits[limit - 1].score
            if not cut_through_equals or asked >= limit + _TIES_MAX:
                return tuple(hits[:limit])
            asked = limit + min((asked - limit) * 8, _TIES_MAX)

    @abstractmethod
    def _write(self, points: Sequence[StoredPoint]) -> None:
        """Write points, visible on return."""

    @abstractmethod
    def _remove(self, selection: Selection) -> None:
        """Remove the selected points."""

    @abstractmethod
    def _nearest_dense(self, selection: Selection, vector: Sequence[float], limit: int) -> Sequence[Hit]:
        """Answer the nearest selected points in any order."""

    @abstractmethod
    def _nearest_sparse(
        self, selection: Selection, corpus: Selection, terms: SparseVector, limit: int
    ) -> Sequence[Hit]:
        """Answer the best selected points in any order, frequencies taken over `corpus`."""

    @abstractmethod
    def _page(
        self, selection: Selection, offset: object, limit: int
    ) -> tuple[Sequence[PassageKey], object | None]:
        """Answer some of the selected keys and where the next ones begin."""

    @abstractmethod
    def _count(self, selection: Selection) -> int:
        """Count the selected points exactly."""

    @abstractmethod
    def _release(self) -> None:
        """Give the engine back."""

    @abstractmethod
    def _is_failure(self, error: BaseException) -> bool:
        """Say whether this is how the engine fails, as against a fault of ours."""


def _order(hit: Hit) -> tuple[float, str, int, int]:
    # Plain values: comparing keys as objects took a third of a search with many equal scores.
    return (-hit.score, hit.key.item_id, hit.key.version, hit.key.ordinal)


def _stored(tenant_id: str, point: Point) -> StoredPoint:
    return StoredPoint(
        id=point_id(tenant_id, point.kind, point.key),
        dense=None if point.dense is None else [float(value) for value in point.dense],
        sparse=stored_terms(point.sparse),
        payload=payload_of(tenant_id, point),
    )
