"""Recording a tool result."""

from dataclasses import replace

from service.audit.model import Action
from service.audit.record import record
from service.core.hashing import hash_text
from service.core.lineage import Lineage, Node
from service.evidence.add import add_evidence
from service.evidence.model import NewEvidence, Source
from service.evidence.ports import Chunker
from service.evidence.rules import check_observed
from service.executions.hold import hold, refuse_full
from service.executions.keep import keeps_text
from service.executions.ledger.model import NewObservation, Observation
from service.executions.ledger.rules import is_large
from service.executions.model import OBSERVATIONS_MAX, Execution
from service.executions.store import ExecutionStore
from service.identity.unit import Unit
from service.policies.model import Bundle
from service.policies.sources import place_source
from service.policies.words import Authority


def observe(
    execution_id: str, new: NewObservation, *, unit: Unit, bundle: Bundle, chunker: Chunker
) -> Observation:
    """Keep a tool result with its source, time and hash; a large one as evidence that the run refers to.

    How far it is trusted is the policy's word on its source, never the request's.
    Raises what `hold` does, and `Invalid` for a result that was seen in the future.
    """
    tokens = unit.tokens.count(new.content)
    store = ExecutionStore.of(unit)
    execution = hold(store, execution_id, unit=unit)
    check_observed(new.source.observed_at, unit.now)
    sequence = store.ledger.next_observation(execution_id)
    refuse_full(sequence - 1, OBSERVATIONS_MAX)
    keep, large = keeps_text(execution, bundle), is_large(new.content, tokens)
    source = new.source
    placement = place_source(
        source.uri, source.kind, Authority.TOOL_RESULT, unit.caller.source_grants, bundle
    )
    observation = Observation(
        id=unit.ids(),
        execution_id=execution.id,
        sequence=sequence,
        source=source,
        media_type=new.media_type,
        content=new.content if keep and not large else None,
        summary=new.summary if keep else None,
        sha256=hash_text(new.content),
        tokens=tokens,
        evidence_id=None,
        tool_call_id=new.tool_call_id,
        trust=placement.trust,
        authority=placement.authority,
        limited=placement.limited,
        said_by=execution.acting_user,
        at=unit.now,
    )
    if keep and large:
        kept = _as_evidence(observation, new.content, execution, unit.project_of(execution.project_id).name)
        observation = replace(
            observation, evidence_id=add_evidence(kept, unit=unit, bundle=bundle, chunker=chunker).id
        )
    store.ledger.add_observation(observation, person=execution.person)
    if observation.evidence_id is not None:
        # One text in two places: whatever becomes of either concerns the other.
        lineage = Lineage(unit.session, unit.tenant_id)
        seen, kept_as = Node("observation", observation.id), Node("evidence", observation.evidence_id)
        lineage.note(kept_as, [seen])
        lineage.note(seen, [kept_as])
    record(
        unit,
        Action.OBSERVATION_ADDED,
        kind="execution",
        ref=execution.id,
        observation=observation.id,
        evidence=observation.evidence_id,
        trust=observation.trust.value,
    )
    return observation


def _as_evidence(observation: Observation, content: str, execution: Execution, project: str) -> NewEvidence:
    source = observation.source
    return NewEvidence(
        project=project,
        text=content,
        title=f"Result of {source.kind}",
        # Each result is an item of its own: two results of one tool must not supersede each other.
        source=Source(
            uri=f"{source.uri}#observation-{observation.id}",
            kind=source.kind,
            source_version=source.source_version,
            observed_at=source.observed_at,
        ),
        media_type=observation.media_type,
        authority=Authority.TOOL_RESULT,
        subjects=() if execution.person is None else (execution.person,),
    )
