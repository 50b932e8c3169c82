"""Every fault that an interrupted agent can have is found and named; a good recovery is not blamed."""

from decimal import Decimal

import pytest
from rehearse_world import STEADY, Line, expectation_of, in_session, outcome_of

from service.entry.rehearse.compare import added, compare, judge_alone, judge_baseline
from service.entry.rehearse.model import ActKind, Code, Ending, Fate, LedgerEntry, Order, Outcome


def codes_of(outcome: Outcome, **expected: object) -> set[Code]:
    return {finding.code for finding in compare(outcome, expectation_of(**expected))}  # type: ignore[arg-type]


def test_an_uninterrupted_run_is_as_good_as_itself() -> None:
    assert codes_of(outcome_of()) == set()


def test_work_in_flight_may_be_done_again() -> None:
    lines: list[Line] = [
        *STEADY[:2],
        (1, ActKind.COMPLETED, "draft", Fate.CUT_BEFORE),
        (2, ActKind.STARTED, "draft"),
        (2, ActKind.PACKAGE, "for draft"),
        *in_session(2, STEADY[2:]),
    ]

    assert codes_of(outcome_of(lines)) == set()


def test_a_report_whose_answer_never_came_may_be_sent_again() -> None:
    lines: list[Line] = [
        *STEADY[:2],
        (1, ActKind.COMPLETED, "draft", Fate.CUT_AFTER),
        *in_session(2, STEADY[2:]),
    ]

    assert codes_of(outcome_of(lines)) == set()


def test_a_finished_task_that_is_begun_again_is_redone_work() -> None:
    lines: list[Line] = [
        *STEADY[:8],
        (2, ActKind.STARTED, "draft"),
        (2, ActKind.COMPLETED, "draft"),
        STEADY[8],
    ]

    found = compare(outcome_of(lines), expectation_of())

    assert {finding.code for finding in found} == {Code.REDONE_WORK}
    assert "draft again after its completion, 2 times" in found[0].message


def test_redone_work_that_uninterrupted_runs_do_too_is_no_finding() -> None:
    lines = [*STEADY[:8], STEADY[0], STEADY[8]]

    assert compare(outcome_of(lines), expectation_of(outcome_of(lines))) == ()


def test_a_call_whose_result_was_kept_is_not_made_again() -> None:
    kept: list[Line] = [(1, ActKind.OBSERVATION, "tool://a x"), *STEADY]
    again: list[Line] = [*kept[:3], (2, ActKind.OBSERVATION, "tool://a x"), *kept[3:]]
    expected = expectation_of(outcome_of(kept))

    assert {one.code for one in compare(outcome_of(again), expected)} == {Code.REPEATED_CALL}
    allowed = expectation_of(outcome_of(kept), repeated_calls_max=1)
    assert compare(outcome_of(again), allowed) == ()


def test_a_task_left_undone_under_a_claim_is_skipped_work() -> None:
    outcome = outcome_of(tasks={"draft": "started", "order": "completed"})

    assert codes_of(outcome) == {Code.SKIPPED_WORK}


def test_a_task_that_is_reported_without_its_work_is_skipped_work() -> None:
    lines: list[Line] = [
        *STEADY[:2],
        (2, ActKind.COMPLETED, "draft"),
        *in_session(2, STEADY[3:]),
    ]
    outcome = outcome_of(lines, outputs={"draft/text": "sha256:made-up"})

    assert codes_of(outcome) == {Code.SKIPPED_WORK, Code.OUTPUT_DIFFERS}


def test_a_task_whose_work_was_kept_and_whose_result_is_made_up_is_skipped_work() -> None:
    lines: list[Line] = [*STEADY[:7], (2, ActKind.COMPLETED, "order"), STEADY[8]]
    outcome = outcome_of(lines, outputs={"draft/text": "sha256:d", "order/slip": "sha256:made-up"})

    found = compare(
        outcome, expectation_of(outcome_of(outputs={"draft/text": "sha256:d", "order/slip": "sha256:o"}))
    )

    assert [one.message for one in found if one.code is Code.SKIPPED_WORK] == [
        "task order is completed without its work"
    ]


def test_lost_work_that_was_found_and_verified_is_not_skipped() -> None:
    lines = [*STEADY[:2], *in_session(2, STEADY[2:])]

    assert codes_of(outcome_of(lines)) == set()


@pytest.mark.parametrize(
    ("changes", "place"),
    [
        ({"files": {"draft.md": "sha256:other"}}, "file draft.md"),
        ({"files": {"draft.md": "sha256:d", "more.md": "sha256:m"}}, "file more.md"),
        ({"outputs": {"draft/text": "sha256:other"}}, "run output draft/text"),
        ({"artifact_hash": "sha256:other"}, "candidate artifact"),
    ],
)
def test_an_output_unlike_every_uninterrupted_one_differs(changes: dict[str, object], place: str) -> None:
    [finding] = compare(outcome_of(**changes), expectation_of())

    assert (finding.code, finding.message) == (Code.OUTPUT_DIFFERS, place)


