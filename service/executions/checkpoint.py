"""Moving a run: one valid transition with its working state."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from service.audit.model import Action
from service.audit.record import record
from service.core.errors import Conflict, Invalid
from service.core.lineage import Lineage, Node
from service.core.quarantined import Quarantined
from service.executions.complete import complete_if_met
from service.executions.hold import hold
from service.executions.keep import keeps_text
from service.executions.model import (
    REFERENCES_MAX,
    STATE_BYTES_MAX,
    STATE_SCHEMA_VERSION,
    Checkpoint,
    Execution,
    NewCheckpoint,
    PinnedSource,
    Transition,
)
from service.executions.ports import ReferencesOf
from service.executions.refusals import (
    BudgetExhausted,
    CostTooLarge,
    EffectUnknown,
    StateTooLarge,
    StepBackwards,
    TransitionRefused,
)
from service.executions.rules import Refused, judge_move, references_of
from service.executions.sealed import stable_json
from service.executions.sources import nodes_of, pin_sources
from service.executions.store import ExecutionStore
from service.identity.unit import Unit
from service.policies.model import Bundle

_REFUSALS: Final[dict[str, type[Conflict | Invalid]]] = {
    kind.code: kind
    for kind in (TransitionRefused, StepBackwards, BudgetExhausted, CostTooLarge, EffectUnknown)
}


def checkpoint(
    execution_id: str,
    asked: NewCheckpoint,
    *,
    expected_version: int,
    unit: Unit,
    bundle: Bundle,
    references: ReferencesOf,
) -> Execution:
    """Move a run by one transition and answer it in its new version.

    Of any number of moves from the same version exactly one is taken; the others raise `Stale`. `finish` asks
    for verification: the record must show that the contract is met, nobody's word completes a run. What the
    state is derived from is pinned at its present version; `ReferenceNotFound` for what cannot be read.

    A move that takes away what stood last in the way completes the run, whatever its transition.
    """
    derived_from = _check_state(asked)
    store = ExecutionStore.of(unit)
    execution = hold(store, execution_id, unit=unit, expected_version=expected_version)
    move = judge_move(
        execution,
        asked,
        effect_unsettled=store.ledger.has_unsettled(execution_id),
        steps_max=bundle.stopping.steps_max,
    )
    if isinstance(move, Refused):
        raise _REFUSALS[move.code](move.message)
    if derived_from:
        Quarantined(unit.session, unit.tenant_id).share()
    sources = pin_sources(derived_from, references(unit, bundle), pointer="/state/derived_from")
    moved = replace(
        execution,
        version=execution.version + 1,
        status=move.status,
        step=move.step,
        cost_used=move.cost_used,
        finish_asked=asked.transition is Transition.FINISH,
        # A state that this move keeps stays in the form that it was written in.
        schema_version=execution.schema_version if asked.state is None else STATE_SCHEMA_VERSION,
        updated_at=unit.now,
    )
    store.runs.save(moved)
    keep = asked if keeps_text(execution, bundle) else _without_words(asked)
    store.runs.add_checkpoint(_checkpoint(moved, keep, sources, unit), person=execution.person)
    Lineage(unit.session, unit.tenant_id).note(Node("execution", moved.id), nodes_of(sources))
    record(
        unit,
        Action.EXECUTION_CHECKPOINTED,
        kind="execution",
        ref=execution.id,
        version=moved.version,
        transition=asked.transition.value,
        status=moved.status.value,
        step=moved.step,
    )
    return complete_if_met(store, moved, unit=unit, bundle=bundle, references=references)


def _without_words(asked: NewCheckpoint) -> NewCheckpoint:
    """Leave the state out; what it was derived from is kept beside it and stays."""
    return asked if asked.state is None else replace(asked, state={})


def _checkpoint(
    moved: Execution, asked: NewCheckpoint, sources: Sequence[PinnedSource], unit: Unit
) -> Checkpoint:
    return Checkpoint(
        execution_id=moved.id,
        version=moved.version,
        transition=asked.transition,
        status=moved.status,
        step=moved.step,
        cost=asked.cost,
        schema_version=STATE_SCHEMA_VERSION,
        state=asked.state,
        derived_from=tuple(source.ref for source in sources),
        sources=sources,
        by=unit.caller.subject,
        at=unit.now,
    )


def _check_state(asked: NewCheckpoint) -> tuple[str, ...]:
    if asked.state is not None and len(stable_json(dict(asked.state)).encode()) > STATE_BYTES_MAX:
        raise StateTooLarge(pointer="/state", bytes_max=STATE_BYTES_MAX)
    derived_from = references_of(asked.state)
    if derived_from is None:
        raise Invalid(f"is a list of at most {REFERENCES_MAX} references", pointer="/state/derived_from")
    return tuple(derived_from)
