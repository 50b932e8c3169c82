"""The tasks of the order run, each written so that a stranger may begin it again.

Nothing is remembered between tasks but what the service holds and what stands in the folder: keys are made of
the task's name, files are replaced whole, and an act outside is looked up before it is thought of again.
"""

import json
import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import httpx
from recovery_line import TRUST, Line, Unexpected
from recovery_model_server import CONSTRAINT

from service.core.failpoints import hit
from service.core.hashing import hash_text

CAPTURE: Final[Mapping[str, Any]] = {"kind": "payments.capture", "amount": "12.00", "plot": 18}
CREATE: Final[Mapping[str, Any]] = {"sku": "A1", "plot": 18}
MANIFEST: Final = [
    {"id": "read-case", "title": "Read the case file", "outputs": ["case-summary"]},
    {"id": "pay", "inputs": ["case-summary"], "outputs": ["payment-receipt"]},
    {"id": "order", "inputs": ["payment-receipt"], "outputs": ["order-receipt"]},
    {"id": "write", "inputs": ["order-receipt"], "outputs": ["reply"]},
]
ARTIFACT: Final = "reply.md"
ENVIRONMENT: Final = {"commit": "4be1c07"}
_OBSERVED_AT: Final = "2026-11-30T10:00:00Z"
_WAIT_SECONDS: Final = 0.1
_PATIENCE_SECONDS: Final = 150
"""What a killed service held of its outbox is free again after a minute."""


def payment_of(external_ref: str) -> str:
    """Answer the operation that is the payment of a run: the agent does it itself, once it is approved."""
    return f"seed-payment-of-{external_ref}"


def order_of(external_ref: str) -> str:
    """Answer the operation that is the order of a run: a connector delivers it."""
    return f"seed-order-of-{external_ref}"


