"""One tenant's activations, inside one transaction."""

from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Self

from sqlalchemy import update
from sqlmodel import Session, col, select

from service.authoring.activation import Activation, ActivationKind, ActivationStatus
from service.authoring.tables import PolicyActivationRow
from service.core.errors import NotFound
from service.core.ids import is_id
from service.core.locks import lock_names
from service.core.paging import Page, PageRequest
from service.identity.unit import Unit

_LOCK = "policy.activation"


class ActivationStore:
    """Queries of one tenant. Whoever changes what counts takes the lock first."""

    def __init__(self, session: Session, tenant_id: str) -> None:
        self._session = session
        self._tenant_id = tenant_id

    @classmethod
    def of(cls, unit: Unit) -> Self:
        """Answer the store of a unit's tenant."""
        return cls(unit.session, unit.tenant_id)

    def lock(self) -> None:
        """Let nobody else change what counts until this transaction ends."""
        lock_names(self._session, self._tenant_id, [_LOCK])

    def add(self, activation: Activation) -> None:
        """Keep a new activation."""
        self._session.add(PolicyActivationRow(tenant_id=self._tenant_id, **asdict(activation)))
        self._session.flush()

    def get(self, activation_id: str) -> Activation:
        """Answer an activation as it is now. Raises `NotFound`."""
        key = (self._tenant_id, activation_id)
        row = (
            self._session.get(PolicyActivationRow, key, populate_existing=True)
            if is_id(activation_id)
            else None
        )
        if row is None:
            raise NotFound
        return _activation(row)

    def find_active(self) -> Activation | None:
        """Answer the activation of what counts; `None` while that is the tenant's first version."""
        row = self._session.exec(
            select(PolicyActivationRow).where(
                PolicyActivationRow.tenant_id == self._tenant_id,
                PolicyActivationRow.status == ActivationStatus.ACTIVE.value,
            )
        ).first()
        return None if row is None else _activation(row)

    def settle(
        self,
        activation_id: str,
        status: ActivationStatus,
        *,
        second_person: str | None = None,
        revision: int | None = None,
        at: datetime | None = None,
        effective_at: datetime | None = None,
    ) -> None:
        """Write down what became of an activation."""
        row = self._session.get_one(PolicyActivationRow, (self._tenant_id, activation_id))
        row.status, row.second_person = status, second_person or row.second_person
        row.revision, row.activated_at = revision or row.revision, at or row.activated_at
        row.effective_at = effective_at or row.effective_at
        self._session.add(row)
        self._session.flush()

    def supersede(self) -> None:
        """End the activation of what counts: another version comes."""
        self._move(ActivationStatus.ACTIVE, ActivationStatus.SUPERSEDED)

    def cancel_waiting(self) -> None:
        """Cancel what waits for a second person."""
        self._move(ActivationStatus.PENDING_SECOND_PERSON, ActivationStatus.CANCELLED)

    def last_versions(self, limit: int) -> Sequence[str]:
        """Answer versions that counted, the latest first, each as often as it came to count."""
        return self._session.exec(
            select(PolicyActivationRow.from_version)
            .where(
                PolicyActivationRow.tenant_id == self._tenant_id,
                col(PolicyActivationRow.revision).is_not(None),
            )
            .order_by(col(PolicyActivationRow.revision).desc())
            .limit(limit)
        ).all()

    def in_grace(self, now: datetime) -> Sequence[str]:
        """Answer the versions that others took the place of whose effective date has not come."""
        row = PolicyActivationRow
        return self._session.exec(
            select(row.from_version)
            .where(row.tenant_id == self._tenant_id, col(row.effective_at) > now)
            .distinct()
        ).all()

    def _move(self, before: ActivationStatus, after: ActivationStatus) -> None:
        self._session.connection().execute(
            update(PolicyActivationRow)
            .where(
                col(PolicyActivationRow.tenant_id) == self._tenant_id,
                col(PolicyActivationRow.status) == before.value,
            )
            .values(status=after.value)
        )

    def page(self, request: PageRequest) -> Page[Activation]:
        """Answer activations, the newest first."""
        query = select(PolicyActivationRow).where(PolicyActivationRow.tenant_id == self._tenant_id)
        if request.after is not None:
            query = query.where(PolicyActivationRow.id < str(request.after[0]))
        rows = self._session.exec(
            query.order_by(col(PolicyActivationRow.id).desc()).limit(request.limit + 1)
        ).all()
        return request.page([_activation(row) for row in rows], [(row.id,) for row in rows])


def _activation(row: PolicyActivationRow) -> Activation:
    fields = row.model_dump(exclude={"tenant_id", "kind", "status"})
    return Activation(kind=ActivationKind(row.kind), status=ActivationStatus(row.status), **fields)
