"""The embedded index: Qdrant's own engine in this process, in one folder that one process holds at a time."""

import shutil
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import qdrant_edge as edge
import structlog
from filelock import FileLock, Timeout

from service.adapters.qdrant_index import IndexUnavailable, QdrantIndex, StoredPoint
from service.adapters.qdrant_points import (
    DENSE,
    HIT_FIELDS,
    INTEGER_FIELDS,
    KEYWORD_FIELDS,
    SPARSE,
    VERSION,
    Selection,
    key_of,
)
from service.core.passages import PassageKey
from service.retrieval.model import Hit, SparseVector
from service.retrieval.ports import Embedder, SparseEncoder

EMBEDDED_POINTS_MAX: Final = 200_000
"""Above this many passages a search holds the interpreter for long enough to be felt by everybody else."""
_INDEXING_THRESHOLD_KILOBYTES: Final = 2**40
"""Never build HNSW: building it held the interpreter lock for tens of seconds. Search is exact instead."""
_UNCLEAN_MARK: Final = "unclean"
_BESIDE: Final = ".beside"
_OLD: Final = ".old"
_COPIED_AT_ONCE: Final = 100
"""Points of one page while the index is built anew: some 30 ms in which others wait."""

_log = structlog.get_logger(__name__)


class IndexInUse(IndexUnavailable):
    """Another process holds the folder."""

    code = "index_in_use"
    title = "Another process has the embedded index open"


class EdgeIndex(QdrantIndex):
    """`VectorIndex` over `qdrant-edge-py`.

    Writes are not synchronised to the disk one by one: that would hold the interpreter for 20 to 35 ms each.
    The accepted cost: after a power failure the newest points may be missing. `closed_cleanly` says whether
    the folder was closed in order; where it was not, the caller verifies it against the record and then calls
    `confirm_whole`.
    """

    def __init__(self, folder: Path, *, embedder: Embedder, sparse: SparseEncoder) -> None:
        super().__init__("qdrant-edge", embedder=embedder, sparse=sparse, serialised=True)
        folder.mkdir(parents=True, exist_ok=True)
        # Our own lock comes first: a second load that the engine refuses can spoil the owner's next flush.
        # Not bound to a thread: the service may be closed by another than the one that opened it.
        self._file_lock = FileLock(folder / "index.lock", thread_local=False)
        try:
            self._file_lock.acquire(timeout=0)
        except Timeout:
            raise IndexInUse(
                "Another process has the embedded index open. Stop it, or run several processes over a"
                " Qdrant server (MUNIMENT_QDRANT_URL)."
            ) from None
        try:
            self._mark = folder / _UNCLEAN_MARK
            self.closed_cleanly = not self._mark.exists()
            self._mark.touch()
            self._folder = folder / self.collection
            self._purging = threading.Lock()
            self._beside: edge.EdgeShard | None = None
            with self._answering():
                _recover(self._folder)
                self._shard = _open_shard(self._folder, dimension=self._dimension)
                self._tidy()
        except BaseException:
            self._file_lock.release()
            raise

    def confirm_whole(self) -> None:
        """Tell that the index has been verified: closing it now counts as closing it in order.

        Until then the next start verifies it again, whatever this one ends by.
        """
        self.closed_cleanly = True

    def purge(self) -> None:
        """Build the index anew beside, page by page, and switch: what was removed stays in the old files.

        The engine keeps removed points in its segments, and in its log for good. Writes go to both meanwhile.
        """
        with self._purging:
            fresh = _emptied(_beside(self._folder, _BESIDE))
            with self._answering():
                self._beside = _open_shard(fresh, dimension=self._dimension)
            try:
                self._copy_to_beside()
                with self._answering():
                    self._switch(fresh)
            finally:
                self._beside = None

    def _copy_to_beside(self) -> None:
        offset: object = None
        while True:
            # A page at a time: in between others search and write. Read and written under one lock, so that
            # no point that is removed meanwhile comes back.
            with self._answering():
                assert self._beside is not None
                records, offset = self._shard.scroll(
                    edge.ScrollRequest(
                        offset=offset,  # type: ignore[arg-type]  # what the engine answered before
                        limit=_COPIED_AT_ONCE,
                        with_payload=True,
                        with_vector=True,
                    )
                )
                points = [edge.Point(one.id, one.vector or {}, one.payload) for one in records]
                if points:
                    self._beside.update(edge.UpdateOperation.upsert_points(points))
            if offset is None:
                return

    def _switch(self, fresh: Path) -> None:
        assert self._beside is not None
        self._beside.flush()
        self._beside.close()
        self._shard.close()
        old = _beside(self._folder, _OLD)
        self._folder.rename(old)
        fresh.rename(self._folder)
        self._shard = _open_shard(self._folder, dimension=self._dimension)
        self._index_fields()
        shutil.rmtree(old)

    def _tidy(self) -> None:
        self._index_fields()
        # A write that failed half-way is replayed from the log as points without vectors. Every point of ours
        # has a sparse one. This is the only filter without a tenant: it means what belongs to nobody.
        self._shard.update(
            edge.UpdateOperation.delete_points_by_filter(
                edge.Filter(must_not=[edge.HasVectorCondition(SPARSE)])
            )
        )
        points = self._shard.info().points_count
        if points > EMBEDDED_POINTS_MAX:
            _log.warning("embedded_index_large", points=points, points_max=EMBEDDED_POINTS_MAX)

    def _index_fields(self) -> None:
        schema = self._shard.info().payload_schema
        # Without these a filtered search reads every payload: 66 ms instead of 6 ms at 10,000 points.
        for field in KEYWORD_FIELDS:
            if field not in schema:
                self._shard.update(
                    edge.UpdateOperation.create_field_index(field, edge.PayloadSchemaType.Keyword)
                )
        for field in INTEGER_FIELDS:
            if field not in schema:
                self._shard.update(
                    edge.UpdateOperation.create_field_index(field, edge.PayloadSchemaType.Integer)
                )

    def _write(self, points: Sequence[StoredPoint]) -> None:
        self._update(edge.UpdateOperation.upsert_points([_point(point) for point in points]))

    def _remove(self, selection: Selection) -> None:
        self._update(edge.UpdateOperation.delete_points_by_filter(_filter(selection)))

    def _update(self, operation: edge.UpdateOperation) -> None:
        self._shard.update(operation)
        if self._beside is not None:
            self._beside.update(operation)

    def _nearest_dense(self, selection: Selection, vector: Sequence[float], limit: int) -> Sequence[Hit]:
        query = edge.Query.Nearest([float(value) for value in vector], using=DENSE)
        return self._query(query, selection, edge.SearchParams(exact=True), limit)

    def _nearest_sparse(
        self, selection: Selection, corpus: Selection, terms: SparseVector, limit: int
    ) -> Sequence[Hit]:
        query = edge.Query.Nearest(_sparse_vector(terms), using=SPARSE)
        parameters = edge.SearchParams(exact=True, idf=edge.IdfParams(corpus=_filter(corpus)))
        return self._query(query, selection, parameters, limit)

    def _query(
        self, query: edge.Query, selection: Selection, parameters: edge.SearchParams, limit: int
    ) -> Sequence[Hit]:
        found = self._shard.query(
            edge.QueryRequest(
                limit=limit,
                query=query,
                filter=_filter(selection),
                params=parameters,
                with_payload=list(HIT_FIELDS),
            )
        )
        return [Hit(key_of(point.payload, tenant_id=selection.tenant_id), point.score) for point in found]

    def _page(
        self, selection: Selection, offset: object, limit: int
    ) -> tuple[Sequence[PassageKey], object | None]:
        records, following = self._shard.scroll(
            edge.ScrollRequest(
                offset=offset,  # type: ignore[arg-type]  # what the engine answered for the page before
                limit=limit,
                filter=_filter(selection),
                with_payload=list(HIT_FIELDS),
                with_vector=False,
            )
        )
        return [key_of(record.payload, tenant_id=selection.tenant_id) for record in records], following

    def _count(self, selection: Selection) -> int:
        return self._shard.count(edge.CountRequest(exact=True, filter=_filter(selection)))

    def _release(self) -> None:
        try:
            self._shard.flush()
            self._shard.close()
            if self.closed_cleanly:
                self._mark.unlink(missing_ok=True)
        finally:
            self._file_lock.release()

    def _is_failure(self, error: BaseException) -> bool:
        # The engine raises bare `Exception`; a panic in it is a BaseException of the binding's own.
        return type(error) is Exception or type(error).__name__ == "PanicException"


