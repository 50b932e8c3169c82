"""Keeping a summary over a range of turns."""

from collections.abc import Sequence

from service.audit.model import Action
from service.audit.record import record
from service.core.errors import Invalid
from service.core.lineage import Lineage, Node
from service.core.quarantined import Quarantined, SourceQuarantined
from service.executions.conversation.model import NewSummary, Summary
from service.executions.hold import hold, refuse_full
from service.executions.keep import keeps_text
from service.executions.model import SUMMARIES_MAX, Execution, PinnedSource
from service.executions.ports import References
from service.executions.refusals import SummaryUnknown
from service.executions.sources import nodes_of, pin_sources
from service.executions.store import ExecutionStore
from service.identity.unit import Unit
from service.policies.model import Bundle


def summarise(
    execution_id: str, new: NewSummary, *, unit: Unit, bundle: Bundle, references: References
) -> Summary:
    """Keep a summary that the client wrote, with its source range and model.

    Raises `Invalid` for a range that was not said, `SummaryUnknown` for one to supersede that is not here,
    `ReferenceNotFound` for a source of ours that the caller may not read, and `SourceQuarantined` for a range
    that holds a turn under quarantine.
    """
    store = ExecutionStore.of(unit)
    execution = hold(store, execution_id, unit=unit)
    quarantined = Quarantined(unit.session, unit.tenant_id)
    quarantined.share()
    sources = pin_sources(new.derived_from, references, pointer="/derived_from")
    if not 1 <= new.from_sequence <= new.to_sequence:
        raise Invalid("is after to_sequence", pointer="/from_sequence")
    if new.to_sequence > store.conversation.last_sequence(execution_id):
        raise Invalid("is after the last turn", pointer="/to_sequence")
    if new.supersedes and store.conversation.find_summary(execution_id, new.supersedes) is None:
        raise SummaryUnknown(pointer="/supersedes")
    if store.conversation.count_quarantined(
        execution_id, from_sequence=new.from_sequence, to_sequence=new.to_sequence
    ):
        raise SourceQuarantined("Some of these turns are under quarantine.")
    return keep_summary(execution, new, sources, store=store, unit=unit, bundle=bundle)


def keep_summary(
    execution: Execution,
    new: NewSummary,
    sources: Sequence[PinnedSource],
    *,
    store: ExecutionStore,
    unit: Unit,
    bundle: Bundle,
) -> Summary:
    """Keep a summary of a held run under the next version, with what it rests on as that was read.

    The turns under it stay, and outrank it.
    """
    latest = store.latest_summary(execution.id)
    version = 1 if latest is None else latest.version + 1
    refuse_full(version - 1, SUMMARIES_MAX)
    keep_text = keeps_text(execution, bundle)
    summary = Summary(
        id=unit.ids(),
        execution_id=execution.id,
        version=version,
        from_sequence=new.from_sequence,
        to_sequence=new.to_sequence,
        text=new.text if keep_text else None,
        model=new.model,
        tokens=unit.tokens.count(new.text),
        supersedes=new.supersedes,
        sources=tuple(sources),
        at=unit.now,
    )
    store.conversation.add_summary(summary, person=execution.person, keep_text=keep_text)
    Lineage(unit.session, unit.tenant_id).note(Node("summary", summary.id), _new_sources(summary, store))
    record(unit, Action.SUMMARY_ADDED, kind="execution", ref=execution.id, summary=summary.id)
    return summary


def _new_sources(summary: Summary, store: ExecutionStore) -> Sequence[Node]:
    """Answer what it rests on: the summary that it takes the place of, and what that did not rest on.

    So each of a run's summaries notes what came since the last, and not all of it anew. Its turns and its run
    are known by its own row.
    """
    found = store.conversation.find_summary(summary.execution_id, summary.supersedes or "")
    if found is None:
        return nodes_of(summary.sources)
    known = {source.ref for source in found.sources}
    return [Node("summary", found.id), *nodes_of(one for one in summary.sources if one.ref not in known)]
