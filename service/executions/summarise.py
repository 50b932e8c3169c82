"""Keeping a summary that the client wrote over a range of turns."""

from service.audit.model import Action
from service.audit.record import record
from service.core.errors import Invalid
from service.executions.conversation.model import NewSummary, Summary
from service.executions.hold import hold, refuse_full
from service.executions.keep import keeps_text
from service.executions.model import SUMMARIES_MAX
from service.executions.refusals import SummaryUnknown
from service.executions.store import ExecutionStore
from service.identity.unit import Unit
from service.policies.model import Bundle


def summarise(execution_id: str, new: NewSummary, *, unit: Unit, bundle: Bundle) -> Summary:
    """Keep a summary with its source range and model. The turns under it stay, and outrank it.

    Raises `Invalid` for a range that was not said, `SummaryUnknown` for one to supersede that is not here.
    """
    tokens = unit.tokens.count(new.text)
    store = ExecutionStore.of(unit)
    execution = hold(store, execution_id, unit=unit)
    if not 1 <= new.from_sequence <= new.to_sequence:
        raise Invalid("is after to_sequence", pointer="/from_sequence")
    if new.to_sequence > store.conversation.last_sequence(execution_id):
        raise Invalid("is after the last turn", pointer="/to_sequence")
    if new.supersedes and store.conversation.find_summary(execution_id, new.supersedes) is None:
        raise SummaryUnknown(pointer="/supersedes")
    latest = store.latest_summary(execution_id)
    version = 1 if latest is None else latest.version + 1
    refuse_full(version - 1, SUMMARIES_MAX)
    summary = Summary(
        id=unit.ids(),
        execution_id=execution.id,
        version=version,
        from_sequence=new.from_sequence,
        to_sequence=new.to_sequence,
        text=new.text,
        model=new.model,
        tokens=tokens,
        supersedes=new.supersedes,
        at=unit.now,
    )
    store.conversation.add_summary(summary, person=execution.person, keep_text=keeps_text(execution, bundle))
    record(unit, Action.SUMMARY_ADDED, kind="execution", ref=execution.id, summary=summary.id)
    return summary
