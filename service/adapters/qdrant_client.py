"""The served index: a Qdrant server or cluster through `qdrant-client`, shared by any number of processes."""

from collections.abc import Sequence
from typing import Any, Final

from qdrant_client import QdrantClient, models
from qdrant_client.http.exceptions import ApiException, UnexpectedResponse

from service.adapters.qdrant_index import IndexUnavailable, QdrantIndex, StoredPoint
from service.adapters.qdrant_points import (
    DENSE,
    HIT_FIELDS,
    INTEGER_FIELDS,
    KEYWORD_FIELDS,
    SPARSE,
    TENANT,
    VERSION,
    Selection,
    key_of,
)
from service.core.passages import PassageKey
from service.retrieval.model import Hit, SparseVector
from service.retrieval.ports import Embedder, SparseEncoder

SERVER_VERSION_MIN: Final = (1, 19)
"""The first release that takes document frequencies over a filter. An older one ignores the wish in silence
and lets each tenant's scores depend on what all others hold."""
_CONFLICT: Final = 409


class ServerTooOld(IndexUnavailable):
    """The Qdrant server cannot keep tenants' term statistics apart."""

    code = "index_server_too_old"
    title = "The Qdrant server is older than this service needs"


class ClientIndex(QdrantIndex):
    """`VectorIndex` over `qdrant-client`. Takes the client over: `close` closes it.

    The client's local mode passes the same conformance suite, and is half a second slow at 10,000 points:
    it is there for tests. It takes no threads, so its calls are serialised.
    """

    def __init__(self, client: QdrantClient, *, embedder: Embedder, sparse: SparseEncoder) -> None:
        options = client.init_options
        local = options.get("location") == ":memory:" or options.get("path") is not None
        super().__init__(
            "qdrant-local" if local else "qdrant", embedder=embedder, sparse=sparse, serialised=local
        )
        self._client = client
        with self._answering():
            if not local:
                _check_version(client.info().version)
            self._create_collection()
            if not local:
                self._create_field_indexes()

    def _create_collection(self) -> None:
        if self._client.collection_exists(self.collection):
            return
        try:
            self._client.create_collection(
                self.collection,
                vectors_config={
                    DENSE: models.VectorParams(size=self._dimension, distance=models.Distance.COSINE)
                },
                sparse_vectors_config={SPARSE: models.SparseVectorParams(modifier=models.Modifier.IDF)},
                # Links inside each place too, so that a small one is searched well beside large ones.
                hnsw_config=models.HnswConfigDiff(payload_m=16),
            )
        except UnexpectedResponse as error:
            # Another process was quicker.
            if error.status_code != _CONFLICT:
                raise

    def _create_field_indexes(self) -> None:
        for field in KEYWORD_FIELDS:
            self._client.create_payload_index(
                self.collection,
                field,
                models.KeywordIndexParams(
                    type=models.KeywordIndexType.KEYWORD, is_tenant=True if field == TENANT else None
                ),
                wait=True,
            )
        for field in INTEGER_FIELDS:
            self._client.create_payload_index(
                self.collection, field, models.PayloadSchemaType.INTEGER, wait=True
            )

    def purge(self) -> None:
        """Do nothing: what a server keeps of removed points is its own to clear."""

    def _write(self, points: Sequence[StoredPoint]) -> None:
        self._client.upsert(self.collection, [_point(point) for point in points], wait=True)

    def _remove(self, selection: Selection) -> None:
        self._client.delete(self.collection, models.FilterSelector(filter=_filter(selection)), wait=True)

    def _nearest_dense(self, selection: Selection, vector: Sequence[float], limit: int) -> Sequence[Hit]:
        return self._query([float(value) for value in vector], DENSE, selection, None, limit)

    def _nearest_sparse(
        self, selection: Selection, corpus: Selection, terms: SparseVector, limit: int
    ) -> Sequence[Hit]:
        parameters = models.SearchParams(idf=models.IdfCorpusParams(corpus=_filter(corpus)))
        return self._query(_sparse_vector(terms), SPARSE, selection, parameters, limit)

    def _query(
        self,
        query: list[float] | models.SparseVector,
        using: str,
        selection: Selection,
        parameters: models.SearchParams | None,
        limit: int,
    ) -> Sequence[Hit]:
        found = self._client.query_points(
            self.collection,
            query=query,
            using=using,
            query_filter=_filter(selection),
            search_params=parameters,
            limit=limit,
            with_payload=list(HIT_FIELDS),
        ).points
        return [Hit(key_of(point.payload, tenant_id=selection.tenant_id), point.score) for point in found]

    def _page(
        self, selection: Selection, offset: object, limit: int
    ) -> tuple[Sequence[PassageKey], object | None]:
        records, following = self._client.scroll(
            self.collection,
            scroll_filter=_filter(selection),
            offset=offset,  # type: ignore[arg-type]  # what the server answered for the page before
            limit=limit,
            with_payload=list(HIT_FIELDS),
            with_vectors=False,
        )
        return [key_of(record.payload, tenant_id=selection.tenant_id) for record in records], following

    def _count(self, selection: Selection) -> int:
        return self._client.count(self.collection, count_filter=_filter(selection), exact=True).count

    def _release(self) -> None:
        self._client.close()

    def _is_failure(self, error: BaseException) -> bool:
        # Transport errors come wrapped as ResponseHandlingException; time-outs of a socket may not.
        return isinstance(error, ApiException | OSError)


def _check_version(version: str) -> None:
    parts = tuple(int(part) for part in version.split("-", maxsplit=1)[0].split(".")[:2])
    if parts < SERVER_VERSION_MIN:
        raise ServerTooOld(
            f"Qdrant {SERVER_VERSION_MIN[0]}.{SERVER_VERSION_MIN[1]} or newer is needed: older ones cannot"
            " keep the tenants' term statistics apart."
        )


def _point(point: StoredPoint) -> models.PointStruct:
    vectors: dict[str, Any] = {SPARSE: _sparse_vector(point.sparse)}
    if point.dense is not None:
        vectors[DENSE] = list(point.dense)
    return models.PointStruct(id=point.id, vector=vectors, payload=point.payload)


def _sparse_vector(vector: SparseVector) -> models.SparseVector:
    return models.SparseVector(indices=list(vector.indices), values=[float(value) for value in vector.values])


def _filter(selection: Selection) -> models.Filter:
    must: list[models.Condition] = [
        models.FieldCondition(key=field, match=_match(values)) for field, values in selection.conditions
    ]
    if selection.version_below is not None:
        must.append(models.FieldCondition(key=VERSION, range=models.Range(lt=selection.version_below)))
    if selection.point_ids is not None:
        must.append(models.HasIdCondition(has_id=sorted(selection.point_ids)))
    return models.Filter(must=must)


def _match(values: tuple[str, ...]) -> models.MatchValue | models.MatchAny:
    if len(values) == 1:
        return models.MatchValue(value=values[0])
    return models.MatchAny(any=list(values))
