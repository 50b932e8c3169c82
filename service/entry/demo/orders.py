"""The order application: login is checked, orders are not, and one order may or may not have been placed."""

from dataclasses import dataclass
from typing import Any

from service.core.hashing import hash_text
from service.entry.demo.calls import Person


@dataclass(frozen=True, slots=True)
class OrderApplication:
    """What the order application left behind."""

    execution_id: str
    package: dict[str, Any]
    next_steps: str
    resumed: list[tuple[str, dict[str, Any]]]
    """What fresh sessions found, each with the answer to its resume."""


def tell_order_application(*, agent: Person, grader: Person, operator: Person) -> OrderApplication:
    """Play the run up to the lost answer, build the package that a fresh session starts from, and resume."""
    execution = _open(agent)
    path = f"/executions/{execution['id']}"
    version = _plan(agent, path, int(execution["version"]))
    agent.post(
        f"{path}/checkpoints",
        {
            "transition": "start",
            "step": 1,
            "state": {"plan": ["login", "orders"], "next_action": "find out whether order 8 was placed"},
            "cost": "0.40",
        },
        if_match=version,
    )
    artifact = hash_text("order application, build 17")
    agent.post(f"{path}/candidates", {"artifact_hash": artifact})
    grader.post(
        f"{path}/checks",
        {
            "requirement": "login",
            "passed": True,
            "artifact_hash": artifact,
            "contract_hash": execution["contract_hash"],
            "grader": {"id": "browser", "version": "3"},
            "environment": {"commit": "4be1c07"},
        },
    )
    order = {"operation_id": "seed-order-8", "kind": "orders.create", "request": {"sku": "A1"}}
    agent.post(f"{path}/effects", order)
    for status in ("dispatched", "unknown"):
        agent.patch(f"{path}/effects/seed-order-8", {"status": status})
    package = agent.post(
        "/context-packages",
        {
            "project": "orders",
            "execution_id": execution["id"],
            "purpose": "service",
            "encoding": "o200k_base",
            "max_tokens": 1_600,
            "reply_reserve": 300,
            "profile": "handoff",
            "render": "markdown",
        },
    )
    next_steps = str(agent.get(f"{path}/handoff", accept="text/plain"))
    resumed = _resume(execution, agent=agent, operator=operator)
    return OrderApplication(str(execution["id"]), package, next_steps, resumed)


def _resume(
    execution: dict[str, Any], *, agent: Person, operator: Person
) -> list[tuple[str, dict[str, Any]]]:
    """Take the run over three times, as sessions that know nothing of each other would."""
    path = f"/executions/{execution['id']}"

    def ask(build: int) -> dict[str, Any]:
        found = {
            "artifact_hash": hash_text(f"order application, build {build}"),
            "contract_hash": execution["contract_hash"],
            "environment": {"commit": "4be1c07"},
        }
        answer: dict[str, Any] = agent.post(f"{path}/resume", found, expect=200)
        agent.delete(f"{path}/lease", fencing_token=int(answer["lease"]["fencing_token"]))
        return answer

    changed, unknown = ask(18), ask(17)
    answered = {"outcome": "committed", "downstream_ref": "order:8", "reason": "It stands in the order book."}
    operator.post(f"{path}/effects/seed-order-8/reconcile", answered, expect=200)
    return [
        ("an artifact that nobody submitted", changed),
        ("the artifact that was submitted", unknown),
        ("the same, after an operator looked", ask(17)),
    ]


def _open(agent: Person) -> dict[str, Any]:
    execution: dict[str, Any] = agent.post(
        "/executions",
        {
            "project": "orders",
            "external_ref": "order-app-42",
            "objective": "Build the order application",
            "requirements": [
                {"id": "login", "text": "Login works", "grader": "browser"},
                {"id": "orders", "text": "Orders can be filtered", "grader": "browser"},
            ],
            "budgets": {"cost": "5.00", "steps": 40, "revisions": 3},
            "retention_class": "operational",
        },
    )
    return execution


def _plan(agent: Person, path: str, version: int) -> int:
    manifest = agent.put(
        f"{path}/manifest",
        {
            "tasks": [
                {"id": "login", "title": "Write the login page", "inputs": [], "outputs": ["login-page"]},
                {
                    "id": "orders",
                    "title": "Write the order list",
                    "inputs": ["login-page"],
                    "outputs": ["order-list"],
                },
            ]
        },
        if_match=version,
    )
    output = {"name": "login-page", "ref": "artifact:login", "sha256": hash_text("login page")}
    agent.post(
        f"{path}/steps",
        {
            "task_id": "login",
            "exit_status": "completed",
            "inputs": [],
            "outputs": [output],
            "summary": "Login page written",
        },
    )
    return int(manifest["version"])
