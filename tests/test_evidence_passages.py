"""Passages: they tile the text, know their neighbours, and are re-read before anything is shown."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from conftest import FixedClock
from evidence_world import (
    ACME,
    AGENT,
    ALPHA,
    BETA,
    REVIEWER,
    SEEN,
    STRANGER,
    USER,
    World,
    caller,
    new,
    open_world,
)
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from service.adapters.chunker import SemanticChunker
from service.adapters.tokens import TiktokenCounter
from service.core.database import Database
from service.core.passages import PassageKey
from service.evidence.cut import cut
from service.evidence.model import CHUNK_TOKENS_MAX, Group, Kept
from service.evidence.ports import Span
from service.evidence.rules import tiles
from service.evidence.store import EvidenceStore

LONG = "\n\n".join(
    f"Paragraph {number}: the outline consent for plot {number} was granted." for number in range(200)
)


@pytest.fixture
def world(database: Database, tmp_path: Path, clock: FixedClock) -> Iterator[World]:
    with open_world(database, tmp_path, clock) as opened:
        yield opened


def turns(world: World, count: int, group: str = "session") -> list[Kept]:
    return [
        world.add(new(f"turn {number}", f"turn://{group}/{number}", group=Group(group, "Session", number)))
        for number in range(count)
    ]


def neighbours(world: World, *keys: PassageKey) -> list[tuple[PassageKey, ...] | None]:
    with world.unit() as unit:
        found = EvidenceStore.of(unit).neighbours(keys)
    return [found.get(key) for key in keys]


def test_passages_in_order_are_the_text_and_their_spans_cite_it(world: World) -> None:
    kept = world.add(new(LONG, title="Register", source_version="v7", kind="record"))

    passages = world.passages(kept)

    assert len(passages) == kept.chunks > 3
    assert "".join(passage.text for passage in passages) == LONG
    assert all(LONG[passage.span.start : passage.span.end] == passage.text for passage in passages)
    assert sum(passage.tokens for passage in passages) == kept.tokens
    assert max(passage.tokens for passage in passages) <= CHUNK_TOKENS_MAX
    first = passages[0]
    assert (first.title, first.sha256, first.project_id) == ("Register", kept.sha256, ALPHA.id)
    assert (first.source.uri, first.source.kind, first.source.source_version, first.source.observed_at) == (
        "doc://plots/18",
        "record",
        "v7",
        SEEN,
    )
    assert first.source.retrieved_by == AGENT.principal


@pytest.mark.parametrize("media_type", ["text/plain", "text/markdown", "application/json", "text/csv"])
def test_hard_texts_are_cut_into_pieces_that_tile_them(tmp_path: Path, media_type: str) -> None:
    tokens = TiktokenCounter(tmp_path / "tiktoken")
    chunker = SemanticChunker(tokens)
    hard = [
        "👩‍👩‍👧" * 900,
        " " * 5_000,
        "a" * 9_000,
        "<|endoftext|>" * 400,
        "日本語の文章。" * 900,
        "\r\n" * 3_000,
    ]
    for text in (*hard, "x", "\n", "é" * 64, "é" * 65):
        pieces = cut(text, media_type, chunker=chunker, tokens=tokens)

        assert "".join(piece.text for piece in pieces) == text
        assert all(piece.tokens <= CHUNK_TOKENS_MAX for piece in pieces)


@given(st.lists(st.integers(1, 5)), st.integers(0, 3), st.sampled_from(["whole", "gap", "overlap", "short"]))
@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
def test_only_spans_without_gap_and_overlap_tile(lengths: list[int], where: int, fault: str) -> None:
    ends = [sum(lengths[: count + 1]) for count in range(len(lengths))]
    spans = [Span(end - length, end) for end, length in zip(ends, lengths, strict=True)]
    characters = sum(lengths)

    assert tiles(spans, characters)
    if fault == "short":
        assert not tiles(spans, characters + 1)
    elif fault != "whole" and len(spans) > where + 1:
        shift = 1 if fault == "gap" else -1
        spans[where + 1] = Span(spans[where + 1].start + shift, spans[where + 1].end)
        assert not tiles(spans, characters)


def test_neighbours_are_inside_the_item_and_at_its_ends_in_the_group(world: World) -> None:
    before = world.add(new(LONG, "doc://1", group=Group("g", "G", 1)))
    middle = world.add(new(LONG, "doc://2", group=Group("g", "G", 2)))
    after = world.add(new("short", "doc://3", group=Group("g", "G", 3)))
    last = middle.chunks - 1

    found = neighbours(
        world,
        PassageKey(middle.id, 1, 0),
        PassageKey(middle.id, 1, 2),
        PassageKey(middle.id, 1, last),
        PassageKey(after.id, 1, 0),
    )

    assert found == [
        (PassageKey(before.id, 1, before.chunks - 1), PassageKey(middle.id, 1, 1)),
        (PassageKey(middle.id, 1, 1), PassageKey(middle.id, 1, 3)),
        (PassageKey(middle.id, 1, last - 1), PassageKey(after.id, 1, 0)),
        (PassageKey(middle.id, 1, last),),
    ]


def test_what_stands_alone_has_neighbours_only_inside(world: World) -> None:
    kept = world.add(new(LONG))
    turns(world, 1)

    assert neighbours(world, PassageKey(kept.id, 1, 0)) == [(PassageKey(kept.id, 1, 1),)]
    assert neighbours(world, PassageKey(kept.id, 1, kept.chunks - 1)) == [
        (PassageKey(kept.id, 1, kept.chunks - 2),)
    ]


def test_groups_of_other_projects_and_tenants_are_other_groups(world: World) -> None:
    mine = turns(world, 2)
    both = caller(projects=[ALPHA, BETA])
    world.add(new("x", "turn://x", group=Group("session", "Session", 2)), STRANGER)
    world.add(new("x", "turn://x", project="beta", group=Group("session", "Session", 2)), both)

    assert neighbours(world, PassageKey(mine[1].id, 1, 0)) == [(PassageKey(mine[0].id, 1, 0),)]


def test_neighbours_of_gone_and_old_passages_are_absent(world: World) -> None:
    first, second, third = turns(world, 3)
    world.forget(second.id)
    world.add(new("turn 0, again", "turn://session/0", group=Group("session", "Session", 0)))

    found = neighbours(world, *(PassageKey(each.id, 1, 0) for each in (first, second, third)))

    assert found == [None, None, ()]


def test_more_keys_than_one_query_holds_are_all_answered(world: World) -> None:
    kept = [
        each
        for start in range(0, 600, 100)
        for each in world.add_all(
            [
                new(f"turn {number}", f"turn://s/{number}", group=Group("s", "S", number))
                for number in range(start, start + 100)
            ]
        )
    ]
    keys = [PassageKey(each.id, 1, 0) for each in kept]

    with world.unit() as unit:
        store = EvidenceStore.of(unit)
        found, beside = store.passages(keys, caller=AGENT, now=unit.now), store.neighbours(keys)
        indexed = store.index_passages(*(each.id for each in kept))

    assert list(map(len, (found, beside, indexed))) == [600, 600, 600]
    assert [len(beside[key]) for key in keys] == [1, *[2] * 598, 1]


def test_staleness_is_told_and_hides_nothing(world: World, clock: FixedClock) -> None:
    kept = world.add(new("text", fresh_until=clock.now + timedelta(minutes=5)))

    assert world.passages(kept)[0].stale is False
    clock.advance(minutes=5)
    assert world.passages(kept)[0].stale is True


def test_keys_of_nothing_are_absent(world: World) -> None:
    kept = world.add(new("text"))
    keys = [PassageKey(kept.id, 2, 0), PassageKey(kept.id, 1, 1), PassageKey("nothing", 1, 0)]

    with world.unit() as unit:
        assert EvidenceStore.of(unit).passages(keys, caller=AGENT, now=unit.now) == {}
        assert EvidenceStore.of(unit).passages([], caller=AGENT, now=unit.now) == {}


def test_the_index_gets_stored_labels_and_only_what_is_current(world: World) -> None:
    kept = world.add(new("old"))
    world.add(new("text", title="T", subjects=("user-2", "user-1"), readers=("project:alpha", "user:user-1")))
    gone = world.add(new("gone", "doc://b"))
    world.add(new("c", "doc://c", supersedes=gone.id))

    with world.unit() as unit:
        (passage,) = EvidenceStore.of(unit).index_passages(kept.id, gone.id, "nothing")
        live = EvidenceStore.of(unit).list_live_ids(limit=10)
        versions = EvidenceStore.of(unit).live_versions([kept.id, gone.id, "nothing"])

    assert (passage.key, passage.text, passage.title) == (PassageKey(kept.id, 2, 0), "text", "T")
    assert passage.subjects == ("user-1", "user-2")
    assert versions == {kept.id: 2}
    assert passage.readers == (f"project:{ALPHA.id}", "user:user-1")
    assert kept.id in live
    assert gone.id not in live


def test_when_a_subject_s_key_is_destroyed_only_evidence_about_that_person_is_gone(world: World) -> None:
    about = world.add(new("about user-1", "doc://1", subjects=("user-1",)))
    other = world.add(new("about nobody", "doc://2"))

    world.keys.destroy(ACME, "user-1")

    assert world.passages(about, REVIEWER) == []
    assert world.passages(about, USER) == []
    assert [passage.text for passage in world.passages(other)] == ["about nobody"]
    with world.unit() as unit:
        store = EvidenceStore.of(unit)
        assert [each.key.item_id for each in store.index_passages(about.id, other.id)] == [other.id]
        assert list(store.readable_items([about.id, other.id], caller=USER)) == [other.id]


def test_what_may_be_read_is_told_without_text_exactly_as_with_it(world: World) -> None:
    kept = [
        world.add(new("for all", "doc://1")),
        world.add(new("for one", "doc://2", readers=("user:user-1",))),
        world.add(new("for reviewers", "doc://3", readers=("role:reviewer",))),
        world.add(new("old", "doc://4")),
        world.add(new("new", "doc://4")),
        world.add(new("superseded", "doc://5")),
    ]
    world.add(new("instead", "doc://6", supersedes=kept[-1].id))
    keys = [
        PassageKey(each.id, version, ordinal) for each in kept for version in (1, 2) for ordinal in (0, 1)
    ]

    for who in (AGENT, USER, REVIEWER, STRANGER):
        with world.unit(who) as unit:
            store = EvidenceStore.of(unit)
            passages = store.passages(keys, caller=who, now=unit.now)
            items = store.readable_items([key.item_id for key in keys], caller=who)
        told = {key for key in keys if key.item_id in items and items[key.item_id].holds(key)}
        assert told == passages.keys()


def test_neighbours_of_known_items_are_those_that_the_record_names(world: World) -> None:
    keys = [PassageKey(each.id, 1, 0) for each in turns(world, 4)]

    with world.unit() as unit:
        store = EvidenceStore.of(unit)
        known = store.readable_items([keys[1].item_id, keys[2].item_id], caller=AGENT)
        assert store.neighbours(keys, known=known) == store.neighbours(keys)
