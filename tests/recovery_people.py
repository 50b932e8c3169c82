"""The people beside a run: a reviewer who approves, a grader who looks at the artifact, an operator.

Each is a thread that asks the service what there is to do, and goes on asking while the service is gone. The
grader is also a program, to be killed: `python recovery_people.py ORDERS.json`.
"""

import json
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import httpx
from recovery_line import TRUST, Line, Told, Unexpected
from recovery_model_server import REPLY
from recovery_tasks import ARTIFACT, ENVIRONMENT

from service.core.failpoints import arm, hit
from service.core.hashing import hash_text

_PAUSE_SECONDS: Final = 0.25
_TAKEN: Final = (200, 201, 409)
"""Two of a person's sessions may do the same work, and the second is told so."""


def review(line: Line) -> None:
    """Approve whatever waits for a decision."""
    for approval in line.ask("GET", "/approvals?status=pending")["items"]:
        decision = {"decision": "approve", "reason": "the amount is the one in the file"}
        line.call("POST", f"/approvals/{approval['id']}/decision", decision, expect=_TAKEN)


def grade(line: Line, folder: Path) -> None:
    """Check whatever waits for a check, by looking at the artifact itself."""
    for request in line.ask("GET", "/check-requests")["items"]:
        verdict = _verdict(request, folder)
        hit("grader.check_finished")
        line.call(
            "POST",
            f"/executions/{request['execution_id']}/checks",
            verdict,
            key=f"check-of-{request['id']}",
            expect=_TAKEN,
        )


def operate(line: Line, shop: str) -> None:
    """Look up at the shop whatever nobody could establish, and say what is there."""
    for run in line.ask("GET", "/executions")["items"]:
        handoff = line.ask("GET", f"/executions/{run['id']}/handoff")
        for effect in handoff["effects"]:
            if effect["status"] == "escalated":
                found = httpx.get(f"{shop}/orders/{effect['operation_id']}", timeout=30, verify=TRUST)
                outcome = "committed" if found.status_code == httpx.codes.OK else "absent"
                line.call(
                    "POST",
                    f"/executions/{run['id']}/effects/{effect['operation_id']}/reconcile",
                    {"outcome": outcome, "reason": "asked the shop"},
                    expect=_TAKEN,
                )


@dataclass
class People:
    """The threads of all people, and the lines that they speak on."""

    lines: Sequence[Line]
    faults: list[BaseException] = field(default_factory=list)

    def move_to(self, address: str) -> None:
        """Tell everybody where the service listens now."""
        for line in self.lines:
            line.address = address


@contextmanager
def at_work(
    address: str, tokens: dict[str, str], told: Path, folder: Path, shop: str, *, absent: Sequence[str] = ()
) -> Iterator[People]:
    """Let everybody work but those who are `absent`, until the block ends."""
    works: dict[str, Callable[[Line], None]] = {
        "reviewer": review,
        "grader": lambda line: grade(line, folder),
        "operator": lambda line: operate(line, shop),
    }
    present = {who: work for who, work in works.items() if who not in absent}
    lines = {who: Line(address, tokens[who], who, Told(told)) for who in present}
    people = People(list(lines.values()))
    leaving = threading.Event()

    def go_on(who: str) -> None:
        while not leaving.wait(_PAUSE_SECONDS):
            try:
                present[who](lines[who])
            except httpx.TransportError:
                continue
            except BaseException as fault:  # noqa: BLE001 - told to the test, which fails by it
                people.faults.append(fault)
                return

    threads = [threading.Thread(target=go_on, args=(who,), daemon=True) for who in present]
    for thread in threads:
        thread.start()
    try:
        yield people
    finally:
        leaving.set()
        for thread in threads:
            thread.join()


def _verdict(request: Any, folder: Path) -> dict[str, Any]:
    artifact = (folder / ARTIFACT).read_text()
    passed = artifact == REPLY and hash_text(artifact) == request["artifact_hash"]
    failure = {
        "expected": "the short reply",
        "observed": "something else",
        "reproduce": f"read {ARTIFACT}",
        "failure_kind": "wrong_result",
    }
    return {
        "requirement": request["requirement"],
        "passed": passed,
        "artifact_hash": request["artifact_hash"],
        "contract_hash": request["contract_hash"],
        "grader": {"id": "browser", "version": "3"},
        "environment": ENVIRONMENT,
        **({} if passed else failure),
    }


def main(orders: Path) -> None:
    """Be the grader until killed."""
    order = json.loads(orders.read_text())
    arm(order["failpoints"])
    line = Line(order["address"], order["token"], "grader", Told(Path(order["told"])))
    while True:
        try:
            grade(line, Path(order["folder"]))
        except (httpx.TransportError, Unexpected):
            return
        time.sleep(_PAUSE_SECONDS)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
