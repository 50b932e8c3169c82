"""One tenant's shadows, inside one transaction."""

from dataclasses import asdict
from datetime import datetime
from typing import Self

from sqlmodel import Session, col, select

from service.authoring.shadow_model import Shadow, ShadowStatus
from service.authoring.tables import PolicyShadowRow
from service.identity.unit import Unit


class ShadowStore:
    """Queries of one tenant. Whoever begins or ends a shadow holds the lock of activations."""

    def __init__(self, session: Session, tenant_id: str) -> None:
        self._session = session
        self._tenant_id = tenant_id

    @classmethod
    def of(cls, unit: Unit) -> Self:
        """Answer the store of a unit's tenant."""
        return cls(unit.session, unit.tenant_id)

    def add(self, shadow: Shadow) -> None:
        """Keep a new shadow."""
        self._session.add(PolicyShadowRow(tenant_id=self._tenant_id, **asdict(shadow)))
        self._session.flush()

    def find_latest(self) -> Shadow | None:
        """Answer the shadow that runs, or the last one that did."""
        row = PolicyShadowRow
        query = select(row).where(row.tenant_id == self._tenant_id).order_by(col(row.id).desc()).limit(1)
        found = self._session.exec(query.execution_options(populate_existing=True)).first()
        return None if found is None else _shadow(found)

    def end_running(self, status: ShadowStatus, *, at: datetime) -> bool:
        """End the shadow that runs; say whether there was one."""
        row = PolicyShadowRow
        query = select(row).where(row.tenant_id == self._tenant_id, row.status == ShadowStatus.RUNNING.value)
        running = self._session.exec(query).first()
        if running is None:
            return False
        running.status, running.ended_at = status.value, min(at, running.until)
        self._session.add(running)
        self._session.flush()
        return True


def _shadow(row: PolicyShadowRow) -> Shadow:
    fields = row.model_dump(exclude={"tenant_id", "status"})
    return Shadow(status=ShadowStatus(row.status), **fields)
