"""The queries of one tenant's approvals."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from sqlalchemy import ColumnElement, and_, or_
from sqlalchemy.orm import defer
from sqlmodel import Session, col, func, select

from service.core.cipher import Cipher
from service.executions.approvals.model import Approval, ApprovalStatus, Moved, PinnedEvidence
from service.executions.approvals.rules import LIVE, may_read_command, status_at
from service.executions.approvals.tables import ApprovalRow
from service.executions.sealed import SealedText
from service.executions.tables import ExecutionRow
from service.identity.model import Caller, Role

# SQLModel types columns as the values of their rows.
_TEXTS_LATER: Final = (defer(ApprovalRow.command), defer(ApprovalRow.reason))  # type: ignore[arg-type]
"""Up to 64 KiB each, which a list of a run's approvals has no use for."""


class ApprovalStore:
    """Reads and writes; which runs may be read is decided by `ExecutionStore`, which hands this out.

    Which commands may be read is decided here: an operator who has to decide one sees it, and no other. What
    is past its expiry reads as expired, whether or not that is written.
    """

    def __init__(
        self, session: Session, tenant_id: str, cipher: Cipher, *, caller: Caller, now: datetime
    ) -> None:
        self._session = session
        self._tenant_id = tenant_id
        self._cipher = cipher
        self._caller = caller
        self._now = now

    def add(self, approval: Approval, *, person: str | None) -> None:
        """Keep a new request, its command sealed under the key of the person whom the run is about."""
        command = None if approval.command is None else dict(approval.command)
        sealed = self._text(approval.approver_role).seal_json(
            command, person=person, place=_place(approval.id, "command")
        )
        self._session.add(
            ApprovalRow(
                tenant_id=self._tenant_id,
                id=approval.id,
                execution_id=approval.execution_id,
                kind=approval.kind,
                command=sealed,
                command_hash=approval.command_hash,
                status=approval.status,
                approver_role=approval.approver_role,
                requested_by=approval.requested_by,
                acting_user=approval.acting_user,
                agent=approval.agent,
                evidence=[[one.id, one.version, one.sha256] for one in approval.evidence],
                policy_version=approval.policy_version,
                expires_at=approval.expires_at,
                moved=[],
                created_at=approval.created_at,
                updated_at=approval.updated_at,
            )
        )
        self._session.flush()

    def decide(self, approval: Approval, *, person: str | None, keep_text: bool = True) -> None:
        """Write who decided, how, and why; with `keep_text` false, the command leaves with the decision."""
        row = self._row(approval.id)
        row.decided_by = approval.decided_by
        row.decider_role = approval.decider_role
        row.decided_at = approval.decided_at
        row.reason = self._text(approval.approver_role).seal(
            approval.reason if keep_text else None, person=person, place=_place(approval.id, "reason")
        )
        row.command = row.command if keep_text else None
        self._save(row, approval)

    def settle(self, approval: Approval) -> None:
        """Write how an approval stands: for which operation it was redeemed, or what moved."""
        row = self._row(approval.id)
        row.operation_id = approval.operation_id
        row.redeemed_at = approval.redeemed_at
        row.moved = [code.value for code in approval.moved]
        self._save(row, approval)

    def find(self, approval_id: str) -> Approval | None:
        """Answer an approval of any run of the tenant, as it is now, or `None`."""
        row = self._session.get(ApprovalRow, (self._tenant_id, approval_id), populate_existing=True)
        return None if row is None else self._approval(row)

    def find_pending(self, execution_id: str, command_hash: str) -> Approval | None:
        """Answer the run's request for that command that is written as pending; its time may be up."""
        row = self._session.exec(
            select(ApprovalRow)
            .where(
                ApprovalRow.tenant_id == self._tenant_id,
                ApprovalRow.execution_id == execution_id,
                ApprovalRow.command_hash == command_hash,
                ApprovalRow.status == ApprovalStatus.PENDING,
            )
            .execution_options(populate_existing=True)
        ).first()
        return None if row is None else self._approval(row)

    def of_run(self, execution_id: str) -> Sequence[Approval]:
        """Answer all approvals of the run in the order they were asked for, without their texts."""
        rows = self._session.exec(
            select(ApprovalRow)
            .where(ApprovalRow.tenant_id == self._tenant_id, ApprovalRow.execution_id == execution_id)
            .order_by(col(ApprovalRow.created_at), col(ApprovalRow.id))
            .options(*_TEXTS_LATER)
            .execution_options(populate_existing=True)
        ).all()
        return [self._approval(row, with_text=False) for row in rows]

    def count(self, execution_id: str) -> int:
        """Count the run's requests, decided ones included."""
        return self._session.exec(
            select(func.count())
            .select_from(ApprovalRow)
            .where(ApprovalRow.tenant_id == self._tenant_id, ApprovalRow.execution_id == execution_id)
        ).one()

    def list_newest(
        self,
        project_ids: Sequence[str],
        *,
        limit: int,
        before_id: str | None,
        status: ApprovalStatus | None,
    ) -> Sequence[tuple[Approval, str]]:
        """Answer up to `limit` approvals in the projects, newest first, each with its project's id."""
        query = (
            select(ApprovalRow, ExecutionRow.project_id)
            .join(
                ExecutionRow,
                and_(
                    col(ExecutionRow.tenant_id) == col(ApprovalRow.tenant_id),
                    col(ExecutionRow.id) == col(ApprovalRow.execution_id),
                ),
            )
            .where(ApprovalRow.tenant_id == self._tenant_id, col(ExecutionRow.project_id).in_(project_ids))
        )
        if before_id is not None:
            query = query.where(ApprovalRow.id < before_id)
        if status is not None:
            query = query.where(self._has_status(status))
        rows = self._session.exec(query.order_by(col(ApprovalRow.id).desc()).limit(limit)).all()
        return [(self._approval(row), project_id) for row, project_id in rows]

    def _has_status(self, status: ApprovalStatus) -> ColumnElement[bool]:
        stored, expires_at = col(ApprovalRow.status), col(ApprovalRow.expires_at)
        if status in LIVE:
            return and_(stored == status, expires_at > self._now)
        if status is ApprovalStatus.EXPIRED:
            return or_(stored == status, and_(stored.in_(sorted(LIVE)), expires_at <= self._now))
        return stored == status

    def _row(self, approval_id: str) -> ApprovalRow:
        return self._session.get_one(ApprovalRow, (self._tenant_id, approval_id))

    def _save(self, row: ApprovalRow, approval: Approval) -> None:
        row.status = approval.status
        row.updated_at = approval.updated_at
        self._session.add(row)
        self._session.flush()

    def _text(self, approver_role: Role) -> SealedText:
        return SealedText(self._cipher, redacted=not may_read_command(approver_role, self._caller))

    def _approval(self, row: ApprovalRow, *, with_text: bool = True) -> Approval:
        approver_role = Role(row.approver_role)
        text = self._text(approver_role)
        command = text.open_object(row.command, place=_place(row.id, "command")) if with_text else {}
        reason = text.open(row.reason, place=_place(row.id, "reason")) if with_text else None
        return Approval(
            id=row.id,
            execution_id=row.execution_id,
            kind=row.kind,
            # Every command has a kind, so an empty one was not read.
            command=command or None,
            command_hash=row.command_hash,
            status=status_at(ApprovalStatus(row.status), row.expires_at, self._now),
            approver_role=approver_role,
            requested_by=row.requested_by,
            acting_user=row.acting_user,
            agent=row.agent,
            evidence=tuple(_pinned(entry) for entry in row.evidence),
            policy_version=row.policy_version,
            expires_at=row.expires_at,
            created_at=row.created_at,
            updated_at=row.updated_at,
            decided_by=row.decided_by,
            decider_role=None if row.decider_role is None else Role(row.decider_role),
            decided_at=row.decided_at,
            reason=reason,
            operation_id=row.operation_id,
            redeemed_at=row.redeemed_at,
            moved=tuple(Moved(code) for code in row.moved),
        )


def _pinned(entry: Sequence[str | int]) -> PinnedEvidence:
    evidence_id, version, sha256 = entry
    return PinnedEvidence(str(evidence_id), int(version), str(sha256))


def _place(approval_id: str, name: str) -> str:
    return f"approvals/{approval_id}/{name}"
