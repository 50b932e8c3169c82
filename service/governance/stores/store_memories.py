"""Memories with their versions, and proposals."""

from typing import Final

from sqlmodel import col

from service.governance.model import Kind
from service.governance.stores.store_rows import ALL_KINDS, Rows, RowStore, among, emptied
from service.memories.tables import MemoryRow, MemoryVersionRow, ProposalRow
from service.policies.verdict import Outcome

_PROPOSAL: Final = among(ProposalRow.id, "proposal")
_KINDS: Final = ALL_KINDS - {Kind.EVIDENCE, Kind.RETENTION}
_OTHERS: Final = _KINDS - {Kind.SUBJECT}

MEMORIES: Final = RowStore(
    "memories",
    (
        Rows(MemoryVersionRow, among(MemoryVersionRow.memory_id, "memory"), kinds=_KINDS),
        Rows(MemoryRow, among(MemoryRow.id, "memory"), kinds=_KINDS),
    ),
)

PROPOSALS: Final = RowStore(
    "proposals",
    (
        # What waits for a decision cannot wait without its words; of what was decided the decision stays.
        Rows(
            ProposalRow,
            lambda reach: _PROPOSAL(reach) & (col(ProposalRow.outcome) == Outcome.PENDING_REVIEW),
            kinds=_OTHERS,
        ),
        Rows(
            ProposalRow,
            _PROPOSAL,
            emptied(
                content=None,
                facts=None,
                content_hash="",
                subject_hash="",
                detections=[],
                memory_id=None,
                decision_reason=None,
            ),
            kinds=_OTHERS,
        ),
        Rows(ProposalRow, _PROPOSAL, kinds=frozenset({Kind.SUBJECT})),
    ),
    note="Of a decided proposal the class, the codes and the decision stay, unless its subject is erased.",
)
