"""One tenant's policy versions and its active pointer, inside one transaction."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Self

from sqlalchemy import and_, bindparam, or_
from sqlmodel import Session, col, select

from service.core.clock import format_time
from service.core.paging import CursorInvalid, Page, PageRequest
from service.identity.unit import Unit
from service.policies.tables import PolicyActiveRow, PolicyVersionRow

# Almost every call asks for it, and so it is built once.
_ACTIVE: Final = select(
    PolicyActiveRow.version, PolicyActiveRow.revision, PolicyActiveRow.activated_at
).where(col(PolicyActiveRow.tenant_id) == bindparam("tenant"))


@dataclass(frozen=True, slots=True)
class ActivePolicy:
    """The version that counts, and how often another one counted before."""

    version: str
    revision: int
    activated_at: datetime


@dataclass(frozen=True, slots=True)
class PolicyVersion:
    """One version that the tenant has or had."""

    version: str
    created_at: datetime


class PolicyStore:
    """Queries of one tenant."""

    def __init__(self, session: Session, tenant_id: str) -> None:
        self._session = session
        self._tenant_id = tenant_id

    @classmethod
    def of(cls, unit: Unit) -> Self:
        """Answer the store of a unit's tenant."""
        return cls(unit.session, unit.tenant_id)

    def find_active(self) -> ActivePolicy | None:
        """Answer what is active, or `None`."""
        row = self._session.connection().execute(_ACTIVE, {"tenant": self._tenant_id}).first()
        return None if row is None else ActivePolicy(row.version, row.revision, row.activated_at)

    def find_files(self, version: str) -> Mapping[str, str] | None:
        """Answer a version's files as they were given, or `None` for a version that the tenant never had."""
        row = self._session.get(PolicyVersionRow, (self._tenant_id, version))
        return None if row is None else dict(row.files)

    def list_versions(self, page: PageRequest) -> Page[PolicyVersion]:
        """Page through the versions, the newest first."""
        query = (
            select(PolicyVersionRow.version, PolicyVersionRow.created_at)
            .where(col(PolicyVersionRow.tenant_id) == self._tenant_id)
            .order_by(col(PolicyVersionRow.created_at).desc(), col(PolicyVersionRow.version))
            .limit(page.limit + 1)
        )
        if page.after is not None:
            moment, version = _read_key(page.after)
            query = query.where(
                or_(
                    col(PolicyVersionRow.created_at) < moment,
                    and_(col(PolicyVersionRow.created_at) == moment, col(PolicyVersionRow.version) > version),
                )
            )
        versions = [PolicyVersion(version, created_at) for version, created_at in self._session.exec(query)]
        return page.page(versions, [(format_time(item.created_at), item.version) for item in versions])

    def add_version(self, version: str, files: Mapping[str, str], *, now: datetime) -> None:
        """Keep a version's files; one that is there already stays as it is."""
        if self.find_files(version) is None:
            self._session.add(
                PolicyVersionRow(
                    tenant_id=self._tenant_id, version=version, files=dict(files), created_at=now
                )
            )
            self._session.flush()

    def activate(self, version: str, *, after: int, now: datetime, beyond: int = 0) -> int:
        """Make another kept version count, where revision `after` counts now; answer the new revision.

        It is larger than `beyond` too: in a record that was put back, the largest that anybody has seen. The
        caller holds the lock of activations: of two at once the second finds another revision.
        """
        row = self._session.get_one(PolicyActiveRow, self._tenant_id, populate_existing=True)
        assert row.revision == after, "somebody activated without the lock"
        row.version, row.revision, row.activated_at = version, max(after, beyond) + 1, now
        self._session.add(row)
        self._session.flush()
        return row.revision

    def activate_first(self, version: str, *, now: datetime) -> None:
        """Point to a version that is kept. For a tenant that has no active one."""
        self._session.add(
            PolicyActiveRow(tenant_id=self._tenant_id, revision=1, version=version, activated_at=now)
        )
        self._session.flush()


def _read_key(key: tuple[str | int, ...]) -> tuple[datetime, str]:
    match key:
        case (str(moment), str(version)):
            try:
                return datetime.fromisoformat(moment), version
            except ValueError:
                raise CursorInvalid from None
    raise CursorInvalid
