"""What may have happened since a backup was made, taken as having happened: it errs to the safe side."""

from typing import Any, Final

from sqlalchemy import delete, select, update
from sqlmodel import col

from service.core.idempotency import IdempotencyRefRow, IdempotencyRow
from service.core.outbox import OutboxRow
from service.executions.approvals.model import ApprovalStatus
from service.executions.approvals.tables import ApprovalRow
from service.executions.expire import EXPIRE_TOPIC
from service.executions.lapse import LAPSE_TOPIC
from service.executions.leases.tables import LeaseRow
from service.executions.ledger.model import EffectStatus
from service.executions.ledger.tables import EffectRow
from service.executions.rules import ENDED
from service.executions.tables import ExecutionRow
from service.governance.erase import ERASE_TOPIC
from service.governance.hold import HOLD_ENDED_TOPIC
from service.identity.projects import MEMBER_REMOVED_TOPIC
from service.identity.unit import Unit

FENCING_TOKENS_SKIPPED: Final = 1_000_000
"""More leases than a run can have had since: no worker of then holds a token that counts."""
_REPEATABLE: Final = (ERASE_TOPIC, HOLD_ENDED_TOPIC, EXPIRE_TOPIC, LAPSE_TOPIC, MEMBER_REMOVED_TOPIC)
"""Messages whose handlers ask the record what is to be done, however often they come."""


def settle(unit: Unit) -> None:
    """Let nothing happen twice that has happened since the copy was made.

    Kept answers go. Of the messages only those stay that may come twice: the index is rebuilt, and a command
    may have been delivered. An effect that was intended or on its way is of unknown outcome, an approval
    that was given is to be given again, and every lease is over.
    """
    tenant = unit.tenant_id
    _run(unit, delete(IdempotencyRefRow).where(col(IdempotencyRefRow.tenant_id) == tenant))
    _run(unit, delete(IdempotencyRow).where(col(IdempotencyRow.tenant_id) == tenant))
    _run(
        unit,
        delete(OutboxRow).where(col(OutboxRow.tenant_id) == tenant, col(OutboxRow.topic).not_in(_REPEATABLE)),
    )
    _run(unit, update(OutboxRow).where(col(OutboxRow.tenant_id) == tenant).values(claimed_until=None))
    _run(
        unit,
        update(LeaseRow)
        .where(col(LeaseRow.tenant_id) == tenant)
        .values(released=True, fencing_token=col(LeaseRow.fencing_token) + FENCING_TOKENS_SKIPPED),
    )
    going_on = select(col(ExecutionRow.id)).where(
        col(ExecutionRow.tenant_id) == tenant, col(ExecutionRow.status).not_in(sorted(ENDED))
    )
    _run(
        unit,
        update(EffectRow)
        .where(
            col(EffectRow.tenant_id) == tenant,
            col(EffectRow.execution_id).in_(going_on),
            col(EffectRow.status).in_([EffectStatus.INTENDED, EffectStatus.DISPATCHED]),
        )
        .values(status=EffectStatus.UNKNOWN),
    )
    _run(
        unit,
        update(ApprovalRow)
        .where(
            col(ApprovalRow.tenant_id) == tenant,
            col(ApprovalRow.execution_id).in_(going_on),
            col(ApprovalRow.status) == ApprovalStatus.APPROVED,
        )
        .values(status=ApprovalStatus.STALE, updated_at=unit.now),
    )


def _run(unit: Unit, statement: Any) -> None:  # noqa: ANN401 - any statement
    unit.session.connection().execute(statement)
