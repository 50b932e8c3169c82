"""Reading on in a text: characters by offsets, and literals across the borders of its pieces."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import FixedClock
from evidence_world import STRANGER, World, new, open_world
from hypothesis import given, settings
from hypothesis import strategies as st

from service.core.database import Database
from service.core.errors import NotFound
from service.evidence.get import RangeInvalid, get_evidence, read_text
from service.evidence.grep import Match, find_in_pieces, grep_evidence
from service.evidence.model import TEXT_READ_CHARACTERS_MAX, Group, Reference

TEXT = "".join(f"Line {number}: plot {number} 👩‍👩‍👧 consent.\n" for number in range(400))


@pytest.fixture
def world(database: Database, tmp_path: Path, clock: FixedClock) -> Iterator[World]:
    with open_world(database, tmp_path, clock) as opened:
        yield opened


def test_an_item_answers_everything_that_was_said_of_it(world: World) -> None:
    parent = world.add(new("parent", "doc://parent"))
    group = Group("register", "Planning register", 18)
    metadata = {"ключ": [1, 2.5, None, {"deep": "✓"}], "when": "2026"}

    kept = world.add(
        new(
            "text",
            title="Plot 18",
            media_type="text/markdown",
            subjects=("user-2", "user-1", "user-2"),
            group=group,
            metadata=metadata,
            derived_from=(Reference("evidence", parent.id, 1),),
        )
    )

    with world.unit() as unit:
        found = get_evidence(kept.id, unit=unit)
    assert (found.title, found.media_type, found.group, found.metadata) == (
        "Plot 18",
        "text/markdown",
        group,
        metadata,
    )
    assert found.subjects == ("user-1", "user-2")
    assert (found.characters, found.tokens, found.sha256) == (4, kept.tokens, kept.sha256)
    assert (found.created_by, found.source.retrieved_by) == ("agent:agent-1", "agent:agent-1")


@pytest.mark.parametrize(
    ("start", "end"), [(0, 0), (0, 1), (0, None), (5, 300), (255, 257), (1_000, 9_000), (len(TEXT), None)]
)
def test_any_range_of_characters_can_be_read(world: World, start: int, end: int | None) -> None:
    kept = world.add(new(TEXT))

    with world.unit() as unit:
        part = read_text(kept.id, unit=unit, start=start, end=end)

    assert part.text == TEXT[start:end]
    assert (part.start, part.end) == (start, start + len(part.text))


def test_a_long_text_is_read_on_from_where_the_last_part_ended(world: World) -> None:
    text = "abcdefghi\n" * 25_000
    kept = world.add(new(text))

    parts, start = [], 0
    with world.unit() as unit:
        with pytest.raises(RangeInvalid):
            read_text(kept.id, unit=unit, end=TEXT_READ_CHARACTERS_MAX + 1)
        while start < len(text):
            part = read_text(kept.id, unit=unit, start=start)
            parts.append(part.text)
            start = part.end

    assert "".join(parts) == text
    assert max(map(len, parts)) == TEXT_READ_CHARACTERS_MAX


@pytest.mark.parametrize(
    ("start", "end", "pointer"),
    [(3, 2, "/end"), (5, None, "/start"), (-1, None, "/start"), (0, TEXT_READ_CHARACTERS_MAX + 1, None)],
)
def test_a_range_that_is_not_one_of_the_text_is_refused(
    world: World, start: int, end: int | None, pointer: str | None
) -> None:
    kept = world.add(new("text"))

    with world.unit() as unit:
        if pointer is None:
            assert read_text(kept.id, unit=unit, start=start, end=end).text == "text"
            return
        with pytest.raises(RangeInvalid) as refused:
            read_text(kept.id, unit=unit, start=start, end=end)
    assert refused.value.extra["errors"][0]["pointer"] == pointer  # type: ignore[index]  # a list of faults


def test_nothing_of_another_tenant_s_text_is_read_or_found(world: World) -> None:
    kept = world.add(new(TEXT))

    with world.unit(STRANGER) as unit:
        with pytest.raises(NotFound):
            read_text(kept.id, unit=unit)
        with pytest.raises(NotFound):
            grep_evidence(kept.id, "plot", unit=unit, limit=1, context=0)


def test_a_literal_is_found_wherever_it_stands_and_its_span_cites_it(world: World) -> None:
    kept = world.add(new(TEXT))

    with world.unit() as unit:
        found = grep_evidence(kept.id, "plot 39", unit=unit, limit=50, context=6)

    assert [match.span.start for match in found.matches] == [
        match.start() for match in re.finditer("plot 39", TEXT)
    ]
    for match in found.matches:
        assert TEXT[match.span.start : match.span.end] == "plot 39"
        assert match.text == TEXT[match.text_start : match.span.end + 6]
    assert not found.more


def test_a_limit_cuts_the_places_off_and_says_so(world: World) -> None:
    kept = world.add(new(TEXT))

    with world.unit() as unit:
        found = grep_evidence(kept.id, "PLOT", unit=unit, limit=3, context=0, ignore_case=True)
        none = grep_evidence(kept.id, "PLOT", unit=unit, limit=3, context=0)

    assert (len(found.matches), found.more) == (3, True)
    assert (none.matches, none.more) == ((), False)


@pytest.mark.parametrize("literal", [".*", "consent.\n", "(", "\\", "👩‍👧", "x" * 500])
def test_a_literal_is_no_pattern(world: World, literal: str) -> None:
    text = f"{TEXT}.* ( \\ end"
    kept = world.add(new(text))

    with world.unit() as unit:
        found = grep_evidence(kept.id, literal, unit=unit, limit=200, context=0)

    assert [match.span.start for match in found.matches] == [
        match.start() for match in re.finditer(re.escape(literal), text)
    ][:200]


@given(
    st.lists(st.text("ab\n", min_size=1, max_size=12), min_size=1, max_size=12),
    st.text("ab\n", min_size=1, max_size=4),
    st.integers(0, 9),
)
@settings(deadline=None)
def test_pieces_are_searched_as_if_they_were_one_text(pieces: list[str], literal: str, context: int) -> None:
    text = "".join(pieces)
    offsets = [sum(map(len, pieces[:count])) for count in range(len(pieces))]
    pattern = re.compile(re.escape(literal))

    found = list(find_in_pieces(zip(offsets, pieces, strict=True), pattern, len(literal), context=context))

    spans = [(match.span.start, match.span.end) for match in found]
    assert spans == [match.span() for match in pattern.finditer(text)]
    assert all(_shows(match, text, context) for match in found)


def _shows(match: Match, text: str, context: int) -> bool:
    start = max(0, match.span.start - context)
    return (match.text_start, match.text) == (start, text[start : match.span.end + context])
