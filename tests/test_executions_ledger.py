"""Observations and effects: what a run saw and did."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from conftest import FixedClock
from executions_world import (
    BUNDLE,
    COLLEAGUE,
    LONE_AGENT,
    OPERATOR,
    OUTSIDER,
    SEEN,
    STRANGER,
    World,
    open_world,
)

from service.adapters.chunker import SemanticChunker
from service.core.database import Database
from service.core.errors import Invalid, NotFound
from service.core.hashing import hash_text
from service.evidence.get import read_text
from service.executions.ledger.model import EffectStatus, NewObservation, Observation, ObservedSource
from service.executions.model import Execution, Status, Transition
from service.executions.observe import observe
from service.executions.refusals import (
    ActingUserOnly,
    ApprovalNeeded,
    CapabilityMissing,
    EffectBackwards,
    EffectNotAllowed,
    EffectUnknown,
    OperationTaken,
    ReconciliationNeeded,
)
from service.identity.model import Caller
from service.policies.model import Bundle
from service.policies.words import Authority, Trust


@pytest.fixture
def world(database: Database, tmp_path: Path, clock: FixedClock) -> Iterator[World]:
    with open_world(database, tmp_path, clock) as world:
        yield world


def _observe(
    world: World, run: Execution, content: str, *, uri: str = "tool://register", who: Caller = LONE_AGENT
) -> Observation:
    new = NewObservation(ObservedSource(uri, "tool", SEEN, "7"), content, summary="plot 18 is there")
    with world.unit(who) as unit:
        return observe(run.id, new, unit=unit, bundle=world.bundle, chunker=SemanticChunker(world.tokens))


def test_a_small_result_is_kept_in_the_run(world: World) -> None:
    run = world.open(LONE_AGENT)

    kept = _observe(world, run, '{"plot": 18}')

    with world.store(LONE_AGENT) as store:
        assert store.observations(run.id, last=5) == [kept]
        assert store.find_observation(kept.id) == kept
    assert (kept.content, kept.evidence_id, kept.sha256) == ('{"plot": 18}', None, hash_text('{"plot": 18}'))
    assert (kept.trust, kept.authority, kept.limited) == (Trust.INTERNAL_TOOL, Authority.TOOL_RESULT, False)


def test_a_large_result_goes_to_evidence_and_two_of_one_tool_do_not_supersede_each_other(
    world: World,
) -> None:
    run = world.open(LONE_AGENT)
    texts = [f"plot {number} has consent. " * 1_000 for number in (18, 19)]

    kept = [_observe(world, run, text) for text in texts]

    assert [one.content for one in kept] == [None, None]
    for one, text in zip(kept, texts, strict=True):
        assert one.evidence_id is not None
        with world.unit(LONE_AGENT) as unit:
            assert read_text(one.evidence_id, unit=unit).text == text


def test_a_source_that_nobody_vouches_for_is_not_believed(world: World) -> None:
    run = world.open(LONE_AGENT)

    kept = _observe(world, run, "free money", uri="https://example.org/")

    assert (kept.trust, kept.authority, kept.limited) == (Trust.THIRD_PARTY, Authority.DOCUMENT, True)


def test_observations_of_others_do_not_exist_and_text_is_not_an_operators(world: World) -> None:
    run = world.open(LONE_AGENT)
    kept = _observe(world, run, "secret")

    for who in (OUTSIDER, STRANGER):
        with pytest.raises(NotFound):
            _observe(world, run, "x", who=who)
        with world.store(who) as store:
            assert store.find_observation(kept.id) is None
    with pytest.raises(ActingUserOnly):
        _observe(world, run, "x", who=COLLEAGUE)
    with world.store(OPERATOR) as store:
        [seen] = store.observations(run.id, last=5)
    assert (seen.content, seen.summary, seen.source.uri) == (None, None, "")


def test_an_intent_is_written_once_and_its_id_stands_for_that_request(world: World) -> None:
    run = world.open()
    first, is_new = world.intend(run, sku="A1", quantity=2**63 - 1)

    again, again_new = world.intend(run, quantity=2**63 - 1, sku="A1")

    assert (is_new, again, again_new) == (True, first, False)
    with pytest.raises(OperationTaken):
        world.intend(run, sku="A2")
    with pytest.raises(OperationTaken):
        world.intend(run, kind="orders.cancel", sku="A1", quantity=2**63 - 1)


def test_of_many_intents_at_once_one_is_new(world: World) -> None:
    run = world.open()

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: world.intend(run, sku="A1")[1], range(8)))

    assert sum(found) == 1


def test_an_effect_only_moves_forwards(world: World) -> None:
    run = world.open()
    world.intend(run)
    with pytest.raises(EffectBackwards):
        world.settle(run, EffectStatus.COMMITTED)
    world.settle(run, EffectStatus.DISPATCHED, EffectStatus.COMMITTED, EffectStatus.COMMITTED)

    for back in (EffectStatus.DISPATCHED, EffectStatus.FAILED, EffectStatus.UNKNOWN):
        with pytest.raises(EffectBackwards):
            world.settle(run, back)
    with pytest.raises(NotFound):
        world.settle(run, EffectStatus.DISPATCHED, operation="never-intended")


def test_no_word_of_the_agent_settles_an_unknown_effect(world: World) -> None:
    run = world.open()
    world.intend(run)
    world.settle(run, EffectStatus.DISPATCHED, EffectStatus.UNKNOWN)

    for status in (EffectStatus.COMMITTED, EffectStatus.FAILED, EffectStatus.DISPATCHED):
        with pytest.raises(ReconciliationNeeded):
            world.settle(run, status)


def test_the_policy_says_who_may_do_what(world: World) -> None:
    run, own = world.open(), world.open(LONE_AGENT)

    with pytest.raises(ApprovalNeeded):
        world.intend(run, kind="payments.transfer")
    with pytest.raises(CapabilityMissing):
        world.intend(run, kind="launches.rocket")
    assert world.intend(own, kind="launches.rocket", who=LONE_AGENT)[1]


def test_the_policy_is_asked_again_at_dispatch(world: World) -> None:
    run = world.open()
    world.intend(run)
    world.bundle = Bundle(version="none", retention=BUNDLE.retention)

    with pytest.raises(EffectNotAllowed):
        world.settle(run, EffectStatus.DISPATCHED)
    assert world.settle(run, EffectStatus.FAILED).status is EffectStatus.FAILED


def test_waiting_on_an_unknown_effect_waits_for_reconciliation(world: World) -> None:
    run = world.open()
    world.intend(run)
    world.settle(run, EffectStatus.DISPATCHED)

    waiting = world.move(run, Transition.WAIT, version=1)
    with pytest.raises(EffectUnknown):
        world.move(run, Transition.ADVANCE, version=2)
    world.settle(run, EffectStatus.COMMITTED)
    going_on = world.move(run, Transition.ADVANCE, version=2)

    assert (waiting.status, going_on.status) == (Status.WAITING_RECONCILIATION, Status.RUNNING)


def test_an_approval_that_is_not_there_is_not_taken(world: World) -> None:
    run = world.open()

    with pytest.raises(Invalid):
        world.intend(run, approval_id="01936d7e-0000-7000-8000-00000000aaaa")
