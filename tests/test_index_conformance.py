"""One suite for every engine behind `VectorIndex`: embedded, client's local mode, and a server if named."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from index_engines import (
    ALPHA,
    ENCODER,
    ENGINES,
    SERVER_URL,
    STAFF,
    Open,
    both,
    dense,
    direction,
    engine,
    items,
    point,
    sparse,
    where,
)

from service.adapters.qdrant_index import QdrantIndex
from service.core.passages import PassageKey
from service.retrieval.model import ItemKind


@pytest.fixture(params=ENGINES)
def reopen(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Open]:
    with engine(request.param, tmp_path) as open_index:
        yield open_index


@pytest.fixture
def index(reopen: Open) -> QdrantIndex:
    return reopen()


def test_the_suite_also_runs_on_a_server_where_one_is_named() -> None:
    if SERVER_URL is None:
        pytest.skip("no Qdrant server here: the suite runs on one when MUNIMENT_QDRANT_URL names it")

    assert "client-server" in ENGINES


def test_two_tenants_with_the_same_content_see_only_their_own(index: QdrantIndex) -> None:
    index.upsert("acme", [point("a1", "outline consent"), point("shared", "outline consent")])
    index.upsert("umbrella", [point("u1", "outline consent"), point("shared", "outline consent")])

    assert both(index, "outline consent", where("acme")) == {"a1", "shared"}
    assert both(index, "outline consent", where("umbrella")) == {"u1", "shared"}
    assert (index.count("acme"), index.count("umbrella"), index.count("nobody")) == (2, 2, 0)
    assert [key.item_id for key in index.list_keys("acme", ItemKind.EVIDENCE)] == ["a1", "shared"]


def test_a_search_is_confined_to_its_scopes_kind_and_readers(index: QdrantIndex) -> None:
    index.upsert(
        "acme",
        [
            point("here", "consent"),
            point("elsewhere", "consent", scope="project:beta"),
            point("secret", "consent", readers=("hash-of-board",)),
            point("open-to-both", "consent", readers=("hash-of-board", STAFF)),
            point("memory", "consent", kind=ItemKind.MEMORY),
        ],
    )

    assert both(index, "consent", where()) == {"here", "open-to-both"}
    assert both(index, "consent", where(scopes=(ALPHA, "project:beta"))) == {
        "here",
        "open-to-both",
        "elsewhere",
    }
    assert both(index, "consent", where(readers=("hash-of-board",))) == {"secret", "open-to-both"}
    assert both(index, "consent", where(kind=ItemKind.MEMORY)) == {"memory"}


@pytest.mark.parametrize("tenant", ["", ["acme", "umbrella"], None, ("acme",)])
def test_a_tenant_that_is_not_one_name_is_refused_by_every_call(index: QdrantIndex, tenant: str) -> None:
    index.upsert("acme", [point("a", "consent")])
    vector = direction("consent")

    for call in (
        lambda: index.upsert(tenant, [point("b", "consent")]),
        lambda: index.delete_items(tenant, ItemKind.EVIDENCE, ["a"]),
        lambda: index.delete_older_versions(tenant, ItemKind.EVIDENCE, "a", 9),
        lambda: index.list_keys(tenant, ItemKind.EVIDENCE),
        lambda: index.count(tenant),
        lambda: index.search_dense(where(tenant), vector, 5),
        lambda: index.search_sparse(where(tenant), ENCODER.encode_query("consent"), 5),
    ):
        with pytest.raises(ValueError):  # noqa: PT011 - any words will do
            call()
    assert index.count("acme") == 1


@pytest.mark.parametrize("part", ["scopes", "readers"])
@pytest.mark.parametrize("values", [(), ("",), (["a", "b"],), (None,)])
def test_a_search_with_an_empty_or_nested_filter_is_refused(
    index: QdrantIndex, part: str, values: tuple[str, ...]
) -> None:
    index.upsert("acme", [point("a", "consent")])

    with pytest.raises(ValueError):  # noqa: PT011 - any words will do
        sparse(index, "consent", where(**{part: values}))  # type: ignore[arg-type]


def test_deleting_without_a_name_is_refused_and_deleting_nothing_is_fine(index: QdrantIndex) -> None:
    index.upsert("acme", [point("a", "consent")])

    index.delete_items("acme", ItemKind.EVIDENCE, [])
    index.delete_items("acme", ItemKind.EVIDENCE, ["unknown"])
    with pytest.raises(ValueError):  # noqa: PT011 - any words will do
        index.delete_items("acme", ItemKind.EVIDENCE, [""])
    assert index.count("acme") == 1


def test_an_upsert_replaces_the_passage_of_the_same_key(index: QdrantIndex) -> None:
    index.upsert("acme", [point("a", "outline consent")])
    index.upsert("acme", [point("a", "river flooding")])

    assert items(sparse(index, "consent", where())) == []
    assert items(sparse(index, "flooding", where())) == ["a"]
    assert index.count("acme") == 1


def test_deleting_items_takes_all_their_versions_and_nobody_elses(index: QdrantIndex) -> None:
    index.upsert("acme", [point("a", "x"), point("a", "y", version=2, ordinal=1), point("b", "x")])
    index.upsert("acme", [point("a", "x", kind=ItemKind.MEMORY)])
    index.upsert("umbrella", [point("a", "x")])

    index.delete_items("acme", ItemKind.EVIDENCE, ["a"])

    assert [key.item_id for key in index.list_keys("acme", ItemKind.EVIDENCE)] == ["b"]
    assert (index.count("acme"), index.count("umbrella")) == (2, 1)


def test_deleting_older_versions_keeps_the_named_and_newer_ones(index: QdrantIndex) -> None:
    index.upsert("acme", [point("a", "x", version=version) for version in (1, 2, 3, 10)])
    index.upsert("acme", [point("b", "x")])
    index.upsert("umbrella", [point("a", "x")])

    index.delete_older_versions("acme", ItemKind.EVIDENCE, "a", 3)

    keys = index.list_keys("acme", ItemKind.EVIDENCE)
    assert [(key.item_id, key.version) for key in keys] == [("a", 3), ("a", 10), ("b", 1)]
    assert index.count("umbrella") == 1


def test_within_confines_and_an_empty_within_finds_nothing(index: QdrantIndex) -> None:
    index.upsert("acme", [point("a", "consent"), point("b", "consent"), point("c", "consent")])
    index.upsert("umbrella", [point("b", "consent")])
    vector = direction("consent")
    terms = ENCODER.encode_query("consent")
    some = [PassageKey("b", 1, 0), PassageKey("not-there", 1, 0), PassageKey("b", 1, 0)]

    assert items(index.search_dense(where(), vector, 9, within=some)) == ["b"]
    assert items(index.search_sparse(where(), terms, 9, within=some)) == ["b"]
    assert list(index.search_dense(where(), vector, 9, within=[])) == []
    assert list(index.search_sparse(where(), terms, 9, within=[])) == []


def test_equal_scores_are_ordered_and_cut_by_key(index: QdrantIndex) -> None:
    names = [f"item-{number:03}" for number in range(60)]
    index.upsert("acme", [point(name, "the same words") for name in reversed(names)])

    assert items(dense(index, "the same words", where(), 7)) == names[:7]
    assert items(sparse(index, "same words", where(), 7)) == names[:7]


def test_term_statistics_are_those_of_what_the_search_may_find(index: QdrantIndex) -> None:
    index.upsert("acme", [point(f"a{number}", f"consent word{number}") for number in range(4)])
    index.upsert("acme", [point("plot", "plot eighteen")])
    before = sparse(index, "consent plot", where())

    index.upsert("umbrella", [point(f"u{number}", "plot plot plot") for number in range(50)])
    index.upsert("acme", [point(f"p{number}", "plot", scope="project:beta") for number in range(20)])
    index.upsert("acme", [point(f"s{number}", "plot", readers=("hash-of-board",)) for number in range(20)])
    index.upsert("acme", [point(f"m{number}", "plot", kind=ItemKind.MEMORY) for number in range(20)])
    after = sparse(index, "consent plot", where())

    assert items(before)[0] == "plot"
    assert after == before
    within = index.search_sparse(
        where(), ENCODER.encode_query("consent plot"), 9, within=[PassageKey("plot", 1, 0)]
    )
    assert list(within) == [hit for hit in before if hit.key.item_id == "plot"]
