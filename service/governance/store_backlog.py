"""Queries of what waits in one tenant's record: counts alone, in one statement."""

from dataclasses import fields
from datetime import datetime
from typing import Any, Final

from sqlalchemy import BindParameter, ColumnElement, Select, and_, bindparam, func, or_, select
from sqlmodel import Session, SQLModel, col

from service.core.database import UtcDateTime
from service.core.outbox import ATTEMPTS_MAX, OutboxRow
from service.executions.approvals.model import ApprovalStatus
from service.executions.approvals.tables import ApprovalRow
from service.executions.ledger.model import EffectStatus
from service.executions.ledger.tables import EffectRow
from service.governance.model_backlog import Backlog
from service.governance.store_erasures import is_open
from service.governance.tables import ErasureRow
from service.memories.tables import ProposalRow
from service.policies.verdict import Outcome

_TENANT: Final[BindParameter[str]] = bindparam("tenant_id")
_NOW: Final = bindparam("now", type_=UtcDateTime)


def _of(row: type[SQLModel], result: ColumnElement[Any], *conditions: ColumnElement[bool]) -> Any:  # noqa: ANN401 - SQLAlchemy's own type
    tenant_id: Any = row.tenant_id  # type: ignore[attr-defined]  # every row of a tenant has it
    return select(result).where(tenant_id == _TENANT, *conditions).scalar_subquery()


def _count(row: type[SQLModel], *conditions: ColumnElement[bool]) -> Any:  # noqa: ANN401 - as above
    return _of(row, func.count(), *conditions)


def _statement() -> Select[*tuple[Any, ...]]:
    attempts, claimed = col(OutboxRow.attempts), col(OutboxRow.claimed_until)
    is_dead = and_(attempts >= ATTEMPTS_MAX, or_(claimed.is_(None), claimed <= _NOW))
    is_due = and_(attempts < ATTEMPTS_MAX, col(OutboxRow.available_at) <= _NOW)
    is_failing = and_(attempts < ATTEMPTS_MAX, col(OutboxRow.failure).is_not(None))
    waits = col(ProposalRow.outcome) == Outcome.PENDING_REVIEW
    is_asked = and_(col(ApprovalRow.status) == ApprovalStatus.PENDING, col(ApprovalRow.expires_at) > _NOW)
    effect = col(EffectRow.status)
    named: dict[str, Any] = {
        "outbox_due": _count(OutboxRow, is_due),
        "outbox_failing": _count(OutboxRow, is_failing),
        "outbox_dead": _count(OutboxRow, is_dead),
        "outbox_oldest": _of(OutboxRow, func.min(col(OutboxRow.available_at)), is_due),
        "proposals_waiting": _count(ProposalRow, waits),
        "proposals_oldest": _of(ProposalRow, func.min(col(ProposalRow.created_at)), waits),
        "erasures_open": _count(ErasureRow, is_open()),
        "erasures_overdue": _count(ErasureRow, is_open(), col(ErasureRow.due_at) < _NOW),
        "approvals_pending": _count(ApprovalRow, is_asked),
        "effects_dispatched": _count(EffectRow, effect == EffectStatus.DISPATCHED),
        "effects_unknown": _count(EffectRow, effect == EffectStatus.UNKNOWN),
        "effects_escalated": _count(EffectRow, effect == EffectStatus.ESCALATED),
    }
    return select(*(named[field.name] for field in fields(Backlog)))


_BACKLOG: Final = _statement()


def count_backlog(session: Session, tenant_id: str, *, now: datetime) -> Backlog:
    """Answer what waits in the tenant whose transaction this is."""
    row = session.connection().execute(_BACKLOG, {"tenant_id": tenant_id, "now": now}).one()
    return Backlog(*row)
