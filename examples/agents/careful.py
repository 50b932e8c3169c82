"""An agent that may be killed anywhere: it asks what comes first, does that, and asks again.

It knows nothing but the run's id. What is done it reads in the run's log; what came of an act outside it asks
the other side, and lets evidence decide; whether everything is finished it leaves to the checks.
"""

import os
import sys
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from shop import COST_OF_A_THOUGHT, Service, Shop, hash_folder, hash_text, think, write_file

DONE = 0
NEEDS_A_PERSON = 75
CHECKS_SECONDS_MAX = 30


class CarefulAgent:
    """One session, from the first question to the last."""

    def __init__(self) -> None:
        self.execution = os.environ["MUNIMENT_EXECUTION"]
        self.project = os.environ["MUNIMENT_PROJECT"]
        self.profile = os.environ.get("MUNIMENT_PROFILE", "handoff")
        self.service = Service(os.environ["MUNIMENT_URL"], os.environ["MUNIMENT_TOKEN"])
        self.shop = Shop(os.environ["MUNIMENT_DOWNSTREAM_URL"])
        self.run = f"/executions/{self.execution}"

    def work(self) -> int:
        """Do what has to be done first until there is nothing. Answer the exit code."""
        while True:
            resumed = self.resume()
            verb, _, about = resumed["decision"].partition(":")
            if verb == "completed" or (verb, about) == ("ended", "completed"):
                return DONE
            if resumed["lease"] is None and resumed["leased_until"] is not None:
                _wait_until(resumed["leased_until"])
                continue
            match verb:
                case "continue":
                    self.continue_with(self.task(about), resumed["handoff"])
                case "reconcile":
                    self.reconcile(about)
                case "revalidate":
                    self.submit()
                case "verify":
                    self.verify(about, resumed["handoff"])
                case _:
                    return self.leave()

    def resume(self) -> Any:
        """Say what was found here, and ask for the lease."""
        handoff = self.service.get(f"{self.run}/handoff")
        found = {"contract_hash": handoff["contract_hash"]}
        if handoff["artifact_hash"] is not None:
            found["artifact_hash"] = hash_folder()
        resumed = self.service.post(f"{self.run}/resume", found)
        self.service.fencing_token = resumed["lease"] and resumed["lease"]["fencing_token"]
        return resumed

    def task(self, task_id: str) -> Any:
        """Read a task with its standing."""
        tasks = self.service.get(f"{self.run}/tasks")["items"]
        return next(task for task in tasks if task["id"] == task_id)

    def continue_with(self, task: Any, handoff: Any) -> None:
        """Do one task from its beginning; what was done before a kill is found again on the way."""
        if self.service.get(self.run)["status"] == "open":
            self.checkpoint("start")
        inputs = [output for output in handoff["outputs"] if output["name"] in task["inputs"]]
        self.log(task, "started", inputs)
        kind, _, about = task["id"].partition("-")
        match kind:
            case "read":
                file = self.read(task, about)
            case "order":
                file = self.order(task, about, handoff)
            case _:
                file = self.write(task, about, inputs)
        self.log(task, "completed", inputs, [_output(task, file, Path(file).read_text())])
        self.checkpoint("advance", step=1, cost=COST_OF_A_THOUGHT)

    def read(self, task: Any, about: str) -> str:
        """Ask a tool. Its answer is kept here first and then in the run, so that it is asked once."""
        file = f"{about}.txt"
        if not Path(file).exists():
            write_file(file, self.shop.read(about))
        seen_at = datetime.fromtimestamp(Path(file).stat().st_mtime, UTC)
        observed = {
            "source": {"uri": f"tool://shop/{about}", "kind": "tool", "observed_at": seen_at.isoformat()},
            "content": Path(file).read_text(),
        }
        # The key makes a repetition harmless: the same body under it is answered and not kept again.
        key = {"Idempotency-Key": f"{self.execution}/{task['id']}"}
        self.service.post(f"{self.run}/observations", observed, key)
        return file

    def write(self, task: Any, about: str, inputs: Sequence[Any]) -> str:
        """Let the model write a file from the files that the task reads."""
        texts = {one["name"]: Path(one["ref"].removeprefix("file:")).read_text() for one in inputs}
        write_file(f"{about}.md", think(self.context(task), task["id"], texts))
        return f"{about}.md"

    def order(self, task: Any, about: str, handoff: Any) -> str:
        """Place an order: intent, act, outcome. One name for it, the same in every session."""
        operation_id = f"{self.execution}.{task['id']}"
        known = {effect["operation_id"]: effect["status"] for effect in handoff["effects"]}
        if known.get(operation_id) != "committed":
            think(self.context(task), task["id"], {})
            self.place(operation_id, {"product": about, "pieces": 10})
        reference = self.shop.find_order(operation_id)["reference"]
        write_file(f"order-{about}.md", f"# {task['id']}\n{reference}\n")
        return f"order-{about}.md"

    def place(self, operation_id: str, request: dict[str, Any]) -> None:
        """Write the intent down, act, and write down what came of it."""
        effect = f"{self.run}/effects/{operation_id}"
        intent = {"operation_id": operation_id, "kind": "orders.create", "request": request}
        self.service.post(f"{self.run}/effects", intent)
        self.service.patch(effect, {"status": "dispatched"})
        placed = self.shop.order(operation_id, request)
        self.service.patch(effect, {"status": "committed", "downstream_ref": placed["reference"]})

    def reconcile(self, operation_id: str) -> None:
        """Ask the shop what became of an order, and show its answer as evidence: our word would not count."""
        found = self.shop.find_order(operation_id)
        source = {"uri": f"tool://shop/orders/{operation_id}", "kind": "tool", "observed_at": _now()}
        shown = {
            "project": self.project,
            "title": f"The shop about {operation_id}",
            "text": f"Looked up {operation_id}: " + ("no such order." if found is None else str(found)),
            "source": source,
            "authority": "tool_result",
        }
        outcome = {
            "outcome": "absent" if found is None else "committed",
            "downstream_ref": found and found["reference"],
            "evidence_id": self.service.post("/evidence", shown)["id"],
        }
        self.service.post(f"{self.run}/effects/{operation_id}/reconcile", outcome)

    def verify(self, requirement: str, handoff: Any) -> None:
        """Hand in what there is, or ask for a check, and wait until somebody has looked."""
        if handoff["artifact_hash"] is None:
            self.submit()
        else:
            self.service.post(f"{self.run}/check-requests", {"requirements": [requirement]})
        deadline = time.monotonic() + CHECKS_SECONDS_MAX
        while time.monotonic() < deadline:
            checks = self.service.get(f"{self.run}/handoff")["checks"]
            [status] = [check["status"] for check in checks if check["requirement"] == requirement]
            if status == "failed":
                sys.exit(self.leave())
            if status == "passed":
                return
            time.sleep(0.2)

    def leave(self) -> int:
        """Give the lease back, so that nobody has to wait for it, and answer that a person is needed."""
        if self.service.fencing_token is not None:
            self.service.delete(f"{self.run}/lease")
        return NEEDS_A_PERSON

    def submit(self) -> None:
        """Hand in what lies in the folder."""
        self.service.post(f"{self.run}/candidates", {"artifact_hash": hash_folder()})

    def context(self, task: Any) -> str:
        """Ask for everything that the model must know for this task."""
        package = self.service.post(
            "/context-packages",
            {
                "project": self.project,
                "execution_id": self.execution,
                "task_id": task["id"],
                "purpose": "service",
                "encoding": "o200k_base",
                "max_tokens": 4_000,
                "profile": self.profile,
                "render": "markdown",
            },
        )
        return str(package["rendered"]["text"])

    def log(self, task: Any, exit_status: str, inputs: Sequence[Any], outputs: Sequence[Any] = ()) -> None:
        """Write one line of the run's log."""
        line = {
            "task_id": task["id"],
            "exit_status": exit_status,
            "inputs": [{"ref": one["ref"], "sha256": one["sha256"]} for one in inputs],
            "outputs": list(outputs),
        }
        self.service.post(f"{self.run}/steps", line)

    def checkpoint(self, transition: str, *, step: int = 0, cost: str = "0") -> None:
        """Move the run on by `step`."""
        run = self.service.get(self.run)
        body = {"transition": transition, "step": run["step"] + step, "cost": cost}
        self.service.post(f"{self.run}/checkpoints", body, {"If-Match": f'"{run["version"]}"'})


def _output(task: Any, file: str, text: str) -> dict[str, str]:
    return {"name": task["outputs"][0]["name"], "ref": f"file:{file}", "sha256": hash_text(text)}


def _now() -> str:
    return datetime.now(UTC).isoformat()


def _wait_until(moment: str) -> None:
    time.sleep(max(0.1, (datetime.fromisoformat(moment) - datetime.now(UTC)).total_seconds() + 0.05))


if __name__ == "__main__":
    sys.exit(CarefulAgent().work())
