"""One worker at a time: leases, their tokens, and what is refused without the right one."""

import threading
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from conftest import FixedClock
from executions_world import ARTIFACT, COLLEAGUE, STRANGER, World, open_world
from resume_world import ask, take

from service.context.references import RecordReferences
from service.core.database import Database
from service.core.errors import NotFound
from service.executions.acceptance.model import FailureKind
from service.executions.lease import give_back, renew
from service.executions.leases.model import LEASE_LIFETIME, Lease, LeaseMode
from service.executions.leases.refusals import FencingTokenStale, LeaseLapsed, RecoveryOnly
from service.executions.ledger.model import EffectStatus
from service.executions.log_step import log_step
from service.executions.model import Budgets, Execution, Transition
from service.executions.refusals import ActingUserOnly, ReconciliationNeeded
from service.executions.resume import Resumption
from service.executions.submit import submit
from service.executions.work.model import ExitStatus, NewStep


@pytest.fixture
def world(database: Database, tmp_path: Path, clock: FixedClock) -> Iterator[World]:
    with open_world(database, tmp_path, clock) as opened:
        yield opened


def lease_of(resumed: Resumption) -> Lease:
    assert resumed.lease is not None
    return resumed.lease


def step(world: World, run: Execution, *, token: int | None) -> None:
    with world.unit(token=token) as unit:
        new = NewStep("read", ExitStatus.STARTED)
        log_step(run.id, new, unit=unit, bundle=world.bundle, references=RecordReferences)


def test_a_second_resume_gets_the_same_decision_and_no_lease(world: World) -> None:
    run = world.open()

    first = take(world, run)
    second = take(world, run)

    assert str(second.decision) == str(first.decision)
    assert second.lease is None
    assert second.leased_until == lease_of(first).expires_at


def test_while_a_lease_lives_a_write_without_its_token_is_refused(world: World) -> None:
    run = world.open()
    lease = lease_of(take(world, run))

    for token in (None, 0, lease.fencing_token + 1):
        with pytest.raises(FencingTokenStale):
            step(world, run, token=token)
    with pytest.raises(FencingTokenStale):
        world.move(run, Transition.START, version=1)

    step(world, run, token=lease.fencing_token)
    assert len(world.facts(run).log) == 1


def test_a_lapsed_lease_is_taken_over_with_a_higher_token_and_the_old_worker_is_fenced_off(
    world: World, clock: FixedClock
) -> None:
    run = world.open()
    old = lease_of(take(world, run))
    clock.advance(seconds=LEASE_LIFETIME.total_seconds())

    new = lease_of(take(world, run))

    assert new.fencing_token == old.fencing_token + 1
    with pytest.raises(FencingTokenStale):
        step(world, run, token=old.fencing_token)


def test_a_superseded_token_is_refused_also_when_no_lease_lives(world: World, clock: FixedClock) -> None:
    run = world.open()
    old = lease_of(take(world, run))
    clock.advance(seconds=120)
    newest = lease_of(take(world, run))
    clock.advance(seconds=120)

    with pytest.raises(FencingTokenStale):
        step(world, run, token=old.fencing_token)
    step(world, run, token=newest.fencing_token)
    step(world, run, token=None)


def test_the_holder_renews_and_gives_back(world: World, clock: FixedClock) -> None:
    run = world.open()
    lease = lease_of(take(world, run))
    clock.advance(seconds=100)

    with world.unit(token=lease.fencing_token) as unit:
        renewed = renew(run.id, unit=unit, lifetime=LEASE_LIFETIME)
    assert renewed.expires_at == clock() + LEASE_LIFETIME
    for _ in range(2):
        with world.unit(token=lease.fencing_token) as unit:
            give_back(run.id, unit=unit)

    assert lease_of(take(world, run)).fencing_token == lease.fencing_token + 1


