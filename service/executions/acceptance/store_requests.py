"""The queries of one tenant's requests for checks: what stands here is open, and goes when it is answered."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import and_, delete, or_
from sqlmodel import Session, col, select

from service.executions.acceptance.model import CheckRequest
from service.executions.acceptance.tables import CheckRequestRow
from service.executions.model import Status
from service.executions.sequences import last_number
from service.executions.tables import ExecutionRow


class CheckRequestStore:
    """Reads, adds and removes; visibility is decided by `ExecutionStore`, which hands it out."""

    def __init__(self, session: Session, tenant_id: str) -> None:
        self._session = session
        self._tenant_id = tenant_id

    def of_run(self, execution_id: str) -> Sequence[CheckRequest]:
        """Answer the run's open requests in the order of asking, at most one for each requirement."""
        rows = self._session.exec(
            select(CheckRequestRow)
            .where(
                CheckRequestRow.tenant_id == self._tenant_id,
                CheckRequestRow.execution_id == execution_id,
            )
            .order_by(col(CheckRequestRow.sequence))
        ).all()
        return [_request(row) for row in rows]

    def next_sequence(self, execution_id: str) -> int:
        """Answer the number of the run's next request."""
        return 1 + last_number(self._session, CheckRequestRow, self._tenant_id, execution_id)

    def add(self, request: CheckRequest) -> None:
        """Keep a request."""
        self._session.add(
            CheckRequestRow(
                tenant_id=self._tenant_id,
                id=request.id,
                execution_id=request.execution_id,
                sequence=request.sequence,
                requirement=request.requirement,
                artifact_hash=request.artifact_hash,
                contract_hash=request.contract_hash,
                by=request.by,
                created_at=request.at,
            )
        )
        self._session.flush()

    def remove(self, execution_id: str, *, requirement: str | None = None) -> None:
        """Take back the run's requests, or the one for a requirement."""
        statement = delete(CheckRequestRow).where(
            col(CheckRequestRow.tenant_id) == self._tenant_id,
            col(CheckRequestRow.execution_id) == execution_id,
        )
        if requirement is not None:
            statement = statement.where(col(CheckRequestRow.requirement) == requirement)
        self._session.exec(statement)

    def list_oldest(
        self,
        project_ids: Sequence[str],
        *,
        statuses: Sequence[Status],
        now: datetime,
        limit: int,
        after_id: str | None,
        execution_id: str | None,
        requirement: str | None,
    ) -> Sequence[CheckRequest]:
        """Answer up to `limit` requests by ascending id, that is: oldest first.

        Of runs in one of `project_ids` and of `statuses` whose deadline, at `now`, has not passed.
        """
        deadline = col(ExecutionRow.deadline)
        query = (
            select(CheckRequestRow)
            .join(
                ExecutionRow,
                and_(
                    col(ExecutionRow.tenant_id) == col(CheckRequestRow.tenant_id),
                    col(ExecutionRow.id) == col(CheckRequestRow.execution_id),
                ),
            )
            .where(
                CheckRequestRow.tenant_id == self._tenant_id,
                col(ExecutionRow.project_id).in_(project_ids),
                col(ExecutionRow.status).in_(statuses),
                or_(deadline.is_(None), deadline > now),
            )
        )
        if after_id is not None:
            query = query.where(CheckRequestRow.id > after_id)
        if execution_id is not None:
            query = query.where(CheckRequestRow.execution_id == execution_id)
        if requirement is not None:
            query = query.where(CheckRequestRow.requirement == requirement)
        rows = self._session.exec(query.order_by(col(CheckRequestRow.id)).limit(limit)).all()
        return [_request(row) for row in rows]


def _request(row: CheckRequestRow) -> CheckRequest:
    return CheckRequest(
        id=row.id,
        execution_id=row.execution_id,
        sequence=row.sequence,
        requirement=row.requirement,
        artifact_hash=row.artifact_hash,
        contract_hash=row.contract_hash,
        by=row.by,
        at=row.created_at,
    )
