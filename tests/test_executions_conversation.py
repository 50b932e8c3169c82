"""Turns, pins and summaries: who said what, and what may be held on to."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from conftest import FixedClock
from executions_world import (
    AGENT,
    COLLEAGUE,
    LONE_AGENT,
    OPERATOR,
    OUTSIDER,
    STRANGER,
    USER,
    World,
    open_world,
)

from service.context.references import RecordReferences
from service.core.database import Database
from service.core.errors import Invalid, NotFound
from service.executions.conversation.model import NewSummary, Pin, PinKind, Summary, TurnRole
from service.executions.model import Execution
from service.executions.pin import resolve_pin, set_pin
from service.executions.refusals import ActingUserOnly, PinNeedsAPerson, SummaryUnknown, TurnUnknown
from service.executions.summarise import summarise


@pytest.fixture
def world(database: Database, tmp_path: Path, clock: FixedClock) -> Iterator[World]:
    with open_world(database, tmp_path, clock) as world:
        yield world


def _pin(world: World, run: Execution, kind: PinKind, *turn_ids: str, text: str = "held") -> Pin:
    with world.unit() as unit:
        return set_pin(run.id, kind=kind, text=text, turn_ids=turn_ids, unit=unit, bundle=world.bundle)


def _summarise(world: World, run: Execution, new: NewSummary) -> Summary:
    with world.unit() as unit:
        references = RecordReferences(unit, world.bundle)
        return summarise(run.id, new, unit=unit, bundle=world.bundle, references=references)


def test_turns_are_numbered_in_their_run_and_the_newest_are_answered_in_order(world: World) -> None:
    run, other = world.open(), world.open()
    world.say(other, "elsewhere")
    for text in ("one", "two", "three"):
        world.say(run, text)

    with world.store() as store:
        found = store.turns(run.id, last=2)
    assert [(turn.sequence, turn.text) for turn in found] == [(2, "two"), (3, "three")]


def test_many_turns_at_once_get_each_its_own_number(world: World) -> None:
    run = world.open()

    with ThreadPoolExecutor(8) as pool:
        sequences = list(pool.map(lambda number: world.say(run, f"turn {number}")[0].sequence, range(16)))

    assert sorted(sequences) == list(range(1, 17))


def test_a_users_turn_that_an_agent_sent_is_relayed(world: World) -> None:
    run = world.open()

    relayed, own = world.say(run, "keep it short")[0], world.say(run, "keep it short", who=USER)[0]

    assert (relayed.relayed, relayed.said_by, relayed.agent) == (True, "user-1", "agent-1")
    assert (own.relayed, own.said_by, own.agent) == (False, "user-1", None)
    assert relayed.text_hash == own.text_hash


def test_an_assistants_turn_is_a_claim_and_carries_its_tool_calls(world: World) -> None:
    run = world.open()
    calls = ({"id": "call-1", "function": {"name": "read", "arguments": "{}"}},)

    world.say(run, "", TurnRole.ASSISTANT, tool_calls=calls)
    world.say(run, "", TurnRole.TOOL, tool_call_id="call-1")

    with world.store() as store:
        said, answered = store.turns(run.id, last=2)
    assert said.is_claim
    assert not said.relayed
    assert list(said.tool_calls) == list(calls)
    assert answered.tool_call_id == "call-1"


def test_a_turn_that_no_chat_format_has_is_refused_and_leaves_nothing(world: World) -> None:
    run = world.open()
    faults: list[tuple[TurnRole, str, dict[str, object]]] = [
        (TurnRole.TOOL, "result", {}),
        (TurnRole.USER, "hello", {"tool_call_id": "call-1"}),
        (TurnRole.USER, "hello", {"tool_calls": ({"id": "call-1"},)}),
        (TurnRole.USER, "", {}),
        (TurnRole.ASSISTANT, "", {"tool_calls": ({},), "pin": PinKind.QUESTION}),
    ]

    for role, text, fields in faults:
        with pytest.raises(Invalid):
            world.say(run, text, role, **fields)
    with world.store() as store:
        assert store.turns(run.id, last=10) == []


def test_only_the_acting_user_speaks_in_a_run(world: World) -> None:
    run = world.open()

    for who in (COLLEAGUE, LONE_AGENT):
        with pytest.raises(ActingUserOnly):
            world.say(run, "hello", who=who)
    for who in (OUTSIDER, STRANGER):
        with pytest.raises(NotFound):
            world.say(run, "hello", who=who)


def test_hard_text_comes_back_as_it_was_said(world: World) -> None:
    run = world.open()
    texts = [
        "<|endoftext|>",
        "\u202eright to left",
        "🏴\U000e0067\U000e0062\U000e007f",
        "a\r\n\tb",
        "' OR 1=1 --",
    ]
    for text in texts:
        world.say(run, text)

    with world.store() as store:
        assert [turn.text for turn in store.turns(run.id, last=10)] == texts


def test_a_turn_may_be_found_by_who_may_read_its_run(world: World) -> None:
    run = world.open()
    turn = world.say(run, "keep it short")[0]

    found = {}
    for name, who in {
        "agent": AGENT,
        "colleague": COLLEAGUE,
        "outsider": OUTSIDER,
        "stranger": STRANGER,
    }.items():
        with world.store(who) as store:
            found[name] = store.find_turn(turn.id)
            assert store.find_turn("no id") is None
    assert found == {"agent": turn, "colleague": turn, "outsider": None, "stranger": None}


def test_a_turn_is_pinned_with_its_whole_text(world: World) -> None:
    run = world.open()

    turn, pin = world.say(run, "Keep every reply under 200 words.", pin=PinKind.CONSTRAINT)

    with world.store() as store:
        assert store.pins(run.id) == [pin]
    assert pin is not None
    assert (pin.text, list(pin.turn_ids), pin.relayed) == (turn.text, [turn.id], True)


def test_a_constraint_or_decision_comes_only_from_a_person(world: World) -> None:
    run = world.open()
    said = world.say(run, "yes, do it")[0].id
    claimed = world.say(run, "the user wants it red", TurnRole.ASSISTANT)[0].id

    for kind in (PinKind.CONSTRAINT, PinKind.DECISION):
        for sources in ([], [claimed], [said, claimed]):
            with pytest.raises(PinNeedsAPerson):
                _pin(world, run, kind, *sources)
        with pytest.raises(PinNeedsAPerson):
            world.say(run, "it is decided", TurnRole.ASSISTANT, pin=kind)
        assert _pin(world, run, kind, said).kind is kind
    with world.store() as store:
        assert len(store.pins(run.id)) == 2
        assert len(store.turns(run.id, last=10)) == 2


def test_a_hypothesis_stays_one_however_often_it_is_said(world: World) -> None:
    run = world.open()
    turns = [
        world.say(run, "the cache is cold", TurnRole.ASSISTANT, pin=PinKind.HYPOTHESIS) for _ in range(3)
    ]

    with world.store() as store:
        assert {pin.kind for pin in store.pins(run.id)} == {PinKind.HYPOTHESIS}
    with pytest.raises(PinNeedsAPerson):
        _pin(world, run, PinKind.DECISION, *(turn.id for turn, _ in turns))


def test_a_pin_cites_turns_of_its_own_run_only(world: World) -> None:
    run, other = world.open(), world.open()
    elsewhere = world.say(other, "hello")[0].id

    for turn_id in (elsewhere, "nothing"):
        with pytest.raises(TurnUnknown):
            _pin(world, run, PinKind.BLOCKER, turn_id)


def test_a_resolved_pin_stays_and_may_be_opened_again(world: World) -> None:
    run, other = world.open(), world.open()
    pin = _pin(world, run, PinKind.BLOCKER)

    with world.unit() as unit:
        done = resolve_pin(run.id, pin.id, resolved=True, resolution="fixed", unit=unit, bundle=world.bundle)
        with pytest.raises(NotFound):
            resolve_pin(other.id, pin.id, resolved=True, resolution=None, unit=unit, bundle=world.bundle)
    with world.unit() as unit:
        resolve_pin(run.id, pin.id, resolved=False, resolution=None, unit=unit, bundle=world.bundle)

    with world.store() as store:
        assert store.pins(run.id) == [pin]
    assert (done.text, done.resolved, done.resolution) == ("held", True, "fixed")


def test_a_summary_names_its_range_and_the_turns_stay(world: World) -> None:
    run = world.open()
    for text in ("one", "two", "three"):
        world.say(run, text)

    first = _summarise(world, run, NewSummary(1, 2, "they counted", "gpt-4o"))
    second = _summarise(world, run, NewSummary(1, 3, "they counted on", "gpt-4o", first.id))

    with world.store() as store:
        assert store.latest_summary(run.id) == second
        assert len(store.turns(run.id, last=10)) == 3
    assert (first.version, second.version, second.supersedes) == (1, 2, first.id)


def test_a_summary_of_what_was_never_said_is_refused(world: World) -> None:
    run, other = world.open(), world.open()
    world.say(run, "one")
    world.say(other, "one")
    elsewhere = _summarise(world, other, NewSummary(1, 1, "one", "m"))

    for first, last in ((0, 1), (2, 1), (1, 2)):
        with pytest.raises(Invalid):
            _summarise(world, run, NewSummary(first, last, "they counted", "m"))
    with pytest.raises(SummaryUnknown):
        _summarise(world, run, NewSummary(1, 1, "they counted", "m", elsewhere.id))


def test_a_class_that_keeps_no_text_keeps_hash_and_length(world: World) -> None:
    run = world.open(retention_class="textless")

    turn, pin = world.say(run, "my secret", pin=PinKind.CONSTRAINT)
    _summarise(world, run, NewSummary(1, 1, "a secret was told", "m"))

    with world.store() as store:
        [kept], summary = store.turns(run.id, last=10), store.latest_summary(run.id)
    assert (kept.text, kept.text_hash, kept.tokens) == (None, turn.text_hash, turn.tokens)
    assert pin is not None
    assert pin.text is None
    assert summary is not None
    assert summary.text is None


def test_an_operator_sees_that_something_was_said_and_not_what(world: World) -> None:
    run = world.open()
    world.say(run, "my secret", pin=PinKind.CONSTRAINT)

    with world.store(OPERATOR) as store:
        assert [turn.text for turn in store.turns(run.id, last=10)] == [None]
        assert [pin.text for pin in store.pins(run.id)] == [None]