def test_a_lease_is_renewed_by_its_own_token_while_it_lives_and_by_nobody_else(
    world: World, clock: FixedClock
) -> None:
    run = world.open()
    with pytest.raises(LeaseLapsed), world.unit(token=1) as unit:
        renew(run.id, unit=unit, lifetime=LEASE_LIFETIME)
    lease = lease_of(take(world, run))

    with pytest.raises(FencingTokenStale), world.unit() as unit:
        renew(run.id, unit=unit, lifetime=LEASE_LIFETIME)
    with pytest.raises(FencingTokenStale), world.unit(token=7) as unit:
        give_back(run.id, unit=unit)
    with pytest.raises(ActingUserOnly), world.unit(COLLEAGUE, token=lease.fencing_token) as unit:
        renew(run.id, unit=unit, lifetime=LEASE_LIFETIME)
    with pytest.raises(NotFound), world.unit(STRANGER, token=lease.fencing_token) as unit:
        give_back(run.id, unit=unit)
    clock.advance(seconds=120)
    with pytest.raises(LeaseLapsed), world.unit(token=lease.fencing_token) as unit:
        renew(run.id, unit=unit, lifetime=LEASE_LIFETIME)


def test_under_a_recovery_lease_nothing_new_is_done_outside(world: World) -> None:
    run = world.open()
    world.intend(run, "order-7")
    world.intend(run, "order-8")
    world.settle(run, EffectStatus.DISPATCHED, operation="order-8")
    lease = lease_of(take(world, run))
    assert lease.mode is LeaseMode.RECOVERY

    with pytest.raises(RecoveryOnly):
        world.intend(run, "order-9", token=lease.fencing_token)
    with pytest.raises(RecoveryOnly):
        world.settle(run, EffectStatus.DISPATCHED, operation="order-7", token=lease.fencing_token)

    world.settle(run, EffectStatus.COMMITTED, operation="order-8", token=lease.fencing_token)
    full = lease_of(take(world, run, token=lease.fencing_token))
    assert (full.mode, full.fencing_token) == (LeaseMode.FULL, lease.fencing_token)
    world.settle(run, EffectStatus.DISPATCHED, operation="order-7", token=full.fencing_token)


def test_a_recovery_lease_that_has_lapsed_lets_its_worker_do_nothing_new_outside(
    world: World, clock: FixedClock
) -> None:
    run = world.open()
    world.intend(run)
    world.settle(run, EffectStatus.DISPATCHED)
    lease = lease_of(take(world, run))
    clock.advance(seconds=120)

    with pytest.raises(RecoveryOnly):
        world.intend(run, "order-9", token=lease.fencing_token)


def test_who_takes_over_says_nothing_of_what_was_dispatched_before(world: World, clock: FixedClock) -> None:
    run = world.open()
    world.intend(run)
    world.settle(run, EffectStatus.DISPATCHED)
    clock.advance(seconds=1)
    token = lease_of(take(world, run)).fencing_token

    for outcome in (EffectStatus.COMMITTED, EffectStatus.FAILED):
        with pytest.raises(ReconciliationNeeded):
            world.settle(run, outcome, token=token)
    assert world.settle(run, EffectStatus.UNKNOWN, token=token).status is EffectStatus.UNKNOWN


def test_of_many_resumes_at_once_one_gets_the_lease(world: World) -> None:
    run = world.open()
    start, answers = threading.Barrier(8), []

    def go_on() -> None:
        start.wait()
        answers.append(ask(world, run))

    workers = [threading.Thread(target=go_on) for _ in range(8)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()

    leases = [one.lease for one in answers if isinstance(one, Resumption) and one.lease is not None]
    assert len(answers) == 8
    assert [lease.fencing_token for lease in leases] == [1]
    assert leases[0].expires_at - leases[0].taken_at == timedelta(seconds=120)


def test_where_nobody_gets_a_lease_the_one_that_lives_is_told(world: World) -> None:
    run = world.open(budgets=Budgets(revisions=0))
    held = lease_of(take(world, run))
    with world.unit(token=held.fencing_token) as unit:
        submit(run.id, ARTIFACT, unit=unit)
    failed = {"expected": "it", "observed": "not it", "reproduce": "look", "failure_kind": FailureKind.OTHER}
    world.grade(run, passed=False, environment={}, **failed)

    passer_by = take(world, run, artifact_hash=ARTIFACT)
    holder = take(world, run, token=held.fencing_token, artifact_hash=ARTIFACT)

    assert str(passer_by.decision) == str(holder.decision) == "escalate:login"
    assert (passer_by.lease, passer_by.leased_until) == (None, held.expires_at)
    assert (holder.lease, holder.leased_until) == (None, None)
    assert world.facts(run).lease is None
