"""How tests of acceptance submit, ask, fail and carry over: short words over the world of runs."""

from collections.abc import Sequence
from typing import Any, Final

from executions_world import AGENT, World

from service.core.hashing import hash_text
from service.executions.acceptance.model import (
    Candidate,
    CheckRequest,
    FailureKind,
    FoundEnvironment,
    RequirementStanding,
)
from service.executions.model import Execution, Requirement
from service.executions.request_checks import request_checks
from service.executions.store import ExecutionStore
from service.executions.submit import submit
from service.identity.model import Caller

OTHER_ARTIFACT: Final = hash_text("build 18")
LOGIN: Final = Requirement("login", "Login works", depends_on=("src/login",))
ORDERS: Final = Requirement("orders", "Orders can be filtered", depends_on=("src/orders", "schema.sql"))
EXPLAINED: Final = {"expected": "200", "observed": "403", "reproduce": "sign in"}


def submit_made_of(world: World, run: Execution, artifact: str, **texts: str) -> Candidate:
    """Submit an artifact that was made of these; `__` in a name stands for a slash, `_` for a dot."""
    inputs = {name.replace("__", "/").replace("_", "."): hash_text(text) for name, text in texts.items()}
    with world.unit() as unit:
        return submit(run.id, artifact, unit=unit, inputs=inputs)[0]


def ask(
    world: World, run: Execution, *requirements: str, who: Caller = AGENT
) -> tuple[Sequence[CheckRequest], bool]:
    """Ask for checks."""
    with world.unit(who) as unit:
        return request_checks(run.id, requirements, unit=unit, bundle=world.bundle)


def fail(
    world: World,
    run: Execution,
    requirement: str = "login",
    kind: FailureKind = FailureKind.WRONG_RESULT,
    **fields: Any,
) -> Execution:
    """Write a failed check."""
    return world.grade(run, requirement, passed=False, failure_kind=kind, **EXPLAINED, **fields)


def find_environment(world: World, run: Execution, **values: Any) -> None:
    """Write down what a resume found around the run: all checks until now are held against it."""
    with world.unit() as unit:
        store = ExecutionStore.of(unit)
        highest = store.acceptance.next_check(run.id) - 1
        store.acceptance.keep_environment(store.get(run.id, lock=True), FoundEnvironment(values, highest))


def standing(world: World, run: Execution, requirement: str = "login") -> RequirementStanding:
    """Answer how a requirement stands."""
    return next(one for one in world.facts(run).standings if one.requirement == requirement)
