"""Whether the record still holds what callers were told: each acknowledged write, and how far it had got."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from recovery_line import Told
from recovery_record import Record
from recovery_tasks import MANIFEST

_RUN: Final = r"/executions/[^/]+"
_KEPT: Final = (
    ("POST", r"/executions", "executions", "id"),
    ("POST", rf"{_RUN}/turns", "turns", "id"),
    ("POST", rf"{_RUN}/pins", "pins", "id"),
    ("POST", rf"{_RUN}/steps", "steps", "id"),
    ("POST", rf"{_RUN}/observations", "observations", "id"),
    ("POST", rf"{_RUN}/checkpoints", "checkpoints", "version"),
    ("POST", rf"{_RUN}/effects", "effects", "operation_id"),
    ("POST", rf"{_RUN}/approvals", "approvals", "id"),
    ("POST", rf"{_RUN}/candidates", "candidates", "id"),
    ("POST", rf"{_RUN}/checks", "checks", "id"),
    ("POST", r"/evidence", "evidence", "id"),
)
"""Where each acknowledged write must stand, and what its answer calls it."""
_FORWARD: Final = ("intended", "dispatched", "unknown", "absent", "escalated", "committed", "failed")
"""How far an effect got; what was told of it is reached or passed."""


def lost_writes(record: Record, told: Told) -> Iterator[str]:
    """Answer each write that was acknowledged and does not stand any more."""
    for entry in told.entries():
        if entry.get("status") not in {200, 201} or entry["method"] == "GET":
            continue
        answer = json.loads(entry["answer"])
        for method, path, table, name in _KEPT:
            if entry["method"] != method or not re.fullmatch(path, entry["path"]):
                continue
            if answer[name] not in record.values(table, name):
                yield f"{method} {entry['path']}: {table} has no {answer[name]}"
        yield from _taken_back(entry, answer, record)


def _taken_back(entry: Mapping[str, Any], answer: Mapping[str, Any], record: Record) -> Iterator[str]:
    path = entry["path"]
    parts = path.split("/")
    if re.fullmatch(rf"{_RUN}/effects/[^/]+(/reconcile)?", path):
        now = {row["operation_id"]: row["status"] for row in record.rows["effects"]}.get(parts[4])
        if now is None or _FORWARD.index(now) < _FORWARD.index(answer["status"]):
            yield f"{path}: was {answer['status']} and is {now}"
    if re.fullmatch(r"/approvals/[^/]+/decision", path):
        decided = {row["id"]: row["decided_by"] for row in record.rows["approvals"]}
        if decided.get(parts[2]) is None:
            yield f"{path}: the decision is gone"
    if re.fullmatch(r"/approvals/[^/]+/redeem", path):
        redeemed = {row["id"]: row["operation_id"] for row in record.rows["approvals"]}
        if redeemed.get(parts[2]) != entry["request"]["operation_id"]:
            yield f"{path}: the redemption is gone"
    if re.fullmatch(rf"{_RUN}/manifest", path):
        missing = {task["id"] for task in MANIFEST} - set(record.values("tasks", "id"))
        yield from (f"{path}: the task {task} is gone" for task in sorted(missing))
    if re.fullmatch(rf"{_RUN}/check-requests", path):
        # A request goes when it is answered.
        held = {*record.values("check_requests", "requirement"), *record.values("checks", "requirement")}
        missing = set(entry["request"]["requirements"]) - held
        yield from (f"{path}: the request for {one} is gone" for one in sorted(missing))
