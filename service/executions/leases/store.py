"""The queries of one tenant's leases."""

from datetime import datetime
from typing import Final

from sqlalchemy import bindparam, select
from sqlmodel import Session, col

from service.executions.leases.model import Lease, LeaseMode
from service.executions.leases.tables import LeaseRow

# Every write to a run asks, and so it is built once. What was read before the lock may be older.
_NEWEST: Final = select(*LeaseRow.__table__.columns).where(  # type: ignore[attr-defined]  # SQLModel adds it
    col(LeaseRow.tenant_id) == bindparam("tenant"), col(LeaseRow.execution_id) == bindparam("execution")
)


class LeaseStore:
    """Reads and keeps; the run must be held, so that two never take its lease at once."""

    def __init__(self, session: Session, tenant_id: str) -> None:
        self._session = session
        self._tenant_id = tenant_id

    def find(self, execution_id: str) -> Lease | None:
        """Answer the run's newest lease, living or not; `None` when there never was one."""
        key = {"tenant": self._tenant_id, "execution": execution_id}
        row = self._session.connection().execute(_NEWEST, key).first()
        if row is None:
            return None
        return Lease(
            execution_id=row.execution_id,
            fencing_token=row.fencing_token,
            mode=LeaseMode(row.mode),
            holder=row.holder,
            taken_at=row.taken_at,
            expires_at=row.expires_at,
            released=row.released,
        )

    def find_living(self, execution_id: str, *, now: datetime) -> Lease | None:
        """Answer the lease under which somebody works on the run at `now`, or `None`."""
        lease = self.find(execution_id)
        return lease if lease is not None and lease.lives(now) else None

    def keep(self, lease: Lease) -> None:
        """Write the run's lease over the one before."""
        self._session.merge(
            LeaseRow(
                tenant_id=self._tenant_id,
                execution_id=lease.execution_id,
                fencing_token=lease.fencing_token,
                mode=lease.mode,
                holder=lease.holder,
                taken_at=lease.taken_at,
                expires_at=lease.expires_at,
                released=lease.released,
            )
        )
        self._session.flush()