def _recover(folder: Path) -> None:
    """Undo a switch that was broken off: the old files are whole until the new ones stand in their place."""
    beside, old = _beside(folder, _BESIDE), _beside(folder, _OLD)
    if old.exists() and not folder.exists():
        old.rename(folder)
    for left in (beside, old):
        shutil.rmtree(left, ignore_errors=True)


def _beside(folder: Path, ending: str) -> Path:
    return folder.with_name(folder.name + ending)


def _emptied(folder: Path) -> Path:
    shutil.rmtree(folder, ignore_errors=True)
    return folder


def _open_shard(folder: Path, *, dimension: int) -> edge.EdgeShard:
    segments = folder / "segments"
    if segments.is_dir() and any(segments.iterdir()):
        return edge.EdgeShard.load(str(folder))
    folder.mkdir(exist_ok=True)
    return edge.EdgeShard.create(
        str(folder),
        edge.EdgeConfig(
            vectors={DENSE: edge.EdgeVectorParams(size=dimension, distance=edge.Distance.Cosine)},
            sparse_vectors={SPARSE: edge.EdgeSparseVectorParams(modifier=edge.Modifier.Idf)},
            optimizers=edge.EdgeOptimizersConfig(indexing_threshold=_INDEXING_THRESHOLD_KILOBYTES),
            wal_enabled=True,
        ),
    )


def _point(point: StoredPoint) -> edge.Point:
    vectors: dict[str, edge.NamedVector] = {SPARSE: _sparse_vector(point.sparse)}
    if point.dense is not None:
        vectors[DENSE] = list(point.dense)
    return edge.Point(point.id, vectors, point.payload)


def _sparse_vector(vector: SparseVector) -> edge.SparseVector:
    return edge.SparseVector(list(vector.indices), [float(value) for value in vector.values])


def _filter(selection: Selection) -> edge.Filter:
    must: list[edge.ConditionType] = [
        edge.FieldCondition(field, match=_match(values)) for field, values in selection.conditions
    ]
    if selection.version_below is not None:
        must.append(edge.FieldCondition(VERSION, range=edge.RangeFloat(lt=selection.version_below)))
    if selection.point_ids is not None:
        must.append(edge.HasIdCondition(set(selection.point_ids)))
    return edge.Filter(must=must)


def _match(values: tuple[str, ...]) -> edge.MatchValue | edge.MatchAny:
    return edge.MatchValue(values[0]) if len(values) == 1 else edge.MatchAny(list(values))
