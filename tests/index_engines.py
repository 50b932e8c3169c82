"""The engines behind `VectorIndex` for its conformance suite, and passages to put into them."""

import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Final

from qdrant_client import QdrantClient
from tiny_models import TinyEmbedder, TinyEncoder

from service.adapters.qdrant_client import ClientIndex
from service.adapters.qdrant_edge import EdgeIndex
from service.adapters.qdrant_index import QdrantIndex
from service.core.passages import PassageKey
from service.retrieval.model import Hit, ItemKind, Point, SearchScope
from service.settings import Settings

EMBEDDER: Final = TinyEmbedder()
ENCODER: Final = TinyEncoder()
ALPHA: Final = "project:alpha"
STAFF: Final = "hash-of-staff"
SERVER_URL: Final = Settings().qdrant_url
ENGINES: Final = ["edge", "client-local"] + (["client-server"] if SERVER_URL else [])
Open = Callable[[], QdrantIndex]


@contextmanager
def engine(name: str, folder: Path) -> Iterator[Open]:
    """Answer what opens the same index again and again; what it holds is gone afterwards."""
    # A collection of this test's own on a server, since the name of the model is part of the collection's.
    embedder = TinyEmbedder(name=f"tiny-{uuid.uuid4().hex}")  # noqa: TID251 - a throw-away name

    def client() -> QdrantClient:
        if name == "client-server":
            return QdrantClient(url=SERVER_URL)
        return QdrantClient(path=str(folder / "local"))

    with ExitStack() as stack:

        def open_index() -> QdrantIndex:
            index: QdrantIndex
            if name == "edge":
                index = EdgeIndex(folder / "index", embedder=embedder, sparse=ENCODER)
            else:
                index = ClientIndex(client(), embedder=embedder, sparse=ENCODER)
            stack.callback(index.close)
            return index

        yield open_index
        if name == "client-server":
            client().delete_collection(open_index().collection)


def point(
    item: str,
    text: str,
    *,
    version: int = 1,
    ordinal: int = 0,
    kind: ItemKind = ItemKind.EVIDENCE,
    scope: str = ALPHA,
    readers: Sequence[str] = (STAFF,),
) -> Point:
    (dense,) = EMBEDDER.embed([text])
    (sparse,) = ENCODER.encode_documents([text])
    return Point(PassageKey(item, version, ordinal), kind, scope, tuple(readers), dense, sparse)


def where(
    tenant: str = "acme",
    *,
    kind: ItemKind = ItemKind.EVIDENCE,
    scopes: Sequence[str] = (ALPHA,),
    readers: Sequence[str] = (STAFF,),
) -> SearchScope:
    return SearchScope(tenant, kind, tuple(scopes), tuple(readers))


def direction(text: str) -> Sequence[float]:
    (vector,) = EMBEDDER.embed([text])
    assert vector is not None
    return vector


def dense(index: QdrantIndex, query: str, scope: SearchScope, limit: int = 10) -> Sequence[Hit]:
    return index.search_dense(scope, direction(query), limit)


def sparse(index: QdrantIndex, query: str, scope: SearchScope, limit: int = 10) -> Sequence[Hit]:
    return index.search_sparse(scope, ENCODER.encode_query(query), limit)


def items(hits: Sequence[Hit]) -> list[str]:
    return [hit.key.item_id for hit in hits]


def both(index: QdrantIndex, query: str, scope: SearchScope) -> set[str]:
    return set(items(dense(index, query, scope))) | set(items(sparse(index, query, scope)))
