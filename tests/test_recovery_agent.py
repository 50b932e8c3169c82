"""An agent, a grader or a pull of the handoff is killed in the midst of its work, and a fresh one goes on."""

import json
import os
import subprocess
import sys
from typing import Any, Final

import httpx
import pytest
from recovery_case import KILLED, Case, kill_agent, kill_grader, kill_waiting_agent, wait
from recovery_fixtures import Warm
from recovery_matrix import DATABASES, on
from recovery_report import Note, note_case
from recovery_verdict import judge

pytestmark = pytest.mark.timeout(600)

IN_THE_AGENT: Final = {
    "after a read": ("agent.after_read", "sqlite"),
    "approved, not redeemed": ("agent.before_redeem", None),
    "redeemed, not dispatched": ("agent.before_dispatch", None),
    "dispatch told, nothing sent": ("agent.after_dispatch", None),
    "downstream commit, nothing told": ("agent.after_downstream_commit", "sqlite"),
    "candidate written, not recorded": ("agent.candidate_written", "sqlite"),
}
"""Where an agent is killed between what it does and what it says, and the database of the ordinary tests."""
IN_A_PULL: Final = (
    "handoff.before_append",
    "handoff.after_append",
    "handoff.before_replace",
    "handoff.after_replace",
)


@pytest.mark.parametrize(
    ("warm", "boundary"),
    [case for name, (_, database) in IN_THE_AGENT.items() for case in on(database, name)],
    indirect=["warm"],
    # Else each case would start a service of its own.
    scope="module",
)
def test_a_fresh_session_goes_on_after_the_agent_was_killed(
    warm: Warm, boundary: str, record_property: Note
) -> None:
    case = warm.next()

    kill_agent(case, case.address, {IN_THE_AGENT[boundary][0]: "kill"})

    assert _judged(case, boundary, record_property) == []


@pytest.mark.parametrize("warm", on("sqlite"), indirect=True)
def test_a_fresh_session_goes_on_after_the_agent_was_killed_while_its_model_was_thinking(
    warm: Warm, record_property: Note
) -> None:
    case = warm.next()

    kill_waiting_agent(case, case.address)

    assert _judged(case, "model call in flight", record_property) == []


@pytest.mark.torture
@pytest.mark.parametrize("warm", DATABASES, indirect=True)
def test_a_verdict_that_was_reached_and_not_told_is_reached_again(warm: Warm, record_property: Note) -> None:
    case = warm.next()

    kill_grader(case, case.address)

    assert _judged(case, "check finished, not recorded", record_property) == []


@pytest.mark.parametrize("warm", on("sqlite"), indirect=True)
def test_a_folder_is_in_step_again_after_each_kill_of_a_pull(warm: Warm, record_property: Note) -> None:
    case = warm.next()
    with case.people():
        assert wait(case.agent({"agent.before_redeem": "kill"})) == KILLED
        assert [_pull(case, {point: "kill"}) for point in IN_A_PULL] == [KILLED] * len(IN_A_PULL)
        case.go_on()
    assert _pull(case) == 0

    assert _judged(case, "handoff file", record_property) == []
    run = json.loads(_get(case, f"/executions?external_ref={case.external_ref}", "application/json"))
    path = f"/executions/{run['items'][0]['id']}"
    kept = (case.folder / "handoff" / "execution.jsonl").read_text()
    next_steps = (case.folder / "handoff" / "next-steps.txt").read_text()
    assert _ids(kept) == _ids(_get(case, f"{path}/log", "application/x-ndjson"))
    assert next_steps.strip() == _get(case, f"{path}/handoff", "text/plain").strip()


def _judged(case: Case, boundary: str, record_property: Note) -> object:
    verdict = judge(case)
    note_case(record_property, boundary, verdict.as_json(), verdict.faults)
    return verdict.faults


def _pull(case: Case, armed: dict[str, str] | None = None) -> int:
    command = ["handoff", "pull", "--external-ref", case.external_ref, "--project", "alpha"]
    places = ["--dir", str(case.folder / "handoff"), "--url", case.address]
    environment = {
        **os.environ,  # noqa: TID251 - what a child process needs to start
        "MUNIMENT_TOKEN": case.tokens["agent"],
        "MUNIMENT_FAILPOINTS": json.dumps(armed or {}),
        "MUNIMENT_FAILPOINTS_ALLOWED": "true",
    }
    return subprocess.run(
        [sys.executable, "-m", "service.entry.cli", *command, *places],
        env=environment,
        check=False,
        capture_output=True,
        timeout=120,
    ).returncode


def _get(case: Case, path: str, accept: str) -> str:
    headers = {"Authorization": f"Bearer {case.tokens['agent']}", "Accept": accept}
    return httpx.get(f"{case.address}/v1{path}", headers=headers, timeout=30).raise_for_status().text


def _ids(lines: str) -> list[Any]:
    return [json.loads(line)["id"] for line in lines.splitlines()]
