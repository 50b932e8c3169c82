"""Hybrid search over a real index, with the record played by a dictionary of what lives."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pytest
from index_engines import ALPHA, EMBEDDER, ENCODER, point, where

from service.adapters.qdrant_edge import EdgeIndex
from service.core.passages import PassageKey
from service.retrieval.search import QUERY_CHARACTERS_MAX, RANKED_TEXTS_MAX, Ranked, Retriever


class Shelf:
    """Passages in the index and, apart from it, the record of those that exist."""

    def __init__(self, folder: Path) -> None:
        self.index = EdgeIndex(folder, embedder=EMBEDDER, sparse=ENCODER)
        self.retriever = Retriever(EMBEDDER, ENCODER, self.index)
        self.held: dict[PassageKey, str] = {}
        self.asked: list[PassageKey] = []
        self.beside: dict[PassageKey, tuple[PassageKey, ...]] = {}

    def add(self, item: str, *texts: str, scope: str = ALPHA) -> None:
        points = [point(item, text, ordinal=place, scope=scope) for place, text in enumerate(texts)]
        self.index.upsert("acme", points)
        keys = [entry.key for entry in points]
        self.held.update(zip(keys, texts, strict=True))
        for place, key in enumerate(keys):
            self.beside[key] = tuple(keys[max(0, place - 1) : place] + keys[place + 1 : place + 2])

    def forget(self, item: str) -> None:
        """Remove from the record alone, as when the index is late."""
        self.held = {key: text for key, text in self.held.items() if key.item_id != item}

    def search(self, query: str, *, limit: int = 10, depth: int = 100) -> Sequence[Ranked[str]]:
        def reread(keys: Sequence[PassageKey]) -> Mapping[PassageKey, str]:
            self.asked.extend(keys)
            return {key: self.held[key] for key in keys if key in self.held}

        def neighbours(
            keys: Sequence[PassageKey],
        ) -> Mapping[PassageKey, tuple[PassageKey, ...]]:
            return {key: self.beside[key] for key in keys if key in self.held}

        return self.retriever.search(
            query, where(), reread=reread, neighbours=neighbours, limit=limit, depth=depth
        )


@pytest.fixture
def shelf(tmp_path: Path) -> Iterator[Shelf]:
    shelf = Shelf(tmp_path / "index")
    yield shelf
    shelf.index.close()


def names(found: Sequence[Ranked[str]]) -> list[str]:
    return [ranked.key.item_id for ranked in found]


def test_the_best_passage_comes_first_with_each_score_shown(shelf: Shelf) -> None:
    shelf.add("plot", "outline consent for plot eighteen")
    shelf.add("river", "the river floods in spring")
    shelf.add("road", "consent is pending for the road")

    found = shelf.search("outline consent plot")

    assert names(found)[:2] == ["plot", "road"]
    assert found[0].item == "outline consent for plot eighteen"
    assert found[0].score == found[0].scores["fused"]
    assert set(found[0].scores) == {"fused", "dense", "sparse"}
    assert found[0].scores["sparse"] > found[1].scores["sparse"] > 0


def test_what_the_record_no_longer_holds_eats_no_place(shelf: Shelf) -> None:
    for number in range(40):
        shelf.add(f"dead{number}", "outline consent")
    for number in range(3):
        shelf.add(f"live{number}", f"outline consent with more words {number}")
    for number in range(40):
        shelf.forget(f"dead{number}")

    assert sorted(names(shelf.search("outline consent", limit=3, depth=5))) == ["live0", "live1", "live2"]


def test_the_dead_move_no_fused_score(shelf: Shelf) -> None:
    shelf.add("a", "outline consent")
    shelf.add("b", "outline permission")
    clean = {found.key: found.scores["dense"] for found in shelf.search("outline consent")}
    shelf.add("dead", "outline consent")
    shelf.forget("dead")

    found = shelf.search("outline consent")

    assert {ranked.key: ranked.scores["dense"] for ranked in found} == clean
    assert names(found) == ["a", "b"]
    assert found[0].score == pytest.approx(-found[1].score)


def test_the_record_is_asked_once_about_each_passage(shelf: Shelf) -> None:
    for number in range(30):
        shelf.add(f"item{number}", "outline consent", "and its reasons")

    shelf.search("outline consent", limit=5, depth=10)

    assert len(shelf.asked) == len(set(shelf.asked))


def test_a_neighbour_of_a_strong_passage_is_found_and_rises(shelf: Shelf) -> None:
    shelf.add("session", "when was the outline consent granted", "on the third of March", "good to know")
    for number in range(5):
        shelf.add(f"other{number}", f"unrelated remark {number}")

    found = shelf.search("outline consent granted", depth=1)

    assert [ranked.key.ordinal for ranked in found if ranked.key.item_id == "session"] == [0, 1]
    assert found[1].scores["sparse"] == 0.0
    assert "dense" in found[1].scores


def test_a_neighbour_that_the_record_withholds_is_not_found(shelf: Shelf) -> None:
    shelf.add("session", "outline consent", "secret")
    del shelf.held[PassageKey("session", 1, 1)]

    assert [ranked.key.ordinal for ranked in shelf.search("outline consent")] == [0]


@pytest.mark.parametrize("query", ["", "   ", "?!", "\u3000"])
def test_a_query_without_words_finds_nothing(shelf: Shelf, query: str) -> None:
    shelf.add("a", "outline consent")

    assert list(shelf.search(query)) == []


def test_a_query_of_unknown_words_still_answers_by_direction(shelf: Shelf) -> None:
    shelf.add("a", "outline consent")
    shelf.add("b", "?!")

    found = shelf.search("never seen before")

    assert names(found) == ["a"]
    assert found[0].scores["sparse"] == 0.0


def test_only_the_head_of_a_long_query_counts(shelf: Shelf) -> None:
    shelf.add("a", "outline consent")
    shelf.add("b", "river flooding")
    head = "outline consent " + " " * QUERY_CHARACTERS_MAX

    assert [(found.key, found.score) for found in shelf.search(head + "river flooding " * 10_000)] == [
        (found.key, found.score) for found in shelf.search("outline consent")
    ]


def test_equal_passages_are_ordered_by_key(shelf: Shelf) -> None:
    for number in reversed(range(30)):
        shelf.add(f"item{number:02}", "outline consent")

    found = shelf.search("outline consent", limit=4, depth=7)

    assert names(found) == ["item00", "item01", "item02", "item03"]


@pytest.mark.parametrize(("limit", "depth"), [(0, 10), (-1, 10), (1, 0), (1, 1_001)])
def test_bounds_are_kept(shelf: Shelf, limit: int, depth: int) -> None:
    with pytest.raises(ValueError, match="depth 1 to 1000"):
        shelf.search("x", limit=limit, depth=depth)


def test_texts_in_hand_are_ranked_with_their_neighbours(shelf: Shelf) -> None:
    turns = ["hello", "when was the outline consent granted", "on the third of March", "thanks", "bye", "?"]

    ranked = shelf.retriever.rank_texts("outline consent granted", turns)
    scores = [one.fused for one in ranked]

    assert scores.index(max(scores)) == 1
    assert scores[2] > scores[4]
    assert len(scores) == len(turns)
    assert ranked[1].is_related


def test_ranking_nothing_or_by_nothing_or_too_much(shelf: Shelf) -> None:
    assert list(shelf.retriever.rank_texts("query", [])) == []
    assert [one.fused for one in shelf.retriever.rank_texts("", ["a", "b"])] == [0.0, 0.0]
    with pytest.raises(ValueError, match="at most"):
        shelf.retriever.rank_texts("query", ["a"] * (RANKED_TEXTS_MAX + 1))
