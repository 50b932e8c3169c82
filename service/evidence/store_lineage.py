"""What one tenant's evidence was made from, followed to its beginnings, and what was made from what."""

from collections.abc import Collection, Sequence
from typing import Final

from sqlalchemy import bindparam
from sqlmodel import Session, col, select

from service.core.any_of import is_any_of
from service.evidence.tables import EvidenceLineageRow
from service.identity.unit import Unit

LINEAGE_ITEMS_MAX: Final = 1_000
"""A longer lineage is not followed to its end, and counts as made from everything."""
_PARENTS: Final = select(EvidenceLineageRow.ref_kind, EvidenceLineageRow.ref_id).where(
    EvidenceLineageRow.tenant_id == bindparam("tenant_id"),
    is_any_of(col(EvidenceLineageRow.evidence_id), "item_ids"),
)

_MADE: Final = (
    select(EvidenceLineageRow.evidence_id)
    .where(
        EvidenceLineageRow.tenant_id == bindparam("tenant_id"),
        EvidenceLineageRow.ref_kind == bindparam("kind"),
        is_any_of(col(EvidenceLineageRow.ref_id), "item_ids"),
    )
    .distinct()
)


class LineageStore:
    """One tenant's lineages, inside one transaction."""

    def __init__(self, session: Session, tenant_id: str) -> None:
        self._session = session
        self._tenant_id = tenant_id

    @classmethod
    def of(cls, unit: Unit) -> "LineageStore":
        """Answer the store of a unit of work."""
        return cls(unit.session, unit.tenant_id)

    def stems_from(self, evidence_id: str, kinds: Collection[str]) -> bool:
        """Say whether an item, or any item that it was made from, was made from something of these kinds.

        All versions count, whoever may read them. What has been deleted meanwhile tells nothing.
        """
        seen, level = {evidence_id}, {evidence_id}
        while level and len(seen) <= LINEAGE_ITEMS_MAX:
            known = {"tenant_id": self._tenant_id, "item_ids": sorted(level)}
            parents = self._session.exec(_PARENTS, params=known).all()
            if any(kind in kinds for kind, _ in parents):
                return True
            level = {ref_id for kind, ref_id in parents if kind == "evidence"} - seen
            seen |= level
        return bool(level)

    def family_of(self, evidence_id: str) -> Collection[str] | None:
        """Answer an item and all items that it was made from; `None` for a lineage that is too long.

        All versions count, whoever may read them.
        """
        seen, level = {evidence_id}, {evidence_id}
        while level and len(seen) <= LINEAGE_ITEMS_MAX:
            known = {"tenant_id": self._tenant_id, "item_ids": sorted(level)}
            parents = self._session.exec(_PARENTS, params=known).all()
            level = {ref_id for kind, ref_id in parents if kind == "evidence"} - seen
            seen |= level
        return None if level else seen

    def made_from(self, kind: str, item_ids: Collection[str]) -> Sequence[str]:
        """Answer the evidence of which any version was made directly from one of these, in order."""
        if not item_ids:
            return []
        known = {"tenant_id": self._tenant_id, "kind": kind, "item_ids": sorted(item_ids)}
        return sorted(self._session.exec(_MADE, params=known).all())
