"""A state rests on its sources: one that changed, expired or is gone is refreshed before work goes on."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from conftest import FixedClock
from executions_world import ACME, AGENT, COLLEAGUE, SEEN, World, open_world
from resume_world import decision, take

from service.adapters.chunker import SemanticChunker
from service.context.references import RecordReferences
from service.core.database import Database
from service.evidence.add import add_evidence
from service.evidence.model import NewEvidence, ReferenceNotFound, Source
from service.executions.conversation.model import NewSummary
from service.executions.conversation.tables import SummaryRow
from service.executions.model import Execution, Transition
from service.executions.sources import Drift
from service.executions.summarise import summarise
from service.governance.forget import forget_evidence
from service.identity.model import Caller


@pytest.fixture
def world(database: Database, tmp_path: Path, clock: FixedClock) -> Iterator[World]:
    with open_world(database, tmp_path, clock) as opened:
        yield opened


def keep(
    world: World, text: str, *, who: Caller = AGENT, uri: str = "tool://register/18", **fields: Any
) -> str:
    source = Source(uri=uri, kind="tool", source_version=None, observed_at=SEEN)
    with world.unit(who) as unit:
        new = NewEvidence(project="alpha", text=text, source=source, **fields)
        return add_evidence(new, unit=unit, bundle=world.bundle, chunker=SemanticChunker(world.tokens)).id


def rest_on(world: World, run: Execution, *refs: str, version: int = 1) -> Execution:
    state = {"plan": ["draft"], "derived_from": list(refs)}
    return world.move(run, Transition.ADVANCE, version=version, state=state)


def test_a_new_version_of_evidence_is_refreshed_until_the_state_rests_on_it(world: World) -> None:
    run, evidence_id = world.open(), keep(world, "Plot 18: outline consent.")
    rest_on(world, run, f"evidence:{evidence_id}")
    assert decision(world, run) == "verify:login"

    assert keep(world, "Plot 18: consent refused.") == evidence_id
    world.clock.advance(seconds=120)
    moved = take(world, run)

    assert str(moved.decision) == f"refresh:{evidence_id}"
    assert [(one.code, one.ref) for one in moved.decision.reasons] == [
        (Drift.CHANGED, f"evidence:{evidence_id}")
    ]
    world.clock.advance(seconds=120)
    rest_on(world, run, f"evidence:{evidence_id}", version=2)
    assert decision(world, run) == "verify:login"


def test_expired_and_erased_evidence_is_refreshed(world: World) -> None:
    soon = world.clock() + timedelta(hours=1)
    fresh = keep(world, "Opening hours: nine to five.", fresh_until=soon)
    erased = keep(world, "A statement that is withdrawn.", uri="tool://register/19")
    run, other = world.open(), world.open()
    rest_on(world, run, f"evidence:{fresh}")
    rest_on(world, other, "note:mine", f"evidence:{erased}")

    world.clock.advance(hours=2)
    with world.unit() as unit:
        forget_evidence(erased, derived=False, unit=unit)

    assert decision(world, run) == f"refresh:{fresh}"
    gone = take(world, other).decision
    assert (str(gone), [one.code for one in gone.reasons]) == (f"refresh:{erased}", [Drift.GONE])


def test_what_reading_a_source_again_has_shown_is_refreshed(world: World) -> None:
    run, evidence_id = world.open(), keep(world, "Plot 18: outline consent.")
    rest_on(world, run, f"evidence:{evidence_id}")

    moved = take(world, run, at_source={f"evidence:{evidence_id}": Drift.GONE_AT_SOURCE}).decision

    assert (str(moved), moved.reasons[0].code) == (f"refresh:{evidence_id}", Drift.GONE_AT_SOURCE)


def test_a_state_cannot_rest_on_what_its_user_may_not_read(world: World) -> None:
    hidden = keep(world, "For one reader only.", who=COLLEAGUE, readers=("user:user-2",))
    run = world.open()

    for ref in (f"evidence:{hidden}", "evidence:nothing", "memory:01936d7e-0000-7000-8000-00000000acee"):
        with pytest.raises(ReferenceNotFound) as refused:
            rest_on(world, run, "note:mine", ref)
        assert refused.value.extra["errors"][0]["pointer"] == "/state/derived_from/1"

    assert world.get(run).version == 1


def test_evidence_that_the_user_may_read_no_more_is_refreshed(world: World) -> None:
    run, evidence_id = world.open(), keep(world, "Readable by all.", who=COLLEAGUE)
    rest_on(world, run, f"evidence:{evidence_id}")

    keep(world, "Now for one reader.", who=COLLEAGUE, readers=("user:user-2",))

    assert decision(world, run) == f"refresh:{evidence_id}"


def test_a_state_rests_on_turns_and_observations_of_its_run(world: World) -> None:
    run = world.open()
    turn, _ = world.say(run, "Keep every reply under 200 words.")

    rest_on(world, run, f"turn:{turn.id}", "src/login")

    assert decision(world, run) == "verify:login"


def test_a_summary_of_what_has_changed_since_is_written_anew(world: World) -> None:
    run, evidence_id = world.open(), keep(world, "Plot 18: outline consent.")
    world.say(run, "What is the status of plot 18?")
    first = summarise_all(world, run, f"evidence:{evidence_id}")
    assert decision(world, run) == "verify:login"

    # In the same moment: what counts is the version, no time.
    keep(world, "Plot 18: consent refused.")
    moved = take(world, run).decision

    assert (str(moved), moved.reasons[0].code) == (f"refresh:{first}", Drift.CHANGED)
    assert moved.reasons[0].ref == f"evidence:{evidence_id}"
    world.clock.advance(seconds=120)
    summarise_all(world, run, f"evidence:{evidence_id}")
    assert decision(world, run) == "verify:login"


@pytest.mark.parametrize("seconds", [0, 1])
def test_a_summary_of_an_earlier_release_is_judged_by_when_its_sources_changed(
    world: World, seconds: int
) -> None:
    run, evidence_id = world.open(), keep(world, "Plot 18: outline consent.")
    world.say(run, "What is the status of plot 18?")
    first = summarise_all(world, run, "file:notes.md", f"evidence:{evidence_id}")
    with world.unit() as unit:
        row = unit.session.get_one(SummaryRow, (ACME, first))
        assert [len(source) for source in row.derived_from] == [3, 3]
        row.derived_from = [ref for ref, _, _ in row.derived_from]
        unit.session.add(row)
    assert decision(world, run) == "verify:login"

    world.clock.advance(seconds=seconds)
    keep(world, "Plot 18: consent refused.")

    assert decision(world, run) == ("verify:login", f"refresh:{first}")[seconds]


def summarise_all(world: World, run: Execution, *refs: str) -> str:
    new = NewSummary(1, 1, "The person asked about plot 18.", "test", derived_from=refs)
    with world.unit() as unit:
        references = RecordReferences(unit, world.bundle)
        return summarise(run.id, new, unit=unit, bundle=world.bundle, references=references).id
