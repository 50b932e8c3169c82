"""What an explanation reads of one tenant's decisions: codes, versions and sealed facts, and no word."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlmodel import col, select

from service.core.cipher import TextErased
from service.core.errors import NotFound
from service.core.ids import is_id
from service.identity.unit import Unit
from service.memories.sealing import facts_place
from service.memories.tables import ProposalRow


@dataclass(frozen=True, slots=True)
class Recorded:
    """A decision as it is kept. `facts` is `None` where they were erased or were never kept."""

    proposal_id: str
    memory_id: str | None
    class_name: str
    outcome: str
    codes: tuple[str, ...]
    policy_version: str
    created_at: datetime
    decided_at: datetime | None
    by_person: bool
    """Whether somebody, or the time that it had waited, decided it after policy had asked."""
    content_hash: str
    facts: Mapping[str, Any] | None


class ExplanationStore:
    """Reads one tenant's proposals, inside one transaction. No caller is asked about."""

    def __init__(self, unit: Unit) -> None:
        self._unit = unit

    def get(self, ref: str) -> Recorded:
        """Answer the decision on a proposal, or the one that a memory's present value came from.

        Raises `NotFound`.
        """
        if not is_id(ref):
            raise NotFound
        session, row = self._unit.session, ProposalRow
        own = select(row).where(row.tenant_id == self._unit.tenant_id)
        found = session.exec(own.where(row.id == ref)).first()
        if found is None:
            kept = own.where(row.memory_id == ref, row.outcome == "approved")
            found = session.exec(kept.order_by(col(row.created_at).desc(), col(row.id).desc())).first()
        if found is None:
            raise NotFound
        return Recorded(
            proposal_id=found.id,
            memory_id=found.memory_id,
            class_name=found.class_name,
            outcome=found.outcome,
            codes=tuple(found.codes),
            policy_version=found.policy_version,
            created_at=found.created_at,
            decided_at=found.decided_at,
            by_person=found.decided_at is not None or bool(found.approvals),
            content_hash=found.content_hash,
            facts=self._facts(found),
        )

    def _facts(self, row: ProposalRow) -> Mapping[str, Any] | None:
        if row.facts is None:
            return None
        try:
            opened: Mapping[str, Any] = json.loads(
                self._unit.cipher.open(row.facts, place=facts_place(row.id))
            )
        except TextErased:
            return None
        return opened
