"""What every engine behind `VectorIndex` refuses, keeps, and tells about itself; the suite's second half."""

import math
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from index_engines import (
    ALPHA,
    EMBEDDER,
    ENCODER,
    ENGINES,
    STAFF,
    Open,
    dense,
    direction,
    engine,
    items,
    point,
    sparse,
    where,
)
from tiny_models import TinyEmbedder

from service.adapters.qdrant_index import QdrantIndex
from service.adapters.qdrant_points import collection_name
from service.core.errors import Unavailable
from service.core.passages import PassageKey
from service.retrieval.model import ItemKind, Point, SparseVector

NOTHING = SparseVector((), ())
UNIT = [1.0] + [0.0] * (EMBEDDER.dimension - 1)


@pytest.fixture(params=ENGINES)
def reopen(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Open]:
    with engine(request.param, tmp_path) as open_index:
        yield open_index


@pytest.fixture
def index(reopen: Open) -> QdrantIndex:
    return reopen()


def raw(dense: Sequence[float] | None, sparse: SparseVector = NOTHING, scope: str = ALPHA) -> Point:
    return Point(PassageKey("raw", 1, 0), ItemKind.EVIDENCE, scope, (STAFF,), dense, sparse)


@pytest.mark.parametrize(
    "bad",
    [
        raw(UNIT[:-1]),
        raw([*UNIT, 0.0]),
        raw([math.nan, *UNIT[1:]]),
        raw([math.inf, *UNIT[1:]]),
        raw([1e39, *UNIT[1:]]),
        raw([0.0] * EMBEDDER.dimension),
        raw([1e-60] * EMBEDDER.dimension),
        raw(UNIT, SparseVector((1, 1), (1.0, 1.0))),
        raw(UNIT, SparseVector((1, 2), (1.0,))),
        raw(UNIT, SparseVector((-1,), (1.0,))),
        raw(UNIT, SparseVector((2**32,), (1.0,))),
        raw(UNIT, SparseVector((1,), (math.nan,))),
        raw(UNIT, scope=""),
        Point(PassageKey("raw", 1, 0), ItemKind.EVIDENCE, ALPHA, (), UNIT, NOTHING),
        Point(PassageKey("", 1, 0), ItemKind.EVIDENCE, ALPHA, (STAFF,), UNIT, NOTHING),
        Point(PassageKey("raw", -1, 0), ItemKind.EVIDENCE, ALPHA, (STAFF,), UNIT, NOTHING),
    ],
)
def test_one_bad_point_keeps_the_whole_batch_out(reopen: Open, bad: Point) -> None:
    index = reopen()

    with pytest.raises(ValueError):  # noqa: PT011 - any words will do
        index.upsert("acme", [point("good", "consent"), bad])

    assert index.count("acme") == 0
    index.close()
    assert reopen().count("acme") == 0


def test_the_same_passage_twice_in_a_batch_is_refused(index: QdrantIndex) -> None:
    with pytest.raises(ValueError, match="once"):
        index.upsert("acme", [point("a", "x"), point("a", "y")])


@pytest.mark.parametrize("bad", [UNIT[:-1], [math.nan, *UNIT[1:]], [0.0] * len(UNIT)])
def test_a_query_vector_without_direction_is_refused(index: QdrantIndex, bad: Sequence[float]) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - any words will do
        index.search_dense(where(), bad, 5)


@pytest.mark.parametrize("limit", [0, -1, 10_001])
def test_a_limit_outside_its_bounds_is_refused(index: QdrantIndex, limit: int) -> None:
    with pytest.raises(ValueError, match="10000"):
        index.search_dense(where(), direction("x"), limit)


def test_a_passage_without_words_or_direction_is_kept_and_never_found(index: QdrantIndex) -> None:
    index.upsert("acme", [raw(None), point("a", "consent")])

    assert index.count("acme") == 2
    assert [key.item_id for key in index.list_keys("acme", ItemKind.EVIDENCE)] == ["a", "raw"]
    assert items(dense(index, "consent", where())) == ["a"]
    assert items(sparse(index, "consent", where())) == ["a"]
    assert list(index.search_sparse(where(), SparseVector((2**32 - 1,), (1.0,)), 5)) == []
    assert list(index.search_sparse(where(), NOTHING, 5)) == []


def test_keys_are_listed_in_order_and_beyond_any_page(index: QdrantIndex) -> None:
    points = [point(f"i{number:04}", f"word{number}", ordinal=number % 3) for number in range(2_345)]
    index.upsert("acme", list(reversed(points)))

    assert index.list_keys("acme", ItemKind.EVIDENCE) == [entry.key for entry in points]
    assert index.list_keys("acme", ItemKind.MEMORY) == []
    assert index.count("acme") == 2_345


def test_what_was_written_is_there_after_reopening(reopen: Open) -> None:
    first = reopen()
    first.upsert("acme", [point("a", "consent"), point("b", "flooding"), raw(None)])
    first.delete_items("acme", ItemKind.EVIDENCE, ["b"])
    before = [*dense(first, "consent", where()), *sparse(first, "consent", where())]
    first.close()

    second = reopen()

    assert second.name == first.name
    assert [key.item_id for key in second.list_keys("acme", ItemKind.EVIDENCE)] == ["a", "raw"]
    after = [*dense(second, "consent", where()), *sparse(second, "consent", where())]
    assert items(after) == items(before) == ["a", "a"]
    # The local mode keeps its vectors in another precision than it holds in memory.
    assert [hit.score for hit in after] == pytest.approx([hit.score for hit in before])


def test_a_closed_index_says_that_it_does_not_answer(index: QdrantIndex) -> None:
    index.upsert("acme", [point("a", "consent")])
    index.close()
    index.close()

    for call in (
        lambda: index.upsert("acme", [point("a", "consent")]),
        lambda: index.delete_items("acme", ItemKind.EVIDENCE, ["a"]),
        lambda: index.delete_older_versions("acme", ItemKind.EVIDENCE, "a", 2),
        lambda: dense(index, "consent", where()),
        lambda: sparse(index, "consent", where()),
        lambda: index.list_keys("acme", ItemKind.EVIDENCE),
        lambda: index.count("acme"),
    ):
        with pytest.raises(Unavailable):
            call()


def test_models_never_share_a_collection() -> None:
    names = {
        collection_name(TinyEmbedder(name="a/b", dimension=8), ENCODER),
        collection_name(TinyEmbedder(name="a-b", dimension=8), ENCODER),
        collection_name(TinyEmbedder(name="a/b", dimension=16), ENCODER),
        collection_name(TinyEmbedder(name="日本" * 50, dimension=16), ENCODER),
    }

    assert len(names) == 4
    assert all(name.isascii() and len(name) < 120 for name in names)
