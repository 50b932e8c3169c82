"""What happened to one tenant's memories and proposals under a version of the policy, counted."""

from datetime import datetime

from sqlalchemy import func
from sqlmodel import col, select

from service.identity.unit import Unit
from service.memories.model import MemoryStatus
from service.memories.tables import MemoryRow, ProposalRow
from service.policies.verdict import Outcome


def count_losses(version: str, *, since: datetime, unit: Unit) -> dict[str, int]:
    """Answer how many memories ran out since a moment, and how many proposals a version denied.

    No other version brings either back: what ended stays ended, and the words of what was denied are gone.
    """
    ended = select(func.count()).where(
        col(MemoryRow.tenant_id) == unit.tenant_id,
        col(MemoryRow.status) == MemoryStatus.EXPIRED,
        col(MemoryRow.ended_at) >= since,
    )
    denied = select(func.count()).where(
        col(ProposalRow.tenant_id) == unit.tenant_id,
        col(ProposalRow.outcome) == Outcome.DENIED.value,
        col(ProposalRow.policy_version) == version,
    )
    return {
        "memories_ended": unit.session.exec(ended).one(),
        "proposals_denied": unit.session.exec(denied).one(),
    }
