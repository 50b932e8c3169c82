"""Routes of what a run saw and did: observations and effects."""

from typing import Final

from starlette.responses import Response

from service.context.references import RecordReferences
from service.core.errors import NotFound, Refusal
from service.entry.http.edge import Edge, PathId, Reply, needs, new_router, operation
from service.entry.http.effects_shapes import effect_answer
from service.entry.http.executions_examples import OBSERVATION_EXAMPLE
from service.entry.http.executions_shapes import run_reply
from service.executions import refusals
from service.executions.act import intend, settle
from service.executions.approvals.refusals import ApprovalNotRedeemed, ApprovalStale, ApprovalUsed
from service.executions.delivery.model import Outcome
from service.executions.delivery.refusals import (
    ConnectorUnknown,
    DeliveryUnderWay,
    ReconciliationNeedsProof,
    ReconciliationNotNeeded,
)
from service.executions.leases.refusals import FencingTokenStale, RecoveryOnly
from service.executions.ledger.model import (
    EffectStatus,
    NewEffect,
    NewObservation,
    ObservedSource,
)
from service.executions.model import Execution
from service.executions.observe import observe
from service.executions.reconcile import Reconciliation, reconcile
from service.executions.store import ExecutionStore
from service.identity.matrix import EXECUTIONS_OPERATE, EXECUTIONS_WRITE
from service.identity.unit import Unit
from service.policies.active import active_bundle
from service.wire.ledger import (
    AddObservation,
    EffectAnswer,
    IntendEffect,
    ObservationAnswer,
    OperationId,
    ReconcileEffect,
    SettleEffect,
)

router = new_router("executions")

_WRITING: Final = (refusals.ActingUserOnly, refusals.ExecutionEnded, refusals.RunFull)
_POLICY: Final = (refusals.EffectNotAllowed, refusals.CapabilityMissing, refusals.ApprovalNeeded)


@router.post(
    "/executions/{execution_id}/observations",
    **operation(
        summary="Record a tool result",
        answer=ObservationAnswer,
        status=201,
        example=OBSERVATION_EXAMPLE,
        problems=_WRITING,
    ),
)
def add_observation(
    execution_id: PathId, body: AddObservation, edge: Edge = needs(EXECUTIONS_WRITE)
) -> Response:
    """Keep a tool result; beyond 2,000 tokens as evidence, under the `evidence_id` that is answered."""
    source = body.source
    new = NewObservation(
        source=ObservedSource(source.uri, source.kind, source.observed_at, source.source_version),
        content=body.content,
        media_type=body.media_type,
        summary=body.summary,
        tool_call_id=body.tool_call_id,
    )

    def work(unit: Unit) -> Reply:
        kept = observe(execution_id, new, unit=unit, bundle=active_bundle(unit), chunker=edge.runtime.chunker)
        answer = ObservationAnswer(
            id=kept.id,
            sequence=kept.sequence,
            evidence_id=kept.evidence_id,
            sha256=kept.sha256,
            tokens=kept.tokens,
            trust=kept.trust.value,
            authority=kept.authority.value,
            limited=kept.limited,
            at=kept.at,
        )
        refs = (kept.id,) if kept.evidence_id is None else (kept.id, kept.evidence_id)
        return run_reply(answer, _run(execution_id, unit), status=201, refs=refs)

    return edge.create(work)


@router.post(
    "/executions/{execution_id}/effects",
    **operation(
        summary="Write down the intent to do an operation outside",
        answer=EffectAnswer,
        status=201,
        example={"operation_id": "seed-order-8", "kind": "orders.create", "request": {"sku": "A1"}},
        problems=[
            *_WRITING,
            *_POLICY,
            refusals.ReviewRequired,
            RecoveryOnly,
            refusals.OperationTaken,
            refusals.ApprovalUnknown,
            ApprovalNotRedeemed,
            ApprovalUsed,
            ConnectorUnknown,
        ],
    ),
)
def add_effect(execution_id: PathId, body: IntendEffect, edge: Edge = needs(EXECUTIONS_WRITE)) -> Response:
    """Answer 201 for a new intent, 200 when the same one stands already."""
    new = NewEffect(body.operation_id, body.kind, body.request, body.approval_id)

    def work(unit: Unit) -> Reply:
        effect, is_new = intend(
            execution_id,
            new,
            unit=unit,
            bundle=active_bundle(unit),
            connectors=edge.runtime.connectors,
        )
        run = _run(execution_id, unit)
        return run_reply(effect_answer(effect), run, status=201 if is_new else 200)

    return edge.create(work)


@router.patch(
    "/executions/{execution_id}/effects/{operation_id}",
    **operation(
        summary="Record how far an operation got",
        answer=EffectAnswer,
        example={"status": "committed", "downstream_ref": "order:8"},
        problems=[
            *_WRITING,
            *_POLICY,
            NotFound,
            refusals.ReviewRequired,
            ApprovalStale,
            refusals.ConnectorDelivers,
            refusals.EffectBackwards,
            refusals.ReconciliationNeeded,
        ],
    ),
)
def patch_effect(
    execution_id: PathId, operation_id: OperationId, body: SettleEffect, edge: Edge = needs(EXECUTIONS_WRITE)
) -> Response:
    """Move an effect forwards: dispatched, then committed, failed or unknown. Never backwards."""

    def work(unit: Unit) -> Reply | Refusal:
        effect = settle(
            execution_id,
            operation_id,
            status=EffectStatus(body.status),
            downstream_ref=body.downstream_ref,
            unit=unit,
            bundle=active_bundle(unit),
        )
        return effect if isinstance(effect, Refusal) else Reply(effect_answer(effect))

    return edge.write(work)


@router.post(
    "/executions/{execution_id}/effects/{operation_id}/reconcile",
    **operation(
        summary="Settle an operation whose outcome is unknown",
        answer=EffectAnswer,
        example={"outcome": "committed", "downstream_ref": "order:8"},
        creates=True,
        problems=[
            NotFound,
            refusals.ActingUserOnly,
            FencingTokenStale,
            ReconciliationNeedsProof,
            ReconciliationNotNeeded,
            DeliveryUnderWay,
        ],
    ),
)
def reconcile_effect(
    execution_id: PathId,
    operation_id: OperationId,
    body: ReconcileEffect,
    edge: Edge = needs(EXECUTIONS_WRITE, EXECUTIONS_OPERATE),
) -> Response:
    """Say what became of an effect: operators on their word, the run's user or agent with evidence."""
    said = Reconciliation(Outcome(body.outcome), body.downstream_ref, body.evidence_id, body.reason)

    def work(unit: Unit) -> Reply:
        effect = reconcile(
            execution_id,
            operation_id,
            said,
            unit=unit,
            bundle=active_bundle(unit),
            references=RecordReferences,
            connectors=edge.runtime.connectors,
        )
        return run_reply(effect_answer(effect), _run(execution_id, unit))

    return edge.create(work)


def _run(execution_id: str, unit: Unit) -> Execution:
    return ExecutionStore.of(unit).get(execution_id)
