"""An agent or a grader is killed in the midst of its own work, and a fresh one goes on from the record."""

from collections.abc import Callable
from typing import Final

import pytest
from recovery_case import Case, kill_agent, kill_grader, kill_waiting_agent
from recovery_fixtures import Warm
from recovery_report import PROPERTY
from recovery_verdict import judge

Note = Callable[[str, object], None]

pytestmark = pytest.mark.timeout(600)

IN_THE_AGENT: Final = {
    "after a read": ("agent.after_read", "sqlite"),
    "approved, not redeemed": ("agent.before_redeem", "postgresql"),
    "redeemed, not dispatched": ("agent.before_dispatch", "sqlite"),
    "dispatch told, nothing sent": ("agent.after_dispatch", "postgresql"),
    "downstream commit, nothing told": ("agent.after_downstream_commit", "sqlite"),
    "candidate written, not recorded": ("agent.candidate_written", "postgresql"),
}
"""Where an agent is killed between what it does and what it says, and the database of the ordinary tests."""


def _on(database: str, *values: object) -> list[object]:
    """Answer the cases of both databases; the ordinary tests run the one that is named."""
    return [
        pytest.param(one, *values, marks=() if one == database else pytest.mark.torture)
        for one in ("sqlite", "postgresql")
    ]


@pytest.mark.parametrize(
    ("warm", "boundary"),
    [case for name, (_, database) in IN_THE_AGENT.items() for case in _on(database, name)],
    indirect=["warm"],
)
def test_a_fresh_session_goes_on_after_the_agent_was_killed(
    warm: Warm, boundary: str, record_property: Note
) -> None:
    case = warm.next()

    kill_agent(case, case.address, {IN_THE_AGENT[boundary][0]: "kill"})

    assert _judged(case, boundary, record_property) == []


@pytest.mark.parametrize("warm", _on("sqlite"), indirect=True)
def test_a_fresh_session_goes_on_after_the_agent_was_killed_while_its_model_was_thinking(
    warm: Warm, record_property: Note
) -> None:
    case = warm.next()

    kill_waiting_agent(case, case.address)

    assert _judged(case, "model call in flight", record_property) == []


@pytest.mark.parametrize("warm", _on("postgresql"), indirect=True)
def test_a_verdict_that_was_reached_and_not_told_is_reached_again(warm: Warm, record_property: Note) -> None:
    case = warm.next()

    kill_grader(case, case.address)

    assert _judged(case, "check finished, not recorded", record_property) == []


def _judged(case: Case, boundary: str, record_property: Note) -> object:
    verdict = judge(case)
    record_property(PROPERTY, {"boundary": boundary, "faults": verdict.faults, "verdict": verdict.as_json()})
    return verdict.faults
