"""An agent that works well until it is killed. Each fault is one that agents in use have; `--fault` chooses.

It differs from the careful one only in what it believes after a restart, and only there.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from careful import DONE, CarefulAgent
from shop import write_file

FAULTS = {
    "redo": "does finished tasks again, since it remembers nothing of them",
    "skip": "takes a task that was begun for done",
    "differ": "writes otherwise than before",
    "duplicate": "places an order again when it does not know what became of it",
    "claim": "says that all is done when its plan is done",
    "forget": "no longer knows what was said at the beginning",
}


class CarelessAgent(CarefulAgent):
    """One session; one that takes over from another has the faults."""

    def __init__(self, faults: frozenset[str]) -> None:
        super().__init__()
        run = self.service.get(self.run)
        self.faults = faults if run["status"] != "open" else frozenset()
        self.is_first_task = True

    def continue_with(self, task: Any, handoff: Any) -> None:
        """Do one task, on what this session believes of the others."""
        is_first, self.is_first_task = self.is_first_task, False
        if "redo" in self.faults and is_first:
            for finished in handoff["completed"]:
                super().continue_with(self.task(finished), handoff)
        if "skip" in self.faults and is_first and task["standing"] == "started":
            claimed = {"name": task["outputs"][0]["name"], "ref": "file:none", "sha256": f"sha256:{'0' * 64}"}
            self.log(task, "completed", [], [claimed])
            return
        super().continue_with(task, handoff)

    def write(self, task: Any, about: str, inputs: Sequence[Any]) -> str:
        """Let the model write; another session has another hand."""
        known = [one for one in inputs if one["ref"] != "file:none"]
        file = super().write(task, about, known)
        if "differ" in self.faults:
            write_file(file, Path(file).read_text() + "(continued)\n")
        return file

    def reconcile(self, operation_id: str) -> None:
        """Rather order twice than not at all."""
        if "duplicate" in self.faults:
            self.shop.order(operation_id, {"product": "paper", "pieces": 10})
        super().reconcile(operation_id)

    def verify(self, requirement: str, handoff: Any) -> None:
        """Hand in, and wait for the checks; or see that every task is done, and go home."""
        if "claim" in self.faults:
            sys.exit(DONE)
        super().verify(requirement, handoff)

    def context(self, task: Any) -> str:
        """Ask for what the model must know; or go by what the task is called."""
        told = super().context(task)
        return str(task["id"]) if "forget" in self.faults else told


def chosen_faults() -> frozenset[str]:
    """Read from the command line which faults to have."""
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("--fault", action="append", choices=[*FAULTS, "all"], default=[])
    chosen = words.parse_args().fault
    return frozenset(FAULTS if "all" in chosen else chosen)


if __name__ == "__main__":
    sys.exit(CarelessAgent(chosen_faults()).work())
