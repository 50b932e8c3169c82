"""Routes of approvals: ask, list, read, decide, redeem, cancel."""

from typing import Annotated, Final

from fastapi import Query
from starlette.responses import Response

from service.context.references import RecordReferences
from service.core.errors import NotFound, Refusal
from service.core.paging import PAGE_ITEMS_DEFAULT
from service.entry.http.approvals_examples import (
    APPROVAL_EXAMPLE,
    ASK_EXAMPLE,
    DECIDE_EXAMPLE,
    LISTED_EXAMPLE,
    REDEEM_EXAMPLE,
)
from service.entry.http.approvals_shapes import approval_answer, approval_listed, new_approval
from service.entry.http.edge import Cursor, Edge, Limit, PathId, Reply, needs, new_router, operation
from service.entry.http.effects_shapes import effect_answer
from service.entry.http.executions_shapes import run_reply
from service.evidence.model import ReferenceNotFound
from service.executions import refusals
from service.executions.approvals.model import Approval, ApprovalStatus, Decision
from service.executions.approvals.refusals import (
    ApprovalDecided,
    ApprovalNotApproved,
    ApprovalNotYours,
    ApprovalStale,
    ApprovalTooLax,
    ApprovalUsed,
    CommandInexact,
)
from service.executions.ask import ask
from service.executions.decide import decide
from service.executions.delivery.refusals import ConnectorUnknown
from service.executions.leases.refusals import FencingTokenStale, RecoveryOnly
from service.executions.redeem import redeem
from service.executions.store import ExecutionStore
from service.executions.withdraw import withdraw
from service.identity.matrix import (
    APPROVALS_DECIDE,
    EXECUTIONS_OPERATE,
    EXECUTIONS_READ,
    EXECUTIONS_READ_REDACTED,
    EXECUTIONS_WRITE,
)
from service.identity.unit import Unit
from service.policies.active import active_bundle
from service.wire.approvals import (
    ApprovalAnswer,
    ApprovalPage,
    AskApproval,
    DecideApproval,
    RedeemAnswer,
    RedeemApproval,
)
from service.wire.approvals import ApprovalStatus as StatusShape

router = new_router("approvals")

_WRITING: Final = (refusals.ActingUserOnly, FencingTokenStale, refusals.ExecutionEnded)
_POLICY: Final = (refusals.EffectNotAllowed, refusals.CapabilityMissing, CommandInexact)


@router.post(
    "/executions/{execution_id}/approvals",
    **operation(
        summary="Ask for approval of one exact command",
        answer=ApprovalAnswer,
        status=201,
        example=ASK_EXAMPLE,
        problems=[*_WRITING, *_POLICY, ApprovalTooLax, ReferenceNotFound, refusals.RunFull],
    ),
)
def ask_approval(execution_id: PathId, body: AskApproval, edge: Edge = needs(EXECUTIONS_WRITE)) -> Response:
    """Answer 201 for a new request, 200 with the one that already waits for the same command."""
    new = new_approval(body)

    def work(unit: Unit) -> Reply:
        approval, is_new = ask(execution_id, new, unit=unit, bundle=active_bundle(unit))
        return _reply(approval, unit, status=201 if is_new else 200)

    return edge.create(work)


@router.get(
    "/approvals",
    **operation(
        summary="List approvals, newest first",
        answer=ApprovalPage,
        example={"items": [LISTED_EXAMPLE], "next_cursor": None},
    ),
)
def list_approvals(
    edge: Edge = needs(EXECUTIONS_READ, EXECUTIONS_READ_REDACTED),
    status: Annotated[StatusShape | None, Query()] = None,
    limit: Limit = PAGE_ITEMS_DEFAULT,
    cursor: Cursor = None,
) -> Response:
    """Answer the approvals of runs in the caller's projects. Operators see the commands they decide."""

    def work(unit: Unit) -> Reply:
        page = ExecutionStore.of(unit).page_approvals(
            edge.page(limit, cursor, status), status=None if status is None else ApprovalStatus(status)
        )
        names = {project.id: project.name for project in unit.caller.projects}
        items = [approval_listed(approval, names[project_id]) for approval, project_id in page.items]
        return Reply(ApprovalPage(items=items, next_cursor=page.next_cursor))

    return edge.read(work)


