"""Queries that find what of one tenant's memories has ended; a status that is unknown here is passed over."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import and_, func, or_
from sqlmodel import Session, col, select
from sqlmodel.sql.expression import SelectOfScalar

from service.identity.unit import Unit
from service.memories.model import MemoryStatus
from service.memories.store_rights import is_held, is_held_proposal
from service.memories.store_versions import RUNS_OUT
from service.memories.tables import MemoryRow, ProposalRow
from service.policies.classes import KEEP_ENDED_DAYS, WAITS_DAYS
from service.policies.verdict import Outcome

_ENDED: Final = (MemoryStatus.EXPIRED, MemoryStatus.SUPERSEDED)


class SweepStore:
    """One tenant's ended memories, inside one transaction."""

    def __init__(self, session: Session, tenant_id: str) -> None:
        self._session = session
        self._tenant_id = tenant_id

    @classmethod
    def of(cls, unit: Unit) -> "SweepStore":
        """Answer the store of a unit of work."""
        return cls(unit.session, unit.tenant_id)

    def list_run_out(self, *, now: datetime, after: str, limit: int) -> Sequence[str]:
        """Answer ids of memories that are marked as alive and have run out, in order, after `after`."""
        return self._session.exec(
            select(MemoryRow.id)
            .where(
                MemoryRow.tenant_id == self._tenant_id,
                MemoryRow.id > after,
                col(MemoryRow.status).in_(RUNS_OUT),
                col(MemoryRow.expires_at) <= now,
            )
            .order_by(MemoryRow.id)
            .limit(limit)
        ).all()

    def list_lapsed(
        self, waits_days: Mapping[str, int], *, now: datetime, after: str, limit: int
    ) -> Sequence[str]:
        """Answer ids of proposals that have waited longer than their class lets them, in order.

        None about a person, memory or project that a legal hold restricts: its words are kept for it.
        """
        by_class = [
            and_(
                col(ProposalRow.class_name) == name, col(ProposalRow.created_at) <= now - timedelta(days=days)
            )
            for name, days in sorted(waits_days.items())
        ]
        of_no_class = and_(
            col(ProposalRow.class_name).not_in(sorted(waits_days)),
            col(ProposalRow.created_at) <= now - timedelta(days=WAITS_DAYS),
        )
        return self._session.exec(
            select(ProposalRow.id)
            .where(
                ProposalRow.tenant_id == self._tenant_id,
                ProposalRow.id > after,
                ProposalRow.outcome == Outcome.PENDING_REVIEW,
                or_(*by_class, of_no_class),
                ~is_held_proposal(self._tenant_id, now),
            )
            .order_by(ProposalRow.id)
            .limit(limit)
        ).all()

    def list_destroyable(
        self, kept_days: Mapping[str, int], *, now: datetime, after: str, limit: int
    ) -> Sequence[str]:
        """Answer ids of ended memories that are kept no longer and that nothing holds, in order.

        `kept_days` are those of each class; a class that is not in it keeps them for the usual time.
        """
        query = self._destroyable(kept_days, now).where(MemoryRow.id > after)
        return self._session.exec(query.order_by(MemoryRow.id).limit(limit)).all()

    def is_destroyable(self, memory_id: str, kept_days: Mapping[str, int], *, now: datetime) -> bool:
        """Say whether `list_destroyable` would answer this memory."""
        query = self._destroyable(kept_days, now).where(MemoryRow.id == memory_id)
        return self._session.exec(query).first() is not None

    def _destroyable(self, kept_days: Mapping[str, int], now: datetime) -> SelectOfScalar[str]:
        # Nobody noted when an older release superseded something: then its own time counts.
        ended_at = func.coalesce(col(MemoryRow.ended_at), col(MemoryRow.expires_at))
        by_class = [
            and_(col(MemoryRow.class_name) == name, ended_at <= now - timedelta(days=days))
            for name, days in sorted(kept_days.items())
        ]
        of_no_class = and_(
            col(MemoryRow.class_name).not_in(sorted(kept_days)),
            ended_at <= now - timedelta(days=KEEP_ENDED_DAYS),
        )
        return select(MemoryRow.id).where(
            MemoryRow.tenant_id == self._tenant_id,
            col(MemoryRow.status).in_(_ENDED),
            or_(*by_class, of_no_class),
            ~is_held(self._tenant_id, now),
        )
