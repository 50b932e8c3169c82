"""Approvals between their values inside and their shapes on the wire."""

from typing import Any

from service.executions.approvals.model import Approval, NewApproval
from service.executions.approvals.rules import LIVE, evidence_moved
from service.executions.bindings import evidence_now, moved_bindings
from service.executions.model import Execution
from service.identity.unit import Unit
from service.policies.active import active_bundle
from service.wire.approvals import ApprovalAnswer, ApprovalListed, AskApproval, PinnedEvidenceAnswer


def new_approval(body: AskApproval) -> NewApproval:
    """Answer what is asked for."""
    return NewApproval(body.command.whole, body.evidence_ids, body.expires_at)


def approval_listed(approval: Approval, project: str) -> ApprovalListed:
    """Answer an approval as it stands in a list; `project` is its project's name."""
    return ApprovalListed(**_fields(approval, project))


def approval_answer(approval: Approval, execution: Execution, *, unit: Unit) -> ApprovalAnswer:
    """Answer an approval with its bindings: while it can lead to an act, with what has moved until now."""
    fields = _fields(approval, unit.project_of(execution.project_id).name)
    if approval.status in LIVE:
        moved = moved_bindings(approval, execution=execution, unit=unit, bundle=active_bundle(unit))
        fields["moved"] = [code.value for code in moved]
    present = evidence_now(approval, unit=unit)
    evidence = [
        PinnedEvidenceAnswer(
            id=pinned.id,
            version=pinned.version,
            sha256=pinned.sha256,
            moved=code and code.value,
        )
        for pinned in approval.evidence
        for code in (evidence_moved(pinned, present.get(pinned.id)),)
    ]
    return ApprovalAnswer(**fields, evidence=evidence)


def _fields(approval: Approval, project: str) -> dict[str, Any]:
    return {
        "id": approval.id,
        "execution_id": approval.execution_id,
        "project": project,
        "kind": approval.kind,
        "command": None if approval.command is None else dict(approval.command),
        "command_hash": approval.command_hash,
        "status": approval.status.value,
        "approver_role": approval.approver_role.value,
        "requested_by": approval.requested_by,
        "acting_user": approval.acting_user,
        "agent": approval.agent,
        "policy_version": approval.policy_version,
        "expires_at": approval.expires_at,
        "decided_by": approval.decided_by,
        "decider_role": approval.decider_role and approval.decider_role.value,
        "decided_at": approval.decided_at,
        "reason": approval.reason,
        "operation_id": approval.operation_id,
        "redeemed_at": approval.redeemed_at,
        "moved": [code.value for code in approval.moved],
        "created_at": approval.created_at,
    }
