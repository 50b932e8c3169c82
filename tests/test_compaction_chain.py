"""Summaries over summaries, any number of times: nothing that binds and no reference is ever lost."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from conftest import FixedClock
from context_world import WholeChunker
from executions_world import World, open_world
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from service.context.references import RecordReferences
from service.core.database import Database
from service.executions.compact import keep_compaction, write_prose
from service.executions.compaction import material as material_module
from service.executions.compaction.material import NewCompaction, read_material
from service.executions.compaction.refusals import NothingSaid, SummaryTooWide
from service.executions.compaction.summary_text import SummaryText, read_summary
from service.executions.conversation.model import NewSummary, Pin, PinKind, Summary, TurnRole
from service.executions.ledger.model import NewObservation, ObservedSource
from service.executions.model import Execution
from service.executions.observe import observe
from service.executions.pin import resolve_pin
from service.executions.summarise import summarise

TEXT = st.text(st.sampled_from("ab 1.\n-#:。"), min_size=1, max_size=60) | st.text(min_size=1, max_size=40)
ACTS = st.lists(
    st.tuples(st.just("say"), TEXT, st.sampled_from([None, *PinKind]))
    | st.tuples(st.just("claim"), TEXT, st.sampled_from([None, PinKind.HYPOTHESIS]))
    | st.tuples(st.just("see"), TEXT, st.sampled_from(["tool://a", "tool://b"]))
    | st.tuples(st.just("see much"), st.just("point 17 " * 2_100), st.sampled_from(["tool://a", "tool://c"]))
    | st.tuples(st.just("settle"), TEXT, st.none())
    | st.tuples(st.just("compact"), TEXT, st.none()),
    max_size=14,
)


@pytest.fixture
def world(database: Database, tmp_path: Path, clock: FixedClock) -> Iterator[World]:
    with open_world(database, tmp_path, clock) as world:
        yield world


def _compact(world: World, run: Execution, **fields: Any) -> Summary:
    asked = NewCompaction(**fields)
    with world.unit() as unit:
        references = RecordReferences(unit, world.bundle)
        made = read_material(run.id, asked, unit=unit, bundle=world.bundle, references=references)
        prose = write_prose(made, compactor=None, count=unit.tokens.count)
        return keep_compaction(run.id, made, prose, unit=unit, bundle=world.bundle)


def _parts(summary: Summary) -> SummaryText:
    found = read_summary(summary.text or "")
    assert found is not None
    return found


def _observe(world: World, run: Execution, content: str, uri: str) -> str:
    source = ObservedSource(uri, "tool", datetime(2026, 11, 30, 9, tzinfo=UTC))
    with world.unit() as unit:
        seen = observe(
            run.id,
            NewObservation(source, content),
            unit=unit,
            bundle=world.bundle,
            chunker=WholeChunker(),
        )
    return f"evidence:{seen.evidence_id}" if seen.evidence_id else f"observation:{seen.id}"


@dataclass
class _Told:
    """What a run was told, and what must therefore be in each of its summaries."""

    world: World
    run: Execution
    pins: list[Pin] = field(default_factory=list)
    seen: list[str] = field(default_factory=list)
    spoken: int = 0

    def act(self, what: str, text: str, choice: Any) -> None:
        match what:
            case "say" | "claim":
                role = TurnRole.USER if what == "say" else TurnRole.ASSISTANT
                _, pin = self.world.say(self.run, text, role, pin=choice)
                self.pins += [pin] if pin else []
                self.spoken += 1
            case "settle" if self.pins:
                pin = self.pins.pop(0)
                with self.world.unit() as unit:
                    resolve_pin(
                        self.run.id,
                        pin.id,
                        resolved=True,
                        resolution=text,
                        unit=unit,
                        bundle=self.world.bundle,
                    )
            case "see" | "see much":
                self.seen.append(_observe(self.world, self.run, text, choice))
            case "compact" if self.spoken:
                self.spoken = 0
                self.check(_compact(self.world, self.run))

    def check(self, summary: Summary) -> None:
        parts = _parts(summary)
        for pin in self.pins:
            [line] = [line for line in parts.surviving if f"[pin:{pin.id}]: " in line]
            assert line.endswith(f"]: {pin.text}")
        assert set(self.seen) <= set(parts.references)
        assert tuple(summary.derived_from) == parts.references
        assert parts.surviving[0] == "objective: Build the order application"


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(acts=ACTS)
def test_pins_and_references_survive_any_number_of_summaries(world: World, acts: list[Any]) -> None:
    told = _Told(world, world.open())

    for act in [*acts, ("say", "At last.", None), ("compact", "", None)]:
        told.act(*act)


def test_older_turns_than_one_reading_takes_are_told_by_the_summary_before(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(material_module, "TURNS_READ_MAX", 4)
    run = world.open()
    for text in ("Plot 18 is by the river.", "Plot 19 is on the hill.", "Miller owns both.", "Since 1998."):
        world.say(run, text)
    seen = _observe(world, run, "granted", "tool://register")
    _compact(world, run)
    for text in ("The survey is due in May.", "Bats were seen.", "The road is closed."):
        world.say(run, text)

    summary = _compact(world, run)

    said = _parts(summary).said
    assert (summary.from_sequence, summary.to_sequence) == (1, 7)
    assert said[0] == "turn 1 user, relayed: Plot 18 is by the river."
    assert said[-1] == "turn 7 user, relayed: The road is closed."
    assert summary.derived_from == (seen,)


def test_more_than_one_reading_takes_without_a_summary_is_refused(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(material_module, "TURNS_READ_MAX", 4)
    run = world.open()
    for number in range(6):
        world.say(run, f"Plot {number} is by the river.")

    with pytest.raises(SummaryTooWide):
        _compact(world, run)
    _compact(world, run, from_sequence=1, to_sequence=4)
    assert _compact(world, run).to_sequence == 6


def test_a_clients_summary_is_taken_over_where_its_turns_are_not_read(world: World) -> None:
    run = world.open()
    for number in range(4):
        world.say(run, f"Plot {number} is by the river.")
    seen = _observe(world, run, "granted", "tool://register")
    new = NewSummary(1, 2, "Somebody mentioned the heron.", "gpt-4o", derived_from=(seen,))
    with world.unit() as unit:
        references = RecordReferences(unit, world.bundle)
        first = summarise(run.id, new, unit=unit, bundle=world.bundle, references=references)

    second = _compact(world, run, from_sequence=3, to_sequence=4, supersedes=first.id)

    assert _parts(second).said[0] == "earlier summary by gpt-4o: Somebody mentioned the heron."
    assert (second.supersedes, second.derived_from) == (first.id, (seen,))


def test_a_failed_compaction_leaves_the_run_as_it_was(world: World) -> None:
    run = world.open()

    with pytest.raises(NothingSaid):
        _compact(world, run)
    with world.store() as store:
        assert store.latest_summary(run.id) is None
