"""Pure rules of runs: complete tables, standings derived from the log, money, requirements."""

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.core.hashing import hash_text
from service.executions.ledger.model import EffectStatus
from service.executions.ledger.rules import EFFECT_NEXT, is_large
from service.executions.model import Requirement, Status, Transition
from service.executions.money import MICROS_MAX, from_micros, to_micros
from service.executions.rules import CAN_COMPLETE, CAN_EXPIRE, ENDED, NEXT, hash_contract, references_of
from service.executions.sealed import stable_json
from service.executions.work.model import DeclaredTask, ExitStatus, Input, Output, Standing, Step
from service.executions.work.rules import completed_key, count_tasks, derive_tasks, next_task, taken_away

NOW = datetime(2026, 11, 30, 10, 0, tzinfo=UTC)
READ = DeclaredTask("read", inputs=("file:case",), outputs=("summary",))
DRAFT = DeclaredTask("draft", inputs=("summary",), outputs=("reply",))


def _log(*lines: tuple[str, ExitStatus, dict[str, str], dict[str, str]]) -> Sequence[Step]:
    return [
        Step(
            id=str(number),
            execution_id="run",
            sequence=number,
            task_id=task,
            exit_status=status,
            inputs=[Input(ref, hash_text(text)) for ref, text in reads.items()],
            outputs=[Output(name, f"file:{name}", hash_text(text)) for name, text in makes.items()],
            summary=None,
            at=NOW,
        )
        for number, (task, status, reads, makes) in enumerate(lines, start=1)
    ]


def _standings(*lines: tuple[str, ExitStatus, dict[str, str], dict[str, str]]) -> list[Standing]:
    return [task.standing for task in derive_tasks([READ, DRAFT], _log(*lines))]


def test_every_status_says_where_it_leads_and_ended_ones_lead_nowhere() -> None:
    assert {status for status in Status if not NEXT[status]} == ENDED
    assert set(Status) == ENDED | CAN_EXPIRE
    assert not CAN_COMPLETE & ENDED


def test_no_transition_says_completed() -> None:
    targets = {target for moves in NEXT.values() for target in moves.values()}

    assert targets.isdisjoint({Status.COMPLETED, Status.CANCELLED, Status.EXPIRED})
    assert NEXT[Status.FAILED] == {Transition.RETRY: Status.RUNNING}


def test_no_effect_returns_to_where_it_was() -> None:
    def reach(status: EffectStatus) -> set[EffectStatus]:
        return {status}.union(*(reach(after) for after in EFFECT_NEXT[status]))

    for status in EffectStatus:
        for after in EFFECT_NEXT[status]:
            assert status not in reach(after)


def test_a_task_goes_from_pending_over_started_to_completed() -> None:
    read = ("read", ExitStatus.STARTED, {}, {})
    done = ("read", ExitStatus.COMPLETED, {"file:case": "v1"}, {"summary": "s1"})

    assert _standings() == [Standing.PENDING, Standing.PENDING]
    assert _standings(read) == [Standing.STARTED, Standing.PENDING]
    assert _standings(read, done) == [Standing.COMPLETED, Standing.PENDING]
    assert _standings(read, ("read", ExitStatus.FAILED, {}, {})) == [Standing.FAILED, Standing.PENDING]


def test_a_start_on_changed_inputs_reopens_a_completed_task() -> None:
    done = ("read", ExitStatus.COMPLETED, {"file:case": "v1"}, {"summary": "s1"})
    again = ("read", ExitStatus.STARTED, {"file:case": "v2"}, {})

    assert _standings(done, again)[0] is Standing.REOPENED


@pytest.mark.parametrize("recorded", [{}, {"summary": "s1"}, {"file:summary": "s1"}])
def test_a_new_output_reopens_the_task_that_read_the_old_one(recorded: dict[str, str]) -> None:
    first = ("read", ExitStatus.COMPLETED, {"file:case": "v1"}, {"summary": "s1"})
    draft = ("draft", ExitStatus.COMPLETED, recorded, {"reply": "r1"})
    second = ("read", ExitStatus.COMPLETED, {"file:case": "v2"}, {"summary": "s2"})
    same = ("read", ExitStatus.COMPLETED, {"file:case": "v3"}, {"summary": "s1"})

    assert _standings(first, draft) == [Standing.COMPLETED, Standing.COMPLETED]
    assert _standings(first, draft, second) == [Standing.COMPLETED, Standing.REOPENED]
    assert _standings(first, draft, same) == [Standing.COMPLETED, Standing.COMPLETED]


