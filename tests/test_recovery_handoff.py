"""A run's folder after its `pull` was killed anywhere: the next one brings it in step with the service."""

import json
import os
import subprocess
import sys
from typing import Any, Final

import httpx
import pytest
from recovery_case import KILLED, Case, wait
from recovery_fixtures import Warm
from recovery_report import PROPERTY
from recovery_verdict import judge
from test_recovery_agent import Note

pytestmark = pytest.mark.timeout(600)

POINTS: Final = (
    "handoff.before_append",
    "handoff.after_append",
    "handoff.before_replace",
    "handoff.after_replace",
)


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


@pytest.mark.parametrize(
    "warm", ["sqlite", pytest.param("postgresql", marks=pytest.mark.torture)], indirect=True
)
def test_a_folder_is_in_step_again_after_each_kill_of_a_pull(warm: Warm, record_property: Note) -> None:
    case = warm.next()
    with case.people():
        assert wait(case.agent({"agent.after_downstream_commit": "kill"})) == KILLED
        assert [_pull(case, {point: "kill"}) for point in POINTS] == [KILLED] * len(POINTS)
        assert case.go_on() == 0
    assert _pull(case) == 0

    verdict = judge(case)
    record_property(
        PROPERTY, {"boundary": "handoff file", "faults": verdict.faults, "verdict": verdict.as_json()}
    )
    assert verdict.faults == []
    run = _get(case, f"/executions?external_ref={case.external_ref}", "application/json")
    path = f"/executions/{json.loads(run)['items'][0]['id']}"
    kept = (case.folder / "handoff" / "execution.jsonl").read_text()
    assert _ids(kept) == _ids(_get(case, f"{path}/log", "application/x-ndjson"))
    next_steps = (case.folder / "handoff" / "next-steps.txt").read_text()
    assert next_steps.strip() == _get(case, f"{path}/handoff", "text/plain").strip()
