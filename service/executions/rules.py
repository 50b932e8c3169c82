"""Which moves a run may make, and what its contract is. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from types import MappingProxyType
from typing import Any, Final

from service.core.hashing import hash_json
from service.executions.model import (
    REFERENCE_LENGTH_MAX,
    REFERENCES_MAX,
    SCHEMA_VERSION_OLDEST,
    STATE_SCHEMA_VERSION,
    ContractOrigin,
    Execution,
    NewCheckpoint,
    Requirement,
    Status,
    Transition,
)
from service.executions.money import MICROS_MAX, to_micros
from service.policies.words import ContractConfirmation

_WORKING: Final = MappingProxyType(
    {
        Transition.ADVANCE: Status.RUNNING,
        Transition.WAIT: Status.WAITING_APPROVAL,
        Transition.FAIL: Status.FAILED,
        Transition.FINISH: Status.RUNNING,
    }
)

NEXT: Final[Mapping[Status, Mapping[Transition, Status]]] = MappingProxyType(
    {
        Status.OPEN: MappingProxyType({**_WORKING, Transition.START: Status.RUNNING}),
        Status.RUNNING: _WORKING,
        Status.WAITING_APPROVAL: _WORKING,
        Status.WAITING_RECONCILIATION: _WORKING,
        # Not `fail`: what has failed is retried by a checkpoint, and only an operator ends a review.
        Status.REVIEW_REQUIRED: MappingProxyType({Transition.WAIT: Status.REVIEW_REQUIRED}),
        Status.FAILED: MappingProxyType({Transition.RETRY: Status.RUNNING}),
        Status.COMPLETED: MappingProxyType({}),
        Status.CANCELLED: MappingProxyType({}),
        Status.EXPIRED: MappingProxyType({}),
        Status.UNSUPPORTED_SCHEMA: MappingProxyType({}),
    }
)
"""Where each transition leads; one that is absent is refused. `wait` waits for a reconciliation instead of an
approval while an effect's outcome is unknown."""
assert NEXT.keys() == set(Status)

ENDED: Final = frozenset({Status.COMPLETED, Status.CANCELLED, Status.EXPIRED, Status.UNSUPPORTED_SCHEMA})
"""A run in one of these is immutable."""
CAN_EXPIRE: Final = frozenset(Status) - ENDED
"""A run in one of these is expired once its deadline has passed."""
CAN_COMPLETE: Final = frozenset(
    {Status.OPEN, Status.RUNNING, Status.WAITING_APPROVAL, Status.WAITING_RECONCILIATION}
)
"""A run in one of these is completed as soon as its contract is shown to be met."""
_PAST_BUDGET: Final = frozenset({Transition.WAIT, Transition.FAIL})
_NEEDS_KNOWN_EFFECTS: Final = frozenset({Transition.ADVANCE, Transition.FINISH})


@dataclass(frozen=True, slots=True)
class Move:
    """A checkpoint that may be taken: where it leads, at which step, what the run has then cost."""

    status: Status
    step: int
    cost_used: Decimal


@dataclass(frozen=True, slots=True)
class Refused:
    """A checkpoint that may not be taken, and why: a stable code and one sentence."""

    code: str
    message: str


def hash_contract(objective: str, requirements: Sequence[Requirement]) -> str:
    """Answer the hash of objective and requirements. What a requirement leaves open is not in it at all."""
    return hash_json(
        {"objective": objective, "requirements": [requirement_json(one) for one in requirements]}
    )


def requirement_json(requirement: Requirement) -> dict[str, Any]:
    """Answer a requirement as JSON, without what it leaves open."""
    value: dict[str, Any] = {"id": requirement.id, "text": requirement.text}
    if requirement.grader is not None:
        value["grader"] = requirement.grader
    if requirement.depends_on:
        value["depends_on"] = list(requirement.depends_on)
    return value


def status_at(
    stored: Status, deadline: datetime | None, now: datetime, *, schema_version: int = STATE_SCHEMA_VERSION
) -> Status:
    """Answer the status that holds at `now`.

    Of runs that have not ended, one whose state is too old to be read is of unsupported schema, and one that
    is past its deadline is expired.
    """
    if schema_version < SCHEMA_VERSION_OLDEST and stored not in ENDED:
        return Status.UNSUPPORTED_SCHEMA
    if deadline is not None and deadline <= now and stored in CAN_EXPIRE:
        return Status.EXPIRED
    return stored


def judge_move(
    execution: Execution, asked: NewCheckpoint, *, effect_unsettled: bool, steps_max: int
) -> Move | Refused:
    """Decide whether a run may make a move.

    The move that takes the cost past its budget is still recorded: the money is spent. After it only `wait`
    and `fail` are left. A step past its budget, or past `steps_max` of the policy, has not been taken yet, so
    it is refused.
    """
    target = NEXT[execution.status].get(asked.transition)
    step = execution.step if asked.step is None else asked.step
    cost_used = execution.cost_used + asked.cost
    budgets = execution.budgets
    if target is None:
        return Refused("transition_refused", f"A run that is {execution.status} cannot {asked.transition}.")
    if step < execution.step:
        return Refused("step_backwards", "A step never goes backwards.")
    if asked.transition not in _PAST_BUDGET and (
        (budgets.cost is not None and execution.cost_used > budgets.cost)
        or step > min(steps_max, steps_max if budgets.steps is None else budgets.steps)
    ):
        return Refused("budget_exhausted", "The run is past its budget: only wait and fail are left.")
    if to_micros(cost_used) > MICROS_MAX:
        return Refused("cost_too_large", "The run's cost is more than can be counted.")
    if (
        execution.status is Status.WAITING_RECONCILIATION
        and asked.transition in _NEEDS_KNOWN_EFFECTS
        and effect_unsettled
    ):
        return Refused("effect_unknown", "An effect's outcome is unknown: reconcile it first.")
    if target is Status.WAITING_APPROVAL and effect_unsettled:
        target = Status.WAITING_RECONCILIATION
    return Move(status=target, step=step, cost_used=cost_used)


def references_of(state: Mapping[str, Any] | None) -> Sequence[str] | None:
    """Answer the references that a state is derived from, `None` when they are not a list of references."""
    found = [] if state is None else state.get("derived_from", [])
    if not isinstance(found, list) or len(found) > REFERENCES_MAX:
        return None
    return found if all(_is_reference(ref) for ref in found) else None


def needs_confirmation(execution: Execution, rule: ContractConfirmation) -> bool:
    """Say whether a person must confirm the contract before the run can be completed."""
    if rule is ContractConfirmation.AGENT_WRITTEN:
        return execution.contract_origin is ContractOrigin.AGENT
    return rule is ContractConfirmation.ALWAYS


def _is_reference(value: object) -> bool:
    return (
        isinstance(value, str)
        and 0 < len(value) <= REFERENCE_LENGTH_MAX
        and value.isprintable()
        and not any(map(str.isspace, value))
    )