def test_a_task_that_rewrites_its_own_input_is_not_reopened_by_itself() -> None:
    polish = DeclaredTask("polish", inputs=("reply",), outputs=("reply",))
    log = _log(("polish", ExitStatus.COMPLETED, {"reply": "r1"}, {"reply": "r2"}))

    assert derive_tasks([polish], log)[0].standing is Standing.COMPLETED


def test_tasks_that_wait_for_anothers_output_are_blocked() -> None:
    begun = derive_tasks([READ, DRAFT], _log())
    done = derive_tasks([READ, DRAFT], _log(("read", ExitStatus.COMPLETED, {}, {"summary": "s"})))

    assert (count_tasks(begun).done, count_tasks(begun).open, count_tasks(begun).blocked) == (0, 1, 1)
    assert (count_tasks(done).done, count_tasks(done).open, count_tasks(done).blocked) == (1, 1, 0)
    assert [task and task.id for task in (next_task(begun), next_task(done), next_task([]))] == [
        "read",
        "draft",
        None,
    ]


def test_the_order_of_inputs_does_not_matter_and_their_hashes_do() -> None:
    a, b = Input("a", hash_text("1")), Input("b", hash_text("2"))

    assert completed_key("t", [a, b]) == completed_key("t", [b, a, a])
    assert completed_key("t", [a]) != completed_key("t", [Input("a", hash_text("2"))])
    assert completed_key("t", [a]) != completed_key("u", [a])


def test_dropping_a_declared_output_counts_as_taking_away() -> None:
    assert taken_away([READ, DRAFT], [DRAFT]) == ["read"]
    assert taken_away([READ], [DeclaredTask("read", outputs=())]) == ["read"]
    assert taken_away([READ], [DRAFT, DeclaredTask("read", outputs=("summary", "more"))]) == []


def test_a_contract_hash_does_not_depend_on_what_is_left_open() -> None:
    plain = Requirement("login", "Login works")

    assert hash_contract("o", [plain]) == hash_contract("o", [Requirement("login", "Login works", None, ())])
    assert hash_contract("o", [plain]) != hash_contract("o", [Requirement("login", "Login works", "browser")])
    assert hash_contract("o", [plain]) != hash_contract("p", [plain])


@pytest.mark.parametrize("found", ["evidence:1", [1], [""], ["a b"], ["a\u2028"], ["x" * 501], [["a"]], {}])
def test_what_is_no_list_of_references_is_not_taken_for_one(found: object) -> None:
    assert references_of({"derived_from": found}) is None


def test_a_state_without_references_has_none() -> None:
    assert references_of(None) == references_of({}) == []
    assert references_of({"derived_from": ["evidence:1"]}) == ["evidence:1"]


@given(st.integers(0, MICROS_MAX))
def test_money_comes_back_exactly(micros: int) -> None:
    assert to_micros(from_micros(micros)) == micros


@pytest.mark.parametrize(
    ("micros", "shown"), [(0, "0.00"), (5_000_000, "5.00"), (120_000, "0.12"), (1, "0.000001")]
)
def test_money_is_shown_with_two_places_or_more(micros: int, shown: str) -> None:
    assert str(from_micros(micros)) == shown
    assert from_micros(micros) == Decimal(shown)


@given(
    st.recursive(
        st.none()
        | st.booleans()
        | st.integers(-(2**63), 2**63 - 1)
        | st.floats(allow_nan=False, allow_infinity=False)
        | st.text(),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
        max_leaves=8,
    )
)
def test_json_is_written_the_same_way_and_read_back(value: object) -> None:
    written = stable_json(value)

    assert json.loads(written) == value
    assert stable_json(json.loads(written)) == written


def test_a_result_is_large_by_tokens_or_by_bytes() -> None:
    assert not is_large("a", 2_000)
    assert is_large("a", 2_001)
    assert is_large("é" * (16 * 1024 + 1), 1)
