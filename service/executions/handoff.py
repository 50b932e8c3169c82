"""What a fresh session needs to take over: the ledger of a run, from its facts."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from service.core.text import cut_at_grapheme
from service.executions.acceptance.model import CheckStatus, RequirementStanding
from service.executions.approvals.model import Approval, ApprovalStatus
from service.executions.approvals.rules import LAPSED, newest_of_each_command
from service.executions.conversation.model import PinKind
from service.executions.facts import Facts
from service.executions.ledger.model import Effect
from service.executions.ledger.rules import is_unknown, is_unsettled
from service.executions.rules import ENDED
from service.executions.work.model import Output, Standing
from service.executions.work.rules import next_task

NEXT_ACTION_LENGTH_MAX: Final = 1_000


class BlockerKind(StrEnum):
    """What stands in the way."""

    EFFECT = "effect"
    APPROVAL = "approval"
    PIN = "pin"
    CHECK = "check"
    TASK = "task"


@dataclass(frozen=True, slots=True)
class Blocker:
    """One thing that stands in the way: what it is, its id, and what is known of it in words."""

    kind: BlockerKind
    ref: str
    text: str | None


@dataclass(frozen=True, slots=True)
class Handoff:
    """The state of a run as a ledger. `revision` is the run's version; `completed` are task ids."""

    schema_version: int
    execution_id: str
    external_ref: str | None
    revision: int
    contract_hash: str
    artifact_hash: str | None
    completed: Sequence[str]
    next_action: str | None
    outputs: Sequence[tuple[str, Output]]
    blockers: Sequence[Blocker]
    checks: Sequence[RequirementStanding]
    effects: Sequence[Effect]
    approvals: Sequence[Approval]
    environment: Mapping[str, Any]


def compose_handoff(facts: Facts) -> Handoff:
    """Answer the ledger of a run: effects of unknown outcome come first."""
    execution, tasks = facts.execution, [*facts.tasks, *facts.undeclared]
    return Handoff(
        schema_version=execution.schema_version,
        execution_id=execution.id,
        external_ref=execution.external_ref,
        revision=execution.version,
        contract_hash=execution.contract_hash,
        artifact_hash=facts.candidates[-1].artifact_hash if facts.candidates else None,
        completed=[task.id for task in tasks if task.standing is Standing.COMPLETED],
        next_action=next_action(facts),
        outputs=[(task.id, output) for task in tasks for output in task.produced],
        blockers=list(_blockers(facts)),
        checks=facts.standings,
        effects=sorted(facts.effects, key=lambda effect: not is_unsettled(effect)),
        approvals=facts.approvals,
        environment=facts.environment,
    )


def pending_action(facts: Facts) -> str | None:
    """Answer what the record says must happen next, as a code with its reference, or `None`.

    An unknown effect before any task, an undone task before any check, in the order that resuming decides.
    """
    if facts.execution.status in ENDED:
        return None
    unknown = next((effect for effect in facts.effects if is_unknown(effect)), None)
    if unknown is not None:
        return f"reconcile:{unknown.operation_id}"
    escalated = next((effect for effect in facts.effects if is_unsettled(effect)), None)
    if escalated is not None:
        return f"escalated:{escalated.operation_id}"
    task = next_task(facts.tasks)
    if task is not None:
        return f"continue:{task.id}"
    undone = [one for one in facts.standings if one.status is not CheckStatus.PASSED]
    if undone and (facts.candidates or facts.execution.finish_asked):
        return f"{'escalate' if undone[0].escalated else 'verify'}:{undone[0].requirement}"
    return None


def next_action(facts: Facts) -> str | None:
    """Answer what the run does next in the agent's own words, else as `pending_action` has it."""
    if facts.execution.status in ENDED:
        return None
    words = facts.state.get("next_action")
    if isinstance(words, str) and words.strip():
        return words[: cut_at_grapheme(words, NEXT_ACTION_LENGTH_MAX)]
    return pending_action(facts)


def _blockers(facts: Facts) -> Iterator[Blocker]:
    for effect in facts.effects:
        if is_unsettled(effect):
            yield Blocker(BlockerKind.EFFECT, effect.operation_id, f"outcome unknown ({effect.status})")
    yield from _open_approvals(facts.approvals)
    for pin in facts.pins:
        if pin.kind is PinKind.BLOCKER and not pin.resolved:
            yield Blocker(BlockerKind.PIN, pin.id, pin.text)
    for one in facts.standings:
        if one.status is CheckStatus.FAILED and one.check_id is not None:
            words = f"requirement {one.requirement} failed ({one.failure_kind})"
            if one.escalated:
                words += ", more often than its revisions allow"
            yield Blocker(BlockerKind.CHECK, one.check_id, words)
    for task in facts.tasks:
        if task.standing is Standing.FAILED:
            yield Blocker(BlockerKind.TASK, task.id, "failed")


def _open_approvals(approvals: Sequence[Approval]) -> Iterator[Blocker]:
    for approval in newest_of_each_command(approvals):
        if approval.status is ApprovalStatus.PENDING:
            words = f"waits for a decision ({approval.approver_role})"
            yield Blocker(BlockerKind.APPROVAL, approval.id, words)
        elif approval.status in LAPSED:
            yield Blocker(BlockerKind.APPROVAL, approval.id, f"no longer holds ({approval.status})")