@dataclass
class Desk:
    """Where one session works: its line to the service, its folder, the shop and the model."""

    line: Line
    folder: Path
    shop: str
    model: str
    external_ref: str
    execution_id: str = ""
    case_id: str | None = None
    environment: Mapping[str, str] = field(default_factory=lambda: ENVIRONMENT)

    @property
    def path(self) -> str:
        """The run's address."""
        return f"/executions/{self.execution_id}"

    @property
    def payment(self) -> str:
        """The operation that is the payment."""
        return payment_of(self.external_ref)

    @property
    def order(self) -> str:
        """The operation that is the order."""
        return order_of(self.external_ref)

    def artifact_hash(self) -> str | None:
        """Answer the hash of the artifact that stands in the folder."""
        artifact = self.folder / ARTIFACT
        return hash_text(artifact.read_text()) if artifact.exists() else None

    def go_on(self, task_id: str) -> None:
        """Do a task, and log its beginning and its end. One that cannot end now is decided about anew."""
        tasks: dict[str, Callable[[], dict[str, str] | None]] = {
            "read-case": self._read_case,
            "pay": self._pay,
            "order": self._order,
            "write": self._write,
        }
        self._log(task_id, "started")
        outputs = tasks[task_id]()
        if outputs is None:
            return
        self._log(task_id, "completed", outputs)
        position = [task["id"] for task in MANIFEST].index(task_id)
        self._checkpoint("advance", position + 1, f"after {task_id}")

    def verify(self) -> None:
        """Plan where nothing is planned; else ask for the checks that are missing and wait for them."""
        if not self.line.ask("GET", f"{self.path}/tasks")["items"]:
            self._plan()
            return
        self._checkpoint("finish", len(MANIFEST), "verify")
        self.submit()
        checks = self.line.ask("GET", f"{self.path}/handoff")["checks"]
        missing = [check["requirement"] for check in checks if check["status"] != "passed"]
        self.line.call("POST", f"{self.path}/check-requests", {"requirements": missing})
        self._await(lambda: self._run()["status"] == "completed")

    def submit(self) -> None:
        """Submit what stands in the folder."""
        artifact_hash = self.artifact_hash()
        if artifact_hash is not None:
            self.line.call("POST", f"{self.path}/candidates", {"artifact_hash": artifact_hash})

    def reconcile(self, operation_id: str) -> None:
        """Ask the shop what became of an operation and hand in what it says. A connector asks by itself."""
        if operation_id != self.payment:
            time.sleep(_WAIT_SECONDS)
            return
        answer = httpx.get(f"{self.shop}/orders/{operation_id}", timeout=30, verify=TRUST)
        outcome = "committed" if answer.status_code == httpx.codes.OK else "absent"
        body = {
            "project": "alpha",
            "text": f"GET /orders/{operation_id} answered {answer.status_code}: {answer.text}",
            "source": {"uri": f"tool://shop/orders/{operation_id}", "kind": "tool"},
        }
        evidence_id = self.line.ask("POST", "/evidence", body)["id"]
        settled = {"outcome": outcome, "evidence_id": evidence_id}
        if outcome == "committed":
            settled["downstream_ref"] = answer.json()["id"]
        self.line.call("POST", f"{self.path}/effects/{operation_id}/reconcile", settled)

    def ask_again(self) -> None:
        """Ask anew for the approval of the payment, and wait for the decision."""
        self._await_decision(self._ask_approval())

    def refresh(self) -> None:
        """Read the case anew and found the state on what stands there now."""
        self._checkpoint("advance", self._run()["step"], "go on with the case as it is now")

    def _plan(self) -> None:
        said = {"role": "user", "text": CONSTRAINT, "pin": {"kind": "constraint"}}
        self.line.call("POST", f"{self.path}/turns", said, key=f"constraint-of-{self.external_ref}")
        run = self._run()
        self.line.call("PUT", f"{self.path}/manifest", {"tasks": MANIFEST}, version=run["version"])
        self._checkpoint("start" if run["status"] == "open" else "advance", 0, "read the case")

    def _read_case(self) -> dict[str, str]:
        evidence_id = self._case()
        text = self.line.ask("GET", f"/evidence/{evidence_id}/text")["text"]
        hit("agent.after_read")
        seen = {
            "source": {"uri": "tool://register", "kind": "tool", "observed_at": _OBSERVED_AT},
            "content": text,
            "summary": "The case file of plot 18",
        }
        self.line.call("POST", f"{self.path}/observations", seen, key=f"case-of-{self.external_ref}")
        return {"case-summary": self._keep("case-summary.md", text)}

    def _pay(self) -> dict[str, str] | None:
        if not self._approved():
            return None
        status = self._effect(self.payment)
        if status in {"intended", "absent"}:
            hit("agent.before_dispatch")
            self._settle(self.payment, {"status": "dispatched"})
            hit("agent.after_dispatch")
            receipt = self._send(self.payment, CAPTURE)
            hit("agent.after_downstream_commit")
            self._settle(self.payment, {"status": "committed", "downstream_ref": receipt})
        elif status != "committed":
            return None
        return {"payment-receipt": self._keep("payment-receipt.txt", self.payment)}

    def _approved(self) -> bool:
        """See to it that the payment is approved and intended; say whether it is."""
        approval_id = self._approval()
        if approval_id is None:
            if self._effect(self.payment) is not None:
                return True
            approval_id = self._ask_approval()
        if not self._await_decision(approval_id):
            return False
        hit("agent.before_redeem")
        redeemed = {"command": dict(CAPTURE), "operation_id": self.payment}
        self.line.call("POST", f"/approvals/{approval_id}/redeem", redeemed)
        return True

    def _order(self) -> dict[str, str] | None:
        if self._effect(self.order) is None:
            intent = {"operation_id": self.order, "kind": "orders.create", "request": dict(CREATE)}
            self.line.call("POST", f"{self.path}/effects", intent)
        self._await(lambda: self._effect(self.order) not in {"intended", "dispatched"})
        if self._effect(self.order) != "committed":
            return None
        return {"order-receipt": self._keep("order-receipt.txt", self.order)}

    def _write(self) -> dict[str, str]:
        wanted = {
            "project": "alpha",
            "execution_id": self.execution_id,
            "purpose": "service",
            "query": "What is the status of plot 18?",
            "max_tokens": 2_000,
            "tools": [{"name": "orders.create", "effect": "write"}],
        }
        package = self.line.ask("POST", "/context-packages", wanted)
        prompt = {"prompt": json.dumps(package["rendered"], ensure_ascii=False)}
        reply = httpx.post(self.model, json=prompt, timeout=60, verify=TRUST).json()["text"]
        sha256 = self._keep(ARTIFACT, reply)
        hit("agent.candidate_written")
        self.submit()
        self.line.call(
            "POST",
            f"{self.path}/turns",
            {"role": "assistant", "text": reply},
            key=f"reply-of-{self.external_ref}",
        )
        return {"reply": sha256}

    def _case(self) -> str:
        """Answer the id of the case file, which each session finds anew."""
        if self.case_id is None:
            wanted = {"project": "alpha", "query": "plot 18 outline consent", "limit": 5}
            items = self.line.ask("POST", "/evidence/search", wanted)["items"]
            self.case_id = next(item["id"] for item in items if item["title"] == "Case file of plot 18")
        return str(self.case_id)

    def _approval(self) -> str | None:
        """Answer the newest approval that may still lead to an act."""
        approvals = self.line.ask("GET", f"{self.path}/handoff")["approvals"]
        live = [one["id"] for one in approvals if one["status"] in {"pending", "approved"}]
        return live[-1] if live else None

    def _ask_approval(self) -> str:
        asked = {"command": dict(CAPTURE), "evidence_ids": [self._case()]}
        return str(self.line.ask("POST", f"{self.path}/approvals", asked)["id"])

    def _await_decision(self, approval_id: str) -> bool:
        def status() -> str:
            return str(self.line.ask("GET", f"/approvals/{approval_id}")["status"])

        self._await(lambda: status() != "pending")
        return status() == "approved"

    def _effect(self, operation_id: str) -> str | None:
        effects = self.line.ask("GET", f"{self.path}/handoff")["effects"]
        return next((one["status"] for one in effects if one["operation_id"] == operation_id), None)

    def _settle(self, operation_id: str, body: Mapping[str, str]) -> None:
        self.line.call("PATCH", f"{self.path}/effects/{operation_id}", dict(body))

    def _send(self, operation_id: str, command: Mapping[str, Any]) -> str:
        sent = {"execution_id": self.execution_id, "operation_id": operation_id, **command}
        answer = httpx.post(
            f"{self.shop}/orders",
            json=sent,
            headers={"Idempotency-Key": operation_id},
            timeout=30,
            verify=TRUST,
        )
        return str(answer.raise_for_status().json()["id"])

    def _log(self, task_id: str, exit_status: str, outputs: Mapping[str, str] | None = None) -> None:
        made = [
            {"name": name, "ref": f"file:{name}", "sha256": sha256}
            for name, sha256 in (outputs or {}).items()
        ]
        line = {"task_id": task_id, "exit_status": exit_status, "outputs": made}
        self.line.call("POST", f"{self.path}/steps", line)

    def _checkpoint(self, transition: str, step: int, next_action: str) -> None:
        state = {
            "plan": [task["id"] for task in MANIFEST],
            "next_action": next_action,
            "derived_from": [f"evidence:{self._case()}"],
        }
        body = {"transition": transition, "step": step, "state": state, "cost": "0.01"}
        self.line.call("POST", f"{self.path}/checkpoints", body, version=self._run()["version"])

    def _run(self) -> Any:
        return self.line.ask("GET", self.path)

    def _keep(self, name: str, text: str) -> str:
        """Write a file whole, and answer its hash."""
        fresh = self.folder / f".{name}.new"
        fresh.write_text(text)
        os.replace(fresh, self.folder / name)  # noqa: PTH105 - the atomic one, by its own name
        return hash_text(text)

    def _await(self, reached: Callable[[], bool]) -> None:
        deadline = time.monotonic() + _PATIENCE_SECONDS
        while not reached():
            if time.monotonic() > deadline:
                raise Unexpected("what was waited for did not come")
            time.sleep(_WAIT_SECONDS)
