"""One tenant's plans, inside one transaction."""

from typing import Self

from sqlmodel import Session

from service.authoring.model import Effect, Plan
from service.authoring.tables import PolicyPlanRow
from service.core.errors import NotFound
from service.core.ids import is_id
from service.identity.unit import Unit


class PlanStore:
    """Keeps plans and answers them; nothing changes one."""

    def __init__(self, session: Session, tenant_id: str) -> None:
        self._session = session
        self._tenant_id = tenant_id

    @classmethod
    def of(cls, unit: Unit) -> Self:
        """Answer the store of a unit's tenant."""
        return cls(unit.session, unit.tenant_id)

    def add(self, plan: Plan) -> None:
        """Keep a plan. Its candidate's files are kept before."""
        self._session.add(
            PolicyPlanRow(
                tenant_id=self._tenant_id,
                id=plan.id,
                hash=plan.hash,
                candidate_version=plan.candidate_version,
                base_version=plan.base_version,
                base_revision=plan.base_revision,
                days=plan.days,
                requester=plan.made_by,
                direction=plan.direction,
                changes=[dict(change) for change in plan.changes],
                affected=dict(plan.effect.affected),
                samples={part: [dict(one) for one in found] for part, found in plan.effect.samples.items()},
                created_at=plan.made_at,
            )
        )
        self._session.flush()

    def get(self, plan_id: str) -> Plan:
        """Answer a plan of the tenant. Raises `NotFound` for any other id, whatever it looks like."""
        row = self._session.get(PolicyPlanRow, (self._tenant_id, plan_id)) if is_id(plan_id) else None
        if row is None:
            raise NotFound
        return Plan(
            id=row.id,
            hash=row.hash,
            candidate_version=row.candidate_version,
            base_version=row.base_version,
            base_revision=row.base_revision,
            days=row.days,
            made_by=row.requester,
            made_at=row.created_at,
            direction=row.direction,
            changes=row.changes,
            effect=Effect(row.affected, row.samples),
        )
