"""Shapes of approvals: asking, deciding, redeeming."""

from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field

from service.wire.ledger import EffectAnswer, OperationId
from service.wire.scalars import Answer, Id, Name, Request, ShortText, When

ApprovalStatus = Literal["pending", "approved", "rejected", "redeemed", "expired", "stale", "cancelled"]
"""How far a request for approval got."""

Moved = Literal[
    "command",
    "execution_ended",
    "expired",
    "acting_user",
    "approver",
    "policy_version",
    "evidence_changed",
    "evidence_superseded",
    "evidence_expired",
    "evidence_erased",
    "evidence_quarantined",
]
"""Which binding of an approval no longer holds."""


class CommandShape(Request):
    """One exact command: its kind, and whatever else the kind takes. All of it is what is approved."""

    model_config = ConfigDict(extra="allow")

    kind: Name

    @property
    def whole(self) -> dict[str, Any]:
        """The command as it was sent."""
        return {"kind": self.kind, **(self.model_extra or {})}


class AskApproval(Request):
    """A request for a person's yes. It may be stricter than the policy: more evidence, less time."""

    command: CommandShape
    evidence_ids: Annotated[tuple[Id, ...], Field(max_length=50)] = ()
    expires_at: When | None = None


class DecideApproval(Request):
    """A person's word on a request."""

    decision: Literal["approve", "reject"]
    reason: ShortText | None = None


class RedeemApproval(Request):
    """The command as it is about to be done, and the client's name of the operation."""

    command: CommandShape
    operation_id: OperationId


class PinnedEvidenceAnswer(Answer):
    """Evidence as it stood when the approval was asked for; `moved` says how it no longer does."""

    id: str
    version: int
    sha256: str
    moved: Moved | None


class ApprovalListed(Answer):
    """An approval in a list. `command` and `reason` are `null` for those who may not read them."""

    id: str
    execution_id: str
    project: str
    kind: str
    command: dict[str, Any] | None
    command_hash: str
    status: ApprovalStatus
    approver_role: str
    requested_by: str
    acting_user: str
    agent: str | None
    policy_version: str
    expires_at: When
    decided_by: str | None
    decider_role: str | None
    decided_at: When | None
    reason: str | None
    operation_id: str | None
    redeemed_at: When | None
    moved: list[Moved]
    created_at: When


class ApprovalAnswer(ApprovalListed):
    """An approval with its bindings, compared with the present while it can still lead to an act."""

    evidence: list[PinnedEvidenceAnswer]


class ApprovalPage(Answer):
    """A page of approvals, newest first."""

    items: list[ApprovalListed]
    next_cursor: str | None


class RedeemAnswer(Answer):
    """The effect whose intent the redemption wrote."""

    effect: EffectAnswer
