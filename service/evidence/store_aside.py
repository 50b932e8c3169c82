"""Putting one tenant's evidence aside and bringing it back, whoever may read it."""

from collections.abc import Collection, Mapping

from sqlalchemy import update
from sqlmodel import Session, col, select

from service.evidence.tables import EvidenceRow
from service.identity.unit import Unit


class EvidenceAside:
    """One tenant's evidence under quarantine, inside one transaction. Lists are some hundred long at most."""

    def __init__(self, session: Session, tenant_id: str) -> None:
        self._session = session
        self._tenant_id = tenant_id

    @classmethod
    def of(cls, unit: Unit) -> "EvidenceAside":
        """Answer the store of a unit of work."""
        return cls(unit.session, unit.tenant_id)

    def projects_of(self, ids: Collection[str]) -> Mapping[str, str]:
        """Answer the project of each of the items that are there."""
        query = select(EvidenceRow.id, EvidenceRow.project_id)
        return dict(
            self._session.exec(
                query.where(EvidenceRow.tenant_id == self._tenant_id, col(EvidenceRow.id).in_(ids))
            ).all()
        )

    def mark(self, ids: Collection[str], quarantine_id: str | None) -> None:
        """Say which quarantine holds the items; `None`: none does."""
        self._session.exec(
            update(EvidenceRow)
            .where(col(EvidenceRow.tenant_id) == self._tenant_id, col(EvidenceRow.id).in_(ids))
            .values(quarantine_id=quarantine_id)
        )
