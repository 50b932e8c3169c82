"""Looking through one tenant's audit trail, page by page."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import ColumnElement, Select, and_, func, or_
from sqlmodel import Session, col, select

from service.audit.model import Link
from service.audit.store import link_of
from service.audit.tables import AuditEventRow
from service.core.clock import format_time
from service.core.paging import Page, PageRequest


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which events are looked for; all that is given must hold.

    `principals` and `request_ids` are the forms that the trail may keep one of them in. `since` is the first
    moment, `until` the first one that no longer belongs.
    """

    kind: str | None = None
    ref: str | None = None
    action: str | None = None
    principals: Collection[str] | None = None
    request_ids: Collection[str] | None = None
    since: datetime | None = None
    until: datetime | None = None
    newest_first: bool = False


class EventStore:
    """One tenant's events, inside one transaction."""

    def __init__(self, session: Session, tenant_id: str) -> None:
        self._session = session
        self._tenant_id = tenant_id

    def page(self, wanted: Wanted, request: PageRequest, *, refs: Select[str] | None = None) -> Page[Link]:
        """Answer a page in the order of their times and, where these are equal, of the chain.

        `refs` is a query of the only things that events may be about.
        """
        at, sequence = col(AuditEventRow.at), col(AuditEventRow.sequence)
        conditions = list(self._conditions(wanted))
        if refs is not None:
            conditions.append(col(AuditEventRow.ref).in_(refs))
        if request.after is not None:
            conditions.append(_beyond(request.after, newest_first=wanted.newest_first))
        is_narrow = wanted.ref is not None or wanted.request_ids is not None or refs is not None
        # Few events are about one thing. Sorted by an expression, they are found by what they are about:
        # in the order of an index, both databases would read the tenant's whole trail for them.
        moment = func.coalesce(at, at) if is_narrow else at
        order = (moment.desc(), sequence.desc()) if wanted.newest_first else (moment, sequence)
        query = select(AuditEventRow).where(*conditions).order_by(*order).limit(request.limit + 1)
        links = [link_of(row) for row in self._session.exec(query)]
        return request.page(links, [(format_time(link.event.at), link.sequence) for link in links])

    def _conditions(self, wanted: Wanted) -> Sequence[ColumnElement[bool]]:
        row = AuditEventRow
        conditions = [col(row.tenant_id) == self._tenant_id]
        if wanted.kind is not None:
            conditions.append(col(row.kind) == wanted.kind)
        if wanted.ref is not None:
            conditions.append(col(row.ref) == wanted.ref)
        if wanted.action is not None:
            conditions.append(col(row.action) == wanted.action)
        if wanted.principals is not None:
            conditions.append(col(row.principal).in_(sorted(wanted.principals)))
        if wanted.request_ids is not None:
            conditions.append(col(row.request_id).in_(sorted(wanted.request_ids)))
        if wanted.since is not None:
            conditions.append(col(row.at) >= wanted.since)
        if wanted.until is not None:
            conditions.append(col(row.at) < wanted.until)
        return conditions


def _beyond(after: tuple[str | int, ...], *, newest_first: bool) -> ColumnElement[bool]:
    at, sequence = col(AuditEventRow.at), col(AuditEventRow.sequence)
    last_at, last_sequence = datetime.fromisoformat(str(after[0])), int(after[1])
    if newest_first:
        return or_(at < last_at, and_(at == last_at, sequence < last_sequence))
    return or_(at > last_at, and_(at == last_at, sequence > last_sequence))
