"""An agent for one order run, as a program: it knows the run's external reference and nothing else.

It asks for a decision, does what the decision says, and asks again, until the run is completed. A session
that begins after another was killed runs the very same program. `python recovery_agent.py ORDERS.json`.
"""

import json
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import httpx
from recovery_line import Line, Told
from recovery_tasks import Desk

from service.core.failpoints import arm

COMPLETED: Final = 0
SERVICE_GONE: Final = 3
STUCK: Final = 4
OBJECTIVE: Final = "Answer the planning query for plot 18"
REQUIREMENTS: Final = [
    {"id": "login", "text": "Login works", "grader": "browser", "depends_on": ["src/login"]},
    {"id": "orders", "text": "Orders can be filtered"},
]
_ROUNDS_MAX: Final = 200
_WAIT_SECONDS: Final = 0.1


@dataclass
class Agent:
    """One session. `desk` does the tasks; this decides nothing and asks the service what comes next."""

    line: Line
    desk: Desk
    decisions: list[str] = field(default_factory=list)

    def work(self) -> int:
        """Work until the run is completed; answer the program's exit status."""
        self.desk.execution_id = self._find() or self._open()
        for _ in range(_ROUNDS_MAX):
            resumed = self._resume()
            verb, _, about = resumed["decision"].partition(":")
            if resumed["decision"] == "ended:completed" or verb == "completed":
                return COMPLETED
            if verb in {"ended", "escalate"}:
                return STUCK
            if resumed["lease"] is None:
                # Somebody else's lease lives: a killed worker's, which lapses.
                time.sleep(_WAIT_SECONDS)
                continue
            self._acts()[verb](about)
        return STUCK

    def _acts(self) -> Mapping[str, Callable[[str], None]]:
        desk = self.desk
        return {
            "revalidate": lambda _: desk.submit(),
            "reconcile": desk.reconcile,
            "escalated": lambda _: time.sleep(_WAIT_SECONDS),
            "reapprove": lambda _: desk.ask_again(),
            "refresh": lambda _: desk.refresh(),
            "continue": desk.go_on,
            "verify": lambda _: desk.verify(),
        }

    def _find(self) -> str | None:
        items = self.line.ask("GET", f"/executions?external_ref={self.desk.external_ref}")["items"]
        return items[0]["id"] if items else None

    def _open(self) -> str:
        body = {
            "project": "alpha",
            "external_ref": self.desk.external_ref,
            "objective": OBJECTIVE,
            "requirements": REQUIREMENTS,
            "budgets": {"cost": "5.00", "steps": 40, "revisions": 3},
        }
        opened: str = self.line.ask("POST", "/executions", body)["id"]
        return opened

    def _resume(self) -> Any:
        run = self.line.ask("GET", self.desk.path)
        found = {
            "contract_hash": run["contract_hash"],
            "artifact_hash": self.desk.artifact_hash(),
            "environment": self.desk.environment,
        }
        resumed = self.line.ask("POST", f"{self.desk.path}/resume", found)
        self.line.fencing_token = resumed["lease"] and resumed["lease"]["fencing_token"]
        self.decisions.append(resumed["decision"])
        self.line.told.note(
            {
                "who": "agent",
                "decision": resumed["decision"],
                "leased": resumed["lease"] is not None,
                "at": time.time(),
            }
        )
        return resumed


def main(orders: Path) -> int:
    """Do a session by the orders in a file; answer its exit status."""
    order = json.loads(orders.read_text())
    arm(order["failpoints"])
    line = Line(order["address"], order["token"], "agent", Told(Path(order["told"])))
    desk = Desk(line, Path(order["folder"]), order["shop"], order["model"], order["external_ref"])
    try:
        return Agent(line, desk).work()
    except httpx.TransportError:
        return SERVICE_GONE


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