@router.get(
    "/approvals/{approval_id}",
    **operation(
        summary="Read an approval with its exact command", answer=ApprovalAnswer, example=APPROVAL_EXAMPLE
    ),
)
def get_approval(
    approval_id: PathId, edge: Edge = needs(EXECUTIONS_READ, EXECUTIONS_READ_REDACTED)
) -> Response:
    """Answer what is to be decided, what it is bound to, and what of that has moved until now."""

    def work(unit: Unit) -> Reply:
        found = ExecutionStore.of(unit).find_approval(approval_id)
        if found is None:
            raise NotFound
        return _reply(found, unit)

    return edge.read(work)


@router.post(
    "/approvals/{approval_id}/decision",
    **operation(
        summary="Approve or reject a command",
        answer=ApprovalAnswer,
        example=DECIDE_EXAMPLE,
        problems=[ApprovalNotYours, ApprovalDecided, ApprovalStale, refusals.ExecutionEnded],
        creates=True,
    ),
)
def decide_approval(
    approval_id: PathId, body: DecideApproval, edge: Edge = needs(APPROVALS_DECIDE)
) -> Response:
    """Decide as the person whom the policy names, once; never as who asked for it."""
    decision = Decision(body.decision == "approve", body.reason)

    def work(unit: Unit) -> Reply | Refusal:
        decided = decide(approval_id, decision, unit=unit, bundle=active_bundle(unit))
        return decided if isinstance(decided, Refusal) else _reply(decided, unit)

    return edge.create(work)


@router.post(
    "/approvals/{approval_id}/redeem",
    **operation(
        summary="Use an approval for one operation",
        answer=RedeemAnswer,
        example=REDEEM_EXAMPLE,
        problems=[
            *_WRITING,
            *_POLICY,
            RecoveryOnly,
            refusals.RunFull,
            refusals.OperationTaken,
            refusals.EffectBackwards,
            ConnectorUnknown,
            ApprovalNotApproved,
            ApprovalStale,
            ApprovalUsed,
        ],
        creates=True,
    ),
)
def redeem_approval(
    approval_id: PathId, body: RedeemApproval, edge: Edge = needs(EXECUTIONS_WRITE)
) -> Response:
    """Compare every binding again and write the effect's intent; again for this operation, answer it."""

    def work(unit: Unit) -> Reply | Refusal:
        effect = redeem(
            approval_id,
            body.command.whole,
            body.operation_id,
            unit=unit,
            bundle=active_bundle(unit),
            connectors=edge.runtime.connectors,
        )
        if isinstance(effect, Refusal):
            return effect
        execution = ExecutionStore.of(unit).get(effect.execution_id)
        return run_reply(RedeemAnswer(effect=effect_answer(effect)), execution, refs=(approval_id,))

    return edge.create(work)


@router.post(
    "/approvals/{approval_id}/cancel",
    **operation(
        summary="Cancel an approval that nobody waits for any more",
        answer=ApprovalAnswer,
        example=APPROVAL_EXAMPLE,
        problems=[ApprovalNotYours, ApprovalDecided, *_WRITING],
    ),
)
def cancel_approval(
    approval_id: PathId, edge: Edge = needs(EXECUTIONS_WRITE, EXECUTIONS_OPERATE, APPROVALS_DECIDE)
) -> Response:
    """Cancel as the acting user, their agent, an operator or the approver; again, it changes nothing."""

    def work(unit: Unit) -> Reply:
        bundle = active_bundle(unit)
        return _reply(withdraw(approval_id, unit=unit, bundle=bundle, references=RecordReferences), unit)

    return edge.write(work)


def _reply(approval: Approval, unit: Unit, *, status: int = 200) -> Reply:
    execution = ExecutionStore.of(unit).get(approval.execution_id)
    return run_reply(
        approval_answer(approval, execution, unit=unit), execution, status=status, refs=(approval.id,)
    )
