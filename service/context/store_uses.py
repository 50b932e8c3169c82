"""Which packages of one tenant showed what, and for which runs they were built."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from sqlalchemy import bindparam, exists, update
from sqlalchemy import select as select_columns
from sqlmodel import Session, col, select

from service.context.tables import PackageItemRow, PackageRow
from service.core.any_of import is_any_of
from service.core.paging import Page, PageRequest
from service.identity.unit import Unit

_SHOWING: Final = (
    select(PackageItemRow.package_id)
    .where(
        PackageItemRow.tenant_id == bindparam("tenant_id"),
        PackageItemRow.kind == bindparam("kind"),
        is_any_of(col(PackageItemRow.item_id), "item_ids"),
    )
    .distinct()
)
_RUNS: Final = (
    select(PackageRow.execution_id)
    .where(
        PackageRow.tenant_id == bindparam("tenant_id"),
        is_any_of(col(PackageRow.id), "item_ids"),
        col(PackageRow.execution_id).is_not(None),
    )
    .distinct()
)


@dataclass(frozen=True, slots=True)
class Use:
    """One package that showed an item: when, by whom and for what it was built."""

    package_id: str
    execution_id: str | None
    at: datetime
    by: str
    purpose: str


class UseStore:
    """One tenant's packages by what they showed, inside one transaction. No caller is asked about."""

    def __init__(self, session: Session, tenant_id: str) -> None:
        self._session = session
        self._tenant_id = tenant_id

    @classmethod
    def of(cls, unit: Unit) -> "UseStore":
        """Answer the store of a unit of work."""
        return cls(unit.session, unit.tenant_id)

    def page(
        self, kind: str, item_id: str, page: PageRequest, *, project_ids: Collection[str] | None
    ) -> Page[Use]:
        """Answer a page of the packages that showed an item, newest first; without projects, of any."""
        row = PackageRow
        is_shown = exists().where(
            col(PackageItemRow.tenant_id) == col(row.tenant_id),
            col(PackageItemRow.package_id) == col(row.id),
            col(PackageItemRow.kind) == kind,
            col(PackageItemRow.item_id) == item_id,
        )
        columns: list[Any] = [row.id, row.execution_id, row.created_at, row.built_by, row.purpose]
        query = select_columns(*columns).where(col(row.tenant_id) == self._tenant_id, is_shown)
        if project_ids is not None:
            query = query.where(col(row.project_id).in_(project_ids))
        if page.after is not None:
            query = query.where(col(row.id) < str(page.after[0]))
        newest_first = query.order_by(col(row.id).desc()).limit(page.limit + 1)
        found = self._session.connection().execute(newest_first).all()
        uses = [Use(one.id, one.execution_id, one.created_at, one.built_by, one.purpose) for one in found]
        return page.page(uses, [(use.package_id,) for use in uses])

    def showing(self, kind: str, item_ids: Collection[str]) -> Sequence[str]:
        """Answer the packages that showed any of these items, of whatever version, in order."""
        if not item_ids:
            return []
        known = {"tenant_id": self._tenant_id, "kind": kind, "item_ids": sorted(item_ids)}
        return sorted(self._session.exec(_SHOWING, params=known).all())

    def projects_of(self, package_ids: Collection[str]) -> Mapping[str, str]:
        """Answer the project of each of the packages that are there."""
        query = select(PackageRow.id, PackageRow.project_id)
        return dict(
            self._session.exec(
                query.where(PackageRow.tenant_id == self._tenant_id, col(PackageRow.id).in_(package_ids))
            ).all()
        )

    def mark(self, package_ids: Collection[str], quarantine_id: str | None) -> None:
        """Say which quarantine holds something that the packages showed; `None`: none does."""
        self._session.exec(
            update(PackageRow)
            .where(col(PackageRow.tenant_id) == self._tenant_id, col(PackageRow.id).in_(package_ids))
            .values(quarantine_id=quarantine_id)
        )

    def runs_of(self, package_ids: Collection[str]) -> Sequence[str]:
        """Answer the runs that any of these packages was built for, in order."""
        if not package_ids:
            return []
        known = {"tenant_id": self._tenant_id, "item_ids": sorted(package_ids)}
        found = self._session.exec(_RUNS, params=known).all()
        return sorted(run for run in found if run is not None)
