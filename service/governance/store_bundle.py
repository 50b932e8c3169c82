"""Queries of what evidence bundles tell of: rows without any of their sealed columns."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final

from sqlalchemy import Row, Select, Table
from sqlalchemy import select as select_columns
from sqlmodel import Session, col, select

from service.context.tables import PackageItemRow, PackageRow
from service.governance.bundle_proof import BundleTooLarge
from service.governance.tables import ErasureRow
from service.identity.unit import Unit
from service.memories.tables import MemoryRow, MemoryVersionRow, ProposalRow

Fields = dict[str, Any]
"""A row's columns by name."""

ROWS_MAX: Final = 1_000
"""Most rows of one kind in a bundle."""

# Every column that is not sealed, by its name: one that is added later is not told of by itself.
_MEMORY: Final = (
    "id",
    "project_id",
    "class_name",
    "version",
    "status",
    "purpose",
    "trust",
    "policy_version",
    "lawful_basis",
    "observed_at",
    "valid_from",
    "valid_until",
    "created_at",
    "confirmed_at",
    "expires_at",
    "ended_at",
    "grace_until",
)
_VERSION: Final = (
    "version",
    "content_hash",
    "provenance",
    "confidence",
    "trust",
    "act",
    "by",
    "valid_from",
    "valid_until",
    "at",
)
_PROPOSAL: Final = (
    "id",
    "outcome",
    "codes",
    "approver",
    "approvals",
    "policy_version",
    "purpose",
    "confidence",
    "content_hash",
    "proposer",
    "created_at",
    "decided_at",
    "decided_by",
)
_PACKAGE: Final = (
    "id",
    "project_id",
    "execution_id",
    "acting_user",
    "built_by",
    "purpose",
    "digest",
    "created_at",
)
_ERASURE: Final = (
    "id",
    "kind",
    "status",
    "stores",
    "created_at",
    "completed_at",
    "due_at",
    "backups_expire_at",
)


class BundleStore:
    """One tenant's rows by what they are about, inside one transaction. No caller is asked about."""

    def __init__(self, session: Session, tenant_id: str) -> None:
        self._session = session
        self._tenant_id = tenant_id

    @classmethod
    def of(cls, unit: Unit) -> "BundleStore":
        """Answer the store of a unit of work."""
        return cls(unit.session, unit.tenant_id)

    def memory(self, memory_id: str, *, subject_hash: str | None) -> Fields | None:
        """Answer a memory; with `subject_hash`, only if it is about that person."""
        known = {"id": memory_id} if subject_hash is None else {"id": memory_id, "subject_hash": subject_hash}
        rows = self._rows(MemoryRow, _MEMORY, known)
        return rows[0] if rows else None

    def versions(self, memory_id: str) -> Sequence[Fields]:
        """Answer a memory's versions, oldest first."""
        return self._rows(MemoryVersionRow, _VERSION, {"memory_id": memory_id})

    def proposals(self, memory_id: str) -> Sequence[Fields]:
        """Answer the proposals that a memory came from, oldest first."""
        return self._rows(ProposalRow, _PROPOSAL, {"memory_id": memory_id})

    def erasures(self, kind: str, ref: str) -> Sequence[Fields]:
        """Answer the erasures of one thing, oldest first."""
        return self._rows(ErasureRow, _ERASURE, {"kind": kind, "ref": ref})

    def package_ids(self, execution_id: str, *, limit: int) -> Sequence[str]:
        """Answer the packages that were built for a run, oldest first."""
        query = select(PackageRow.id).where(
            col(PackageRow.tenant_id) == self._tenant_id, col(PackageRow.execution_id) == execution_id
        )
        return self._session.exec(query.order_by(col(PackageRow.id)).limit(limit)).all()

    def packages_showing(self, memory_id: str) -> Sequence[Fields]:
        """Answer the packages that showed a memory, oldest first."""
        shown = select(PackageItemRow.package_id).where(
            col(PackageItemRow.tenant_id) == self._tenant_id,
            col(PackageItemRow.kind) == "memory",
            col(PackageItemRow.item_id) == memory_id,
        )
        return self._rows(PackageRow, _PACKAGE, {}, ids=shown)

    def _rows(
        self,
        table: type[Any],
        names: Collection[str],
        known: Mapping[str, str],
        *,
        ids: Select[str] | None = None,
    ) -> Sequence[Fields]:
        """Answer the rows in the order of their keys. Raises `BundleTooLarge` for more than `ROWS_MAX`."""
        columns: Table = table.__table__
        query = (
            select_columns(*(columns.c[name] for name in names))
            .where(columns.c.tenant_id == self._tenant_id)
            .where(*(columns.c[name] == value for name, value in known.items()))
        )
        if ids is not None:
            query = query.where(columns.c.id.in_(ids))
        query = query.order_by(*columns.primary_key.columns).limit(ROWS_MAX + 1)
        rows = [_fields(row) for row in self._session.connection().execute(query)]
        if len(rows) > ROWS_MAX:
            raise BundleTooLarge
        return rows


def _fields(row: Row[Any]) -> Fields:
    return {str(name): value for name, value in row._mapping.items()}  # noqa: SLF001 - SQLAlchemy's public name
