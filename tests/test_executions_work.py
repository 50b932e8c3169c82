"""Tasks and the log: what exists, what was done, and what a fresh session is told."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from conftest import FixedClock
from executions_world import COLLEAGUE, OPERATOR, OUTSIDER, STRANGER, USER, World, open_world

from service.core.database import Database
from service.core.errors import Invalid, NotFound, Stale
from service.executions.conversation.model import PinKind
from service.executions.handoff import Blocker, BlockerKind, compose_handoff, pending_action
from service.executions.ledger.model import EffectStatus
from service.executions.model import Execution, Transition
from service.executions.next_steps import write_next_steps
from service.executions.pin import set_pin
from service.executions.refusals import ActingUserOnly, OutputsMissing, TaskRemovalRefused
from service.executions.work.model import DeclaredTask, ExitStatus, Standing

READ = DeclaredTask("read-case", "Read the case file", ("file:case",), ("case-summary",))
DRAFT = DeclaredTask("draft", None, ("case-summary",), ("reply",))


@pytest.fixture
def world(database: Database, tmp_path: Path, clock: FixedClock) -> Iterator[World]:
    with open_world(database, tmp_path, clock) as world:
        yield world


def _planned(world: World) -> Execution:
    run = world.open(external_ref="order-app-42")
    return world.plan(run, READ, DRAFT, version=1)


def _standings(world: World, run: Execution) -> dict[str, Standing]:
    with world.store() as store:
        return {task.id: task.standing for task in store.tasks(run.id)}


def test_a_manifest_makes_a_version_and_keeps_its_order(world: World) -> None:
    run = _planned(world)
    again = world.plan(run, DRAFT, READ, version=2)

    with world.store() as store:
        found = store.tasks(run.id)
    assert (run.version, again.version) == (2, 3)
    assert [(task.id, task.title, task.inputs, task.outputs) for task in found] == [
        ("draft", None, ("case-summary",), ("reply",)),
        ("read-case", "Read the case file", ("file:case",), ("case-summary",)),
    ]


def test_an_old_manifest_is_stale_and_a_double_task_invalid(world: World) -> None:
    run = _planned(world)

    with pytest.raises(Stale):
        world.plan(run, READ, version=1)
    with pytest.raises(Invalid):
        world.plan(run, READ, READ, DRAFT, version=2)
    assert world.get(run).version == 2


def test_of_many_manifests_at_once_exactly_one_is_taken(world: World) -> None:
    run = world.open()

    def attempt(number: int) -> bool:
        try:
            world.plan(run, DeclaredTask(f"task-{number}"), version=1)
        except Stale:
            return False
        return True

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(attempt, range(8))) == 1
    assert len(_standings(world, run)) == 1


def test_an_agent_adds_tasks_and_its_user_may_remove_them(world: World) -> None:
    run = _planned(world)

    for fewer in ([READ], [READ, DeclaredTask("draft", outputs=())]):
        with pytest.raises(TaskRemovalRefused):
            world.plan(run, *fewer, version=2)
    world.plan(run, READ, version=2, who=USER)
    assert _standings(world, run) == {"read-case": Standing.PENDING}


def test_who_is_not_the_acting_user_neither_plans_nor_logs(world: World) -> None:
    run = _planned(world)

    for who, refusal in ((COLLEAGUE, ActingUserOnly), (OUTSIDER, NotFound), (STRANGER, NotFound)):
        with pytest.raises(refusal):
            world.plan(run, READ, DRAFT, version=2, who=who)
        with pytest.raises(refusal):
            world.step(run, "read-case", ExitStatus.STARTED, who=who)


def test_the_same_task_on_the_same_inputs_is_completed_once(world: World) -> None:
    run = _planned(world)
    first, is_new = world.step(
        run, "read-case", reads={"file:case": "v1"}, makes={"case-summary": "s1"}, summary="Case file read"
    )

    for status in ExitStatus:
        again, again_new = world.step(run, "read-case", status, reads={"file:case": "v1"})
        assert (again, again_new) == (first, False)
    with world.store() as store:
        assert store.steps(run.id) == [first]
    assert is_new


def test_a_completion_at_once_from_many_is_kept_once(world: World) -> None:
    run = _planned(world)

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: world.step(run, "read-case", makes={"case-summary": "s"}), range(8)))

    assert sum(is_new for _, is_new in found) == 1
    assert len({step.id for step, _ in found}) == 1


def test_changed_inputs_reopen_a_completed_task(world: World) -> None:
    run = _planned(world)
    world.step(run, "read-case", reads={"file:case": "v1"}, makes={"case-summary": "s1"})
    world.step(run, "draft", reads={"case-summary": "s1"}, makes={"reply": "r1"})

    world.step(run, "read-case", ExitStatus.STARTED, reads={"file:case": "v2"})
    reopened = _standings(world, run)
    world.step(run, "read-case", reads={"file:case": "v2"}, makes={"case-summary": "s2"})

    assert reopened == {"read-case": Standing.REOPENED, "draft": Standing.COMPLETED}
    assert _standings(world, run) == {"read-case": Standing.COMPLETED, "draft": Standing.REOPENED}


def test_a_completion_without_its_declared_outputs_is_refused(world: World) -> None:
    run = _planned(world)

    with pytest.raises(OutputsMissing) as refused:
        world.step(run, "read-case", makes={"other": "x"})
    assert refused.value.extra["missing"] == ["case-summary"]
    assert _standings(world, run)["read-case"] is Standing.PENDING
    assert world.step(run, "read-case", ExitStatus.FAILED)[1]
    assert world.step(run, "not-in-the-manifest")[1]


def test_steps_do_not_change_the_version(world: World) -> None:
    run = _planned(world)
    world.step(run, "read-case", ExitStatus.STARTED)

    assert world.get(run).version == 2


def test_a_fresh_session_is_told_all_it_needs(world: World) -> None:
    run = _planned(world)
    world.move(run, Transition.START, version=2, step=1, state={"next_action": "draft the reply"})
    world.step(run, "read-case", makes={"case-summary": "s1"}, summary="Case\nfile\tread.")
    world.intend(run, "a-known-one")
    world.settle(run, EffectStatus.DISPATCHED, EffectStatus.COMMITTED, operation="a-known-one")
    world.intend(run)
    world.settle(run, EffectStatus.DISPATCHED)
    with world.unit() as unit:
        pin = set_pin(
            run.id,
            kind=PinKind.BLOCKER,
            text="The register is down",
            turn_ids=[],
            unit=unit,
            bundle=world.bundle,
        )

    facts = world.facts(run)
    handoff, text = compose_handoff(facts), write_next_steps(facts)

    assert (handoff.revision, handoff.external_ref, handoff.completed) == (3, "order-app-42", ["read-case"])
    assert handoff.next_action == "draft the reply"
    assert [(task, output.name) for task, output in handoff.outputs] == [("read-case", "case-summary")]
    assert [effect.operation_id for effect in handoff.effects] == ["order-8", "a-known-one"]
    assert handoff.blockers == [
        Blocker(BlockerKind.EFFECT, "order-8", "outcome unknown (dispatched)"),
        Blocker(BlockerKind.PIN, pin.id, "The register is down"),
    ]
    assert [one.status for one in handoff.checks] == ["missing", "missing"]
    assert text == (
        f"Run order-app-42 (execution:{run.id}) is running, revision 3; 1 of 2 tasks done."
        f" Completed last: read-case (step:{facts.log[0].id}): Case file read."
        " Next: reconcile:order-8; then draft the reply. Outputs: case-summary (file:case-summary)."
        " Blocked by effect:order-8: outcome unknown (dispatched), to be reconciled before anything else;"
        f" pin:{pin.id}: The register is down."
    )


def test_the_next_steps_of_a_new_run_say_so_in_one_line(world: World) -> None:
    run = world.open()

    text = write_next_steps(world.facts(run))

    assert text == (
        f"Run {run.id} (execution:{run.id}) is open, revision 1; 0 of 0 tasks done."
        " Nothing is completed yet. Next: nothing is recorded. No outputs yet. Nothing blocks."
    )


def test_what_is_pending_is_decided_in_the_order_of_resuming(world: World) -> None:
    run = _planned(world)
    world.intend(run)
    world.settle(run, EffectStatus.DISPATCHED)
    found = [pending_action(world.facts(run))]
    world.settle(run, EffectStatus.COMMITTED)
    found.append(pending_action(world.facts(run)))
    world.step(run, "draft", ExitStatus.STARTED)
    found.append(pending_action(world.facts(run)))
    world.step(run, "read-case", makes={"case-summary": "s"})
    world.step(run, "draft", makes={"reply": "r"})
    found.append(pending_action(world.facts(run)))
    world.submit(run)
    found.append(pending_action(world.facts(run)))

    assert found == [
        "reconcile:order-8",
        "continue:read-case",
        "continue:draft",
        None,
        "verify:login",
    ]


def test_long_words_do_not_make_the_next_steps_long(world: World) -> None:
    run = world.open()
    world.move(run, Transition.START, version=1, state={"next_action": "find out " * 10_00})
    for number in range(40):
        world.step(run, f"task-{number}", makes={f"out-{number}": "x"}, summary="done " * 500)

    text = write_next_steps(world.facts(run))

    assert len(text) < 600
    assert "and 37 more" in text
    assert "\n" not in text


def test_an_operator_gets_the_handoff_without_text(world: World) -> None:
    run = _planned(world)
    world.move(run, Transition.START, version=2, state={"next_action": "secret action"})
    world.step(run, "read-case", makes={"case-summary": "s"}, summary="secret summary")
    world.say(run, "secret blocker", pin=PinKind.BLOCKER)

    facts = world.facts(run, OPERATOR)

    assert "secret" not in write_next_steps(facts) + str(compose_handoff(facts))
    assert compose_handoff(facts).next_action == "continue:draft"
    for who in (OUTSIDER, STRANGER):
        with pytest.raises(NotFound):
            world.facts(run, who)
