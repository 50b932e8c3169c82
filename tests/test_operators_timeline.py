"""The timeline: everything that happened in a run, by whom and when, and no text."""

import ast
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from acceptance_world import ask, fail
from conftest import FixedClock
from executions_world import (
    AGENT,
    OPERATOR,
    SEEN,
    STRANGER,
    USER,
    World,
    caller,
    open_world,
)

from service.adapters.chunker import SemanticChunker
from service.core.database import Database
from service.core.errors import NotFound
from service.core.paging import page_request
from service.executions.cancel import cancel
from service.executions.ledger.model import EffectStatus, NewObservation, ObservedSource
from service.executions.model import Execution, Transition
from service.executions.observe import observe
from service.executions.timeline import Happening, read_timeline
from service.identity.model import Caller, Role

EXECUTIONS = Path(__file__).parents[1] / "service" / "executions"
AUDITOR = caller("auditor-1", role=Role.AUDITOR)


@pytest.fixture
def world(database: Database, tmp_path: Path, clock: FixedClock) -> Iterator[World]:
    with open_world(database, tmp_path, clock) as world:
        yield world


def _read(world: World, run: Execution, *, who: Caller = OPERATOR, limit: int = 100) -> list[Happening]:
    found: list[Happening] = []
    cursor = None
    while True:
        request = page_request(limit, cursor, tenant_id=who.tenant_id, filters=(run.id,))
        with world.unit(who) as unit:
            page = read_timeline(run.id, request, unit=unit)
        found += page.items
        cursor = page.next_cursor
        if cursor is None:
            return found


def test_it_tells_what_happened_in_order_with_what_each_was_about(world: World, clock: FixedClock) -> None:
    run = world.open(objective="Secret objective")
    world.move(run, Transition.START, version=1, state={"next_action": "secret plan"})
    clock.advance(minutes=1)
    world.say(run, "Secret words")
    world.intend(run, sku="secret")
    world.settle(run, EffectStatus.DISPATCHED, EffectStatus.COMMITTED)
    world.submit(run)
    ask(world, run, "login")
    fail(world, run)
    with world.unit(USER) as unit:
        cancel(run.id, reason="Secret reason", expected_version=2, unit=unit)

    found = _read(world, run)

    assert [(one.kind, one.what) for one in found] == [
        ("transition", "execution.opened"),
        ("transition", "execution.checkpointed"),
        ("turn", "turn.added"),
        ("effect", "effect.intended"),
        ("effect", "effect.settled"),
        ("effect", "effect.settled"),
        ("candidate", "candidate.submitted"),
        ("check", "check.requested"),
        ("check", "check.written"),
        ("transition", "execution.cancelled"),
    ]
    assert [one.ref for one in found[3:6]] == ["effect:order-8"] * 3
    assert [one.details["status"] for one in found[4:6]] == ["dispatched", "committed"]
    assert (found[0].ref, found[8].ref.partition(":")[0]) == (f"execution:{run.id}", "check")
    assert {one.actor for one in found} == {"agent:agent-1:for:user-1", "grader:grader-1", "user:user-1"}
    assert found[2].at - found[1].at == timedelta(minutes=1)
    assert "ecret" not in repr(found)


def test_a_tool_result_in_evidence_is_named_by_its_reference(world: World) -> None:
    run = world.open()
    source = ObservedSource("tool://register", "tool", SEEN, "7")
    with world.unit() as unit:
        kept = observe(
            run.id,
            NewObservation(source, "long " * 9_000),
            unit=unit,
            bundle=world.bundle,
            chunker=SemanticChunker(world.tokens),
        )

    [observed] = [one for one in _read(world, run) if one.kind == "observation"]

    assert kept.evidence_id is not None
    assert observed.ref == f"evidence:{kept.evidence_id}"


def test_it_is_read_page_by_page_and_holds_no_other_run(world: World) -> None:
    run, other = world.open(), world.open()
    for version in range(1, 6):
        world.move(run, Transition.ADVANCE, version=version)
        world.move(other, Transition.ADVANCE, version=version)

    every = _read(world, run)

    assert len(every) == 6
    assert _read(world, run, limit=1) == _read(world, run, limit=4, who=AUDITOR) == every


def test_it_is_there_for_those_who_may_read_the_run(world: World) -> None:
    run = world.open()

    for who in (STRANGER, caller("operator-2", role=Role.OPERATOR, projects=())):
        with pytest.raises(NotFound):
            _read(world, run, who=who)
    assert AGENT.tenant_id != STRANGER.tenant_id


def test_every_verb_of_runs_records_what_it_does_under_the_run() -> None:
    calls = [
        (path.name, {keyword.arg: ast.unparse(keyword.value) for keyword in node.keywords})
        for path in EXECUTIONS.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "record"
    ]
    elsewhere = [
        (name, keywords["ref"])
        for name, keywords in calls
        if keywords["kind"] != "'execution'" or not keywords["ref"].endswith(("execution.id", "execution_id"))
    ]

    assert len(calls) >= 20
    assert elsewhere == []
