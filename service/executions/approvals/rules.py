"""What an approval is bound to, who decides it, and what no longer holds. Pure."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from types import MappingProxyType
from typing import Any, Final

from service.core.hashing import canonical_json, hash_bytes
from service.executions.approvals.model import (
    COMMAND_BYTES_MAX,
    Approval,
    ApprovalStatus,
    EvidenceNow,
    Moved,
    PinnedEvidence,
    Standing,
)
from service.identity.matrix import (
    APPROVALS_DECIDE,
    EXECUTIONS_OPERATE,
    EXECUTIONS_READ,
    EXECUTIONS_WRITE,
)
from service.identity.model import Caller, Role

APPROVAL_NEXT: Final[Mapping[ApprovalStatus, frozenset[ApprovalStatus]]] = MappingProxyType(
    {
        ApprovalStatus.PENDING: frozenset(
            {
                ApprovalStatus.APPROVED,
                ApprovalStatus.REJECTED,
                ApprovalStatus.EXPIRED,
                ApprovalStatus.STALE,
                ApprovalStatus.CANCELLED,
            }
        ),
        ApprovalStatus.APPROVED: frozenset(
            {
                ApprovalStatus.REDEEMED,
                ApprovalStatus.EXPIRED,
                ApprovalStatus.STALE,
                ApprovalStatus.CANCELLED,
            }
        ),
        ApprovalStatus.REDEEMED: frozenset({ApprovalStatus.STALE}),
        ApprovalStatus.EXPIRED: frozenset({ApprovalStatus.CANCELLED}),
        ApprovalStatus.STALE: frozenset({ApprovalStatus.CANCELLED}),
        ApprovalStatus.REJECTED: frozenset(),
        ApprovalStatus.CANCELLED: frozenset(),
    }
)
"""A redeemed approval turns stale when a binding is found moved before its effect is dispatched."""
assert APPROVAL_NEXT.keys() == set(ApprovalStatus)

LIVE: Final = frozenset({ApprovalStatus.PENDING, ApprovalStatus.APPROVED})
"""An approval in one of these can still lead to an act; past its expiry it is expired."""
LAPSED: Final = frozenset({ApprovalStatus.EXPIRED, ApprovalStatus.STALE})
"""An approval in one of these waits for a newer one, or for somebody to cancel it."""

_INTEGER_MAX: Final = 2**53 - 1


def command_fault(command: Mapping[str, Any]) -> tuple[str, str] | None:
    """Answer why a command has no canonical form that fits, as a pointer and a sentence, or `None`.

    Keys are the client's own, so the pointer has `*` for each.
    """
    found = _inexact(command)
    if found is not None:
        return found, "is an integer beyond 2**53, which the canonical form (RFC 8785) cannot carry exactly"
    if len(canonical_json(dict(command))) > COMMAND_BYTES_MAX:
        return "", f"is longer than {COMMAND_BYTES_MAX} bytes"
    return None


def hash_command(kind: str, request: Mapping[str, Any]) -> str | None:
    """Answer `sha256:<hex>` of the RFC 8785 form of `{"kind": kind, **request}`.

    `None` for a request that has no such form, or that holds a `kind` itself: two commands would be alike.
    """
    if "kind" in request or _inexact(request) is not None:
        return None
    return hash_bytes(canonical_json({"kind": kind, **request}))


def status_at(stored: ApprovalStatus, expires_at: datetime, now: datetime) -> ApprovalStatus:
    """Answer the status that holds at `now`: what can still lead to an act is expired once its time is up."""
    return ApprovalStatus.EXPIRED if stored in LIVE and expires_at <= now else stored


def may_decide(approval: Approval, caller: Caller) -> bool:
    """Say whether the caller is the one whom the policy names.

    A user decides what is done in their own name, by their own sign-in. Anybody else decides only what they
    neither asked for nor act in.
    """
    if APPROVALS_DECIDE not in caller.scopes or caller.act is not None:
        return False
    if caller.role is not approval.approver_role:
        return False
    if caller.role is Role.USER:
        return caller.subject == approval.acting_user
    return caller.subject not in (approval.acting_user, approval.agent)


def may_withdraw(approval: Approval, caller: Caller) -> bool:
    """Say whether the caller may cancel it: the acting user, their agent, an operator, or who decides it."""
    is_own = EXECUTIONS_WRITE in caller.scopes and caller.sub == approval.acting_user
    return is_own or EXECUTIONS_OPERATE in caller.scopes or may_decide(approval, caller)


def may_read_command(approver_role: Role, caller: Caller) -> bool:
    """Say whether the caller sees the command's text: who reads runs, and who decides that very command."""
    return EXECUTIONS_READ in caller.scopes or (
        APPROVALS_DECIDE in caller.scopes and caller.role is approver_role
    )


def what_moved(approval: Approval, standing: Standing) -> Sequence[Moved]:
    """Answer every binding that no longer holds, each once; none: the approval still says what it said."""
    found = [
        (Moved.EXECUTION_ENDED, standing.execution_ended),
        (Moved.EXPIRED, approval.expires_at <= standing.now),
        (Moved.ACTING_USER, not standing.acting_user_stands),
        (Moved.APPROVER, not standing.approver_stands),
        (Moved.POLICY_VERSION, approval.policy_version != standing.policy_version),
    ]
    moved = [code for code, has_moved in found if has_moved]
    for pinned in approval.evidence:
        code = evidence_moved(pinned, standing.evidence.get(pinned.id))
        if code is not None and code not in moved:
            moved.append(code)
    return moved


def evidence_moved(pinned: PinnedEvidence, now: EvidenceNow | None) -> Moved | None:
    """Answer how a piece of evidence is no longer what was shown, or `None`."""
    if now is None:
        return Moved.EVIDENCE_ERASED
    if now.quarantined:
        return Moved.EVIDENCE_QUARANTINED
    if (now.version, now.sha256) != (pinned.version, pinned.sha256):
        return Moved.EVIDENCE_CHANGED
    if now.superseded:
        return Moved.EVIDENCE_SUPERSEDED
    return Moved.EVIDENCE_EXPIRED if now.expired else None


def newest_of_each_command(approvals: Sequence[Approval]) -> Sequence[Approval]:
    """Answer for each command the request that was made last; `approvals` are in the order of asking."""
    newest = {approval.command_hash: approval.id for approval in approvals}
    return [approval for approval in approvals if newest[approval.command_hash] == approval.id]


def needs_attention(
    approvals: Sequence[Approval], moved: Mapping[str, Sequence[Moved]]
) -> Sequence[Approval]:
    """Answer the approvals that have to be asked for again before work goes on, in the order of asking.

    `moved` has, by id, what moved of those that could still lead to an act. A newer request for the same
    command, however it stands, takes the place of an older one; a cancelled one needs nothing.
    """
    return [
        approval
        for approval in newest_of_each_command(approvals)
        if approval.status in LAPSED
        or (approval.status is not ApprovalStatus.CANCELLED and moved.get(approval.id))
    ]


def _inexact(value: object, pointer: str = "") -> str | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return pointer if abs(value) > _INTEGER_MAX else None
    parts: Sequence[tuple[str, object]] = ()
    if isinstance(value, Mapping):
        parts = [("*", part) for part in value.values()]
    elif isinstance(value, list):
        parts = [(str(position), part) for position, part in enumerate(value)]
    for name, part in parts:
        found = _inexact(part, f"{pointer}/{name}")
        if found is not None:
            return found
    return None