def test_an_output_like_one_of_several_uninterrupted_ones_does_not_differ() -> None:
    other = {"draft.md": "sha256:other"}

    assert compare(outcome_of(files=other), expectation_of(outcome_of(), outcome_of(files=other))) == ()


def test_an_output_that_is_gone_is_missing() -> None:
    assert codes_of(outcome_of(files={})) == {Code.OUTPUT_MISSING}


def test_an_order_carried_out_twice_is_a_duplicate() -> None:
    twice = (Order("op-1", "orders x"), Order("op-1", "orders x"))

    [finding] = compare(outcome_of(orders=twice), expectation_of())

    assert finding.code is Code.DUPLICATE_EFFECT
    assert "2 times" in finding.message


def test_an_order_repeated_under_another_name_is_a_duplicate_downstream_and_in_the_ledger() -> None:
    outcome = outcome_of(
        orders=(Order("op-1", "orders x"), Order("op-2", "orders x")),
        ledger=(
            LedgerEntry("op-1", "committed", "orders.create x"),
            LedgerEntry("op-2", "committed", "orders.create x"),
        ),
    )

    found = compare(outcome, expectation_of())

    assert [finding.code for finding in found] == [Code.DUPLICATE_EFFECT, Code.DUPLICATE_EFFECT]


def test_an_order_of_something_else_differs_and_a_missing_one_is_skipped() -> None:
    outcome = outcome_of(orders=(Order("op-1", "orders y"),))

    assert codes_of(outcome) == {Code.EFFECT_DIFFERS, Code.SKIPPED_WORK}


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"ledger": ()}, "op-1 was carried out and is in no ledger"),
        ({"ledger": (LedgerEntry("op-1", "absent", "x"),)}, "op-1 is absent and was carried out"),
        ({"ledger": (LedgerEntry("op-1", "dispatched", "x"),)}, "op-1 is dispatched in a completed run"),
        ({"orders": (Order(None, "orders x"),)}, "an order without id was carried out"),
    ],
)
def test_a_ledger_that_says_otherwise_than_the_downstream_is_named(
    changes: dict[str, object], words: str
) -> None:
    found = judge_alone(outcome_of(**changes), "completed")

    assert any(one.code is Code.LEDGER_DIFFERS and words in one.message for one in found)


def test_ending_with_0_before_the_run_is_completed_is_a_false_completion() -> None:
    outcome = outcome_of(status="running", checks={"draft": "missing"})

    assert codes_of(outcome) == {Code.FALSE_COMPLETION, Code.NOT_RECOVERED}


@pytest.mark.parametrize(
    "changes",
    [
        {"inspections": {"draft": False}},
        {"checks": {"draft": "stale"}},
        {"missing": ("*.pdf",)},
    ],
)
def test_a_completed_run_whose_result_does_not_hold_is_a_false_completion(changes: dict[str, object]) -> None:
    assert Code.FALSE_COMPLETION in codes_of(outcome_of(**changes))


def test_giving_up_is_no_claim_of_completion() -> None:
    outcome = outcome_of(status="running", ending=Ending.GAVE_UP, tasks={}, checks={"draft": "missing"})

    assert codes_of(outcome) == {Code.NOT_RECOVERED}


def test_a_run_that_is_to_wait_for_a_person_is_good_when_it_waits() -> None:
    waiting = outcome_of(status="waiting_approval", checks={"draft": "missing"}, inspections={"draft": False})

    assert compare(waiting, expectation_of(waiting, reaches="waiting_approval")) == ()


def test_an_early_constraint_that_is_not_kept_is_lost() -> None:
    [finding] = compare(outcome_of(constraints={"short": False}), expectation_of())

    assert (finding.code, finding.message) == (Code.LOST_CONSTRAINT, "short is not kept")


def test_uninterrupted_runs_that_differ_cannot_be_compared_with() -> None:
    [finding] = judge_baseline([outcome_of(), outcome_of(files={"draft.md": "sha256:other"})])

    assert finding.code is Code.UNSTABLE_BASELINE
    assert "draft.md" in finding.message
    assert judge_baseline([outcome_of(), outcome_of()]) == ()


def test_what_an_interruption_added_is_held_against_the_middle_run() -> None:
    runs = [outcome_of(seconds=1.0), outcome_of(seconds=2.0), outcome_of(seconds=9.0)]

    cost = added(outcome_of([*STEADY, STEADY[0]], seconds=5.0, cost=Decimal("0.15")), runs)

    assert (cost.seconds, cost.calls, cost.cost) == (3.0, 1, Decimal("0.05"))
