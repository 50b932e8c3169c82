"""Queries of the keys of one tenant that act for a person."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import ColumnElement, and_, or_, update
from sqlmodel import Session, col, select

from service.core.paging import Page, PageRequest
from service.identity.model import ApiKey
from service.identity.store import key_of
from service.identity.tables import ApiKeyRow, ProjectRow


class DelegationStore:
    """One tenant's delegated keys, inside one transaction."""

    def __init__(self, session: Session, tenant_id: str) -> None:
        self._session = session
        self._tenant_id = tenant_id

    def page(self, person: str, request: PageRequest, *, now: datetime) -> Page[tuple[ApiKey, str | None]]:
        """Answer living keys that act for the person, in the order of their ids, with their projects."""
        same_project = and_(
            col(ProjectRow.tenant_id) == col(ApiKeyRow.tenant_id),
            col(ProjectRow.id) == col(ApiKeyRow.project_id),
        )
        query = (
            select(ApiKeyRow, ProjectRow.name)
            .outerjoin(ProjectRow, same_project)
            .where(*self._living(person, now))
            .order_by(col(ApiKeyRow.id))
            .limit(request.limit + 1)
        )
        if request.after is not None:
            query = query.where(col(ApiKeyRow.id) > str(request.after[0]))
        found = [(key_of(row), name) for row, name in self._session.exec(query)]
        return request.page(found, [(key.id,) for key, _ in found])

    def end(self, key_id: str, person: str, *, now: datetime) -> bool:
        """Let a living key that acts for the person end now; say whether there was one."""
        ended = self._session.exec(
            update(ApiKeyRow)
            .where(*self._living(person, now), col(ApiKeyRow.id) == key_id)
            .values(revoked_at=now)
        )
        return ended.rowcount > 0

    def _living(self, person: str, now: datetime) -> Sequence[ColumnElement[bool]]:
        return [
            col(ApiKeyRow.tenant_id) == self._tenant_id,
            col(ApiKeyRow.on_behalf_of) == person,
            col(ApiKeyRow.revoked_at).is_(None),
            or_(col(ApiKeyRow.expires_at).is_(None), col(ApiKeyRow.expires_at) > now),
        ]
