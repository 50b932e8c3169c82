"""What an erasure does at once, before anything is destroyed: nobody sees it, and nothing goes on with it."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import CursorResult, and_, delete, update
from sqlmodel import col

from service.executions.acceptance.tables import CheckRequestRow
from service.executions.approvals.model import ApprovalStatus
from service.executions.approvals.rules import LIVE
from service.executions.approvals.tables import ApprovalRow
from service.executions.leases.tables import LeaseRow
from service.executions.model import EndedReason, Status
from service.executions.rules import ENDED
from service.executions.tables import ExecutionRow
from service.governance.model import Target
from service.governance.stores.store_rows import reach_of
from service.identity.tables import ApiKeyRow
from service.identity.unit import Unit
from service.memories.model import MemoryStatus
from service.memories.tables import MemoryRow


class HidingStore:
    """Hides what was gathered for one target, inside one transaction, whatever number it is."""

    def __init__(self, target: Target, unit: Unit) -> None:
        self._target = target
        self._unit = unit
        self._reach = reach_of(target, unit)

    def hide_memories(self) -> None:
        """Put the memories where not even their subject sees them: into a time of grace that is over."""
        self._run(
            update(MemoryRow)
            .where(
                col(MemoryRow.tenant_id) == self._unit.tenant_id,
                col(MemoryRow.id).in_(self._reach.items("memory")),
            )
            .values(status=MemoryStatus.GRACE, grace_until=self._unit.now)
        )

    def end_runs(self) -> Sequence[str]:
        """Cancel the runs that have not ended, with all that waits for them; answer their ids.

        An effect whose outcome nobody knows stays as it is, so that it can still be reconciled.
        """
        tenant, runs = self._unit.tenant_id, self._reach.items("execution")
        ended = self._run(
            update(ExecutionRow)
            .where(
                col(ExecutionRow.tenant_id) == tenant,
                col(ExecutionRow.id).in_(runs),
                col(ExecutionRow.status).not_in(sorted(ENDED)),
            )
            .values(
                status=Status.CANCELLED,
                ended_reason=EndedReason.ERASED,
                version=col(ExecutionRow.version) + 1,
                updated_at=self._unit.now,
            )
            .returning(col(ExecutionRow.id))
        ).scalars()
        names = list(ended)
        self._run(
            update(ExecutionRow)
            .where(
                col(ExecutionRow.tenant_id) == tenant,
                col(ExecutionRow.id).in_(runs),
                col(ExecutionRow.content_erased_at).is_(None),
            )
            .values(content_erased_at=self._unit.now)
        )
        self._run(
            update(ApprovalRow)
            .where(
                and_(col(ApprovalRow.tenant_id) == tenant, col(ApprovalRow.execution_id).in_(runs)),
                col(ApprovalRow.status).in_(sorted(LIVE)),
            )
            .values(status=ApprovalStatus.CANCELLED, updated_at=self._unit.now)
        )
        for table in (LeaseRow, CheckRequestRow):
            self._run(delete(table).where(col(table.tenant_id) == tenant, col(table.execution_id).in_(runs)))
        return names

    def close_account(self, until: datetime) -> Sequence[str]:
        """End every delegation of the person, and their own credentials when the erasure must be done.

        Until then their own lets them follow the erasure, and nothing else: it names nobody any more. Answers
        the ids of the delegated credentials.
        """
        tenant, subject = self._unit.tenant_id, self._target.subject
        revoked = self._run(
            update(ApiKeyRow)
            .where(
                col(ApiKeyRow.tenant_id) == tenant,
                col(ApiKeyRow.on_behalf_of) == subject,
                col(ApiKeyRow.revoked_at).is_(None),
            )
            .values(revoked_at=self._unit.now)
            .returning(col(ApiKeyRow.id))
        ).scalars()
        names = list(revoked)
        self._run(
            update(ApiKeyRow)
            .where(col(ApiKeyRow.tenant_id) == tenant, col(ApiKeyRow.subject) == subject)
            .values(expires_at=until)
        )
        return names

    def _run(self, statement: Any) -> CursorResult[*tuple[Any, ...]]:  # noqa: ANN401 - any statement
        self._unit.session.flush()
        # Objects of the session may be of rows that change here.
        self._unit.session.expire_all()
        return self._unit.session.connection().execute(statement)
