"""Every durable boundary of the order run: where it stands in the service, and how often a run passes it."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import pytest
from recovery_line import Told

_RUN: Final = r"/executions/[^/]+"
SIDES: Final = ("before_commit", "after_commit")
DATABASES: Final = ("sqlite", "postgresql")


@dataclass(frozen=True, slots=True)
class Boundary:
    """A committed write of the service. `point` is its fail points' common name.

    An uninterrupted run passes it `hits` times, by calls of that method and path.
    """

    name: str
    point: str
    hits: int
    method: str
    path: str


BOUNDARIES: Final = (
    Boundary("run opened", "http.open_run", 1, "POST", r"/executions"),
    Boundary("resume", "http.resume_run", 7, "POST", rf"{_RUN}/resume"),
    Boundary("turn", "http.add_turn", 2, "POST", rf"{_RUN}/turns"),
    Boundary("manifest", "http.put_manifest", 1, "PUT", rf"{_RUN}/manifest"),
    Boundary("checkpoint", "http.make_checkpoint", 6, "POST", rf"{_RUN}/checkpoints"),
    Boundary("step", "http.add_step", 8, "POST", rf"{_RUN}/steps"),
    Boundary("after a read: observation", "http.add_observation", 1, "POST", rf"{_RUN}/observations"),
    Boundary("approval asked", "http.ask_approval", 1, "POST", rf"{_RUN}/approvals"),
    Boundary("approval decision", "http.decide_approval", 1, "POST", r"/approvals/[^/]+/decision"),
    Boundary("redemption", "http.redeem_approval", 1, "POST", r"/approvals/[^/]+/redeem"),
    Boundary("intent", "http.add_effect", 1, "POST", rf"{_RUN}/effects"),
    Boundary("dispatch and result", "http.patch_effect", 2, "PATCH", rf"{_RUN}/effects/[^/]+"),
    Boundary("package", "http.build", 1, "POST", r"/context-packages"),
    Boundary("candidate", "http.add_candidate", 2, "POST", rf"{_RUN}/candidates"),
    Boundary("checks asked", "http.add_check_requests", 1, "POST", rf"{_RUN}/check-requests"),
    Boundary("check", "http.add_check", 2, "POST", rf"{_RUN}/checks"),
)
"""The calls that an uninterrupted run writes by; `test_recovery_matrix` holds the list to the run itself."""


@dataclass(frozen=True, slots=True)
class Kill:
    """One place to be killed at: the `hit`-th time that the service reaches `point`."""

    boundary: str
    point: str
    hit: int = 1

    @property
    def armed(self) -> dict[str, str]:
        """The setting that arms it."""
        return {self.point: f"kill@{self.hit}"}

    def __str__(self) -> str:
        return f"{self.point}-{self.hit}"


def kills() -> Iterator[Kill]:
    """Answer every place in the service: before and after each commit, each time that a run passes it."""
    for boundary in BOUNDARIES:
        for hit in range(1, boundary.hits + 1):
            for side in SIDES:
                yield Kill(boundary.name, f"{boundary.point}.{side}", hit)
    yield from DELIVERY


DELIVERY: Final = (
    Kill("outbox", "outbox.before_delivery"),
    Kill("outbox", "outbox.after_delivery"),
    Kill("delivery: dispatch", "deliver.before_dispatch_commit"),
    Kill("delivery: dispatch", "deliver.after_dispatch_commit"),
    Kill("delivery: downstream commit", "deliver.before_send"),
    Kill("delivery: downstream commit", "deliver.after_send"),
    Kill("delivery: result", "deliver.before_result_commit"),
    Kill("delivery: result", "deliver.after_result_commit"),
)
"""Places outside of any request: what the service does by itself."""


def on(database: str | None, *values: object) -> list[object]:
    """Answer a case for each database, with these further values; the ordinary tests run that one alone."""
    return [
        pytest.param(one, *values, marks=() if one == database else pytest.mark.torture) for one in DATABASES
    ]


def passed(told: Told) -> tuple[Counter[str], Sequence[Any]]:
    """Answer how often each boundary was passed in a run, and the writes that belong to none of them."""
    found: Counter[str] = Counter()
    strays = []
    for entry in told.entries():
        if entry.get("status") not in {200, 201} or entry["method"] == "GET":
            continue
        named = [
            one
            for one in BOUNDARIES
            if one.method == entry["method"] and re.fullmatch(one.path, entry["path"])
        ]
        if named:
            found[named[0].point] += 1
        elif entry["path"] != "/evidence/search":
            strays.append((entry["method"], entry["path"]))
    return found, strays
