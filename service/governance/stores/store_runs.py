"""What a run holds: its conversation, its states, its work, and the texts of its ledger.

The run itself stays as a line of the record without a word in it: that it was, how it ended, which effects it
had on other systems and which approvals it asked for. So an effect of unknown outcome can be reconciled.
"""

from typing import Any, Final

from sqlmodel import SQLModel

from service.executions.acceptance.tables import CandidateRow, CheckRequestRow, CheckRow
from service.executions.approvals.tables import ApprovalRow
from service.executions.conversation.tables import PinRow, SummaryRow, TurnRow
from service.executions.leases.tables import LeaseRow
from service.executions.ledger.tables import EffectRow, ObservationRow
from service.executions.tables import CheckpointRow, ExecutionRow, InterventionRow
from service.executions.work.tables import StepRow, TaskRow
from service.governance.model import Kind
from service.governance.stores.store_rows import Rows, RowStore, among, emptied

ERASED_HASH: Final = "erased:"
"""Stands where a plain hash of words stood: short words can be guessed from one."""
_RUNS: Final = frozenset({Kind.EXECUTION, Kind.SUBJECT, Kind.RESTORE, Kind.RETENTION})
_SUMMARIES: Final = _RUNS | {Kind.SOURCE}


def _gone(table: type[SQLModel], column: Any) -> Rows:  # noqa: ANN401 - a column of any of the row classes
    return Rows(table, among(column, "execution"), kinds=_RUNS)


def _emptied(table: type[SQLModel], column: Any, **values: object) -> Rows:  # noqa: ANN401 - as above
    return Rows(table, among(column, "execution"), emptied(**values), kinds=_RUNS)


CONVERSATION: Final = RowStore(
    "conversation",
    (
        _gone(TurnRow, TurnRow.execution_id),
        _gone(PinRow, PinRow.execution_id),
        Rows(
            SummaryRow,
            lambda reach: (
                among(SummaryRow.execution_id, "execution")(reach) | among(SummaryRow.id, "summary")(reach)
            ),
            kinds=_SUMMARIES,
        ),
    ),
)

STATES: Final = RowStore(
    "states",
    (
        _emptied(CheckpointRow, CheckpointRow.execution_id, state=None, state_hash=None, derived_from=[]),
        _emptied(
            ExecutionRow,
            ExecutionRow.id,
            objective=None,
            requirements=None,
            environment=None,
            external_ref=None,
            contract_hash=ERASED_HASH,
        ),
        _gone(LeaseRow, LeaseRow.execution_id),
    ),
    note="That a run was, when it moved and how it ended stays, and the names of its requirements.",
)

WORK: Final = RowStore(
    "work",
    (
        _gone(ObservationRow, ObservationRow.execution_id),
        # Of a run that stays, what speaks for a source that goes: that it was looked up stays.
        Rows(
            ObservationRow,
            among(ObservationRow.id, "observation"),
            emptied(content=None, summary=None),
            kinds=frozenset({Kind.SOURCE, Kind.RESTORE}),
        ),
        _gone(StepRow, StepRow.execution_id),
        _gone(TaskRow, TaskRow.execution_id),
    ),
)

LEDGER: Final = RowStore(
    "ledger",
    (
        _emptied(
            EffectRow,
            EffectRow.execution_id,
            request=None,
            downstream_ref=None,
            command_hash=None,
            evidence_id=None,
        ),
        _emptied(
            ApprovalRow,
            ApprovalRow.execution_id,
            command=None,
            reason=None,
            evidence=[],
            command_hash=ERASED_HASH,
        ),
        _emptied(InterventionRow, InterventionRow.execution_id, reason=None),
    ),
    note="Which effect was had on another system, under which name, and who approved it, stays.",
)

CHECKS: Final = RowStore(
    "checks",
    (
        _emptied(
            CheckRow,
            CheckRow.execution_id,
            environment=None,
            output_ref=None,
            expected=None,
            observed=None,
            reproduce=None,
            contract_hash=ERASED_HASH,
        ),
        _emptied(CandidateRow, CandidateRow.execution_id, inputs=[]),
        _gone(CheckRequestRow, CheckRequestRow.execution_id),
    ),
    note="Whether a requirement was met, by which grader and on which artifact's hash, stays.",
)
