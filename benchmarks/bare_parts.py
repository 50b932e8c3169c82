"""The bare parts that the service is compared with: the same libraries, called with nothing around them."""

from pathlib import Path
from tempfile import TemporaryDirectory

from sqlalchemy import text

from benchmarks.corpus import Document
from benchmarks.figures import timed
from service.adapters.qdrant_edge import EdgeIndex
from service.core.passages import PassageKey
from service.evidence.model import CHUNK_TOKENS_MAX
from service.retrieval.model import ItemKind, Point, SearchScope
from service.wiring import Runtime

_EMBED_AT_ONCE = 256
_DEPTH = 100
_SCOPE = "project:bare"


def bare_ingest(runtime: Runtime, documents: list[Document]) -> float:
    """Cut, count, embed, encode and index the documents; answer the seconds."""
    with TemporaryDirectory() as folder:
        index = EdgeIndex(Path(folder), embedder=runtime.embedder, sparse=runtime.sparse)
        try:
            return timed(lambda: _ingest(runtime, index, documents))[0]
        finally:
            index.close()


def _ingest(runtime: Runtime, index: EdgeIndex, documents: list[Document]) -> None:
    pieces: list[tuple[PassageKey, str]] = []
    for number, document in enumerate(documents):
        spans = runtime.chunker.split(document.text, media_type="text/plain", tokens_max=CHUNK_TOKENS_MAX)
        for ordinal, span in enumerate(spans):
            piece = document.text[span.start : span.end]
            runtime.tokens.count(piece)
            pieces.append((PassageKey(str(number), 1, ordinal), piece))
    for start in range(0, len(pieces), _EMBED_AT_ONCE):
        part = pieces[start : start + _EMBED_AT_ONCE]
        texts = [piece for _, piece in part]
        dense = runtime.embedder.embed(texts)
        sparse = runtime.sparse.encode_documents(texts)
        index.upsert(
            "bare",
            [
                Point(key, ItemKind.EVIDENCE, _SCOPE, ("reader",), vector, terms)
                for (key, _), vector, terms in zip(part, dense, sparse, strict=True)
            ],
        )


def bare_retrieval(runtime: Runtime, query: str) -> float:
    """Ask the index both ways and read the rows that it names; answer the seconds."""
    with runtime.database.read(None) as session:
        tenant_id, project_id = session.connection().execute(text("SELECT tenant_id, id FROM projects")).one()
    readers = (runtime.ciphers.for_tenant(tenant_id).keyed_hash(f"project:{project_id}"),)
    scope = SearchScope(tenant_id, ItemKind.EVIDENCE, (f"project:{project_id}",), readers)
    return timed(lambda: _retrieve(runtime, scope, query))[0]


def _retrieve(runtime: Runtime, scope: SearchScope, query: str) -> int:
    vector = runtime.embedder.embed([query])[0]
    hits = [] if vector is None else list(runtime.index.search_dense(scope, vector, _DEPTH))
    hits += runtime.index.search_sparse(scope, runtime.sparse.encode_query(query), _DEPTH)
    keys = {hit.key for hit in hits}
    if not keys:
        raise RuntimeError("the bare index found nothing: the comparison would mean nothing")
    names = {f"id{number}": key.item_id for number, key in enumerate(keys)}
    statement = (
        "SELECT text, tokens, start_at, end_at FROM evidence_chunks"  # noqa: S608 - our own parameter names
        f" WHERE tenant_id = :tenant AND evidence_id IN ({','.join(f':{name}' for name in names)})"
    )
    with runtime.database.read(scope.tenant_id) as session:
        rows = session.connection().execute(text(statement), {"tenant": scope.tenant_id, **names})
        return len(rows.all())
