"""Routes of going on with a run: resume, and the lease that it gives."""

from datetime import timedelta

from starlette.responses import Response

from service.context.references import RecordReferences
from service.context.reread import Reread
from service.core.errors import NotFound, Refusal, Unavailable
from service.entry.http.edge import Edge, PathId, Reply, needs, new_router, operation
from service.entry.http.executions_examples import LEASE_EXAMPLE, RESUME_EXAMPLE
from service.entry.http.executions_shapes import handoff_answer, run_reply
from service.executions import refusals
from service.executions.lease import give_back, renew
from service.executions.leases.model import Lease
from service.executions.leases.refusals import FencingTokenStale, LeaseLapsed
from service.executions.look_up import LookUps
from service.executions.recovery.model import Found
from service.executions.resume import Resumption, resume
from service.identity.matrix import EXECUTIONS_WRITE
from service.identity.unit import Unit
from service.policies.active import active_bundle
from service.wire.recovery import LeaseAnswer, ReasonAnswer, ResumeAnswer, ResumeRun

router = new_router("executions")


@router.post(
    "/executions/{execution_id}/resume",
    **operation(
        summary="Go on with a run",
        answer=ResumeAnswer,
        example=RESUME_EXAMPLE,
        problems=[
            NotFound,
            refusals.ActingUserOnly,
            refusals.AccessGone,
            refusals.ReviewRequired,
            Unavailable,
        ],
    ),
)
def resume_run(execution_id: PathId, body: ResumeRun, edge: Edge = needs(EXECUTIONS_WRITE)) -> Response:
    """Decide what has to be done first, and give the run's lease to one worker at a time.

    What connectors and source readers can say is asked before, outside any transaction.
    """
    found = Found(body.artifact_hash, body.contract_hash, body.environment, body.schema_version)
    reread = Reread(execution_id, edge.runtime.readers, edge.runtime.chunker)
    look_ups = LookUps(execution_id, edge.runtime.connectors)
    edge.look(reread.plan)
    edge.look(look_ups.plan)
    reread.read(edge.caller.tenant_id)
    look_ups.ask()

    def work(unit: Unit) -> Reply | Refusal:
        look_ups.apply(unit)
        bundle = active_bundle(unit)
        resumed = resume(
            execution_id,
            found,
            unit=unit,
            bundle=bundle,
            references=RecordReferences(unit, bundle),
            lease_lifetime=_lifetime(edge),
            at_source=reread.apply(unit),
        )
        return resumed if isinstance(resumed, Refusal) else _reply(resumed)

    return edge.write(work)


@router.put(
    "/executions/{execution_id}/lease",
    **operation(
        summary="Renew the lease of a run",
        answer=LeaseAnswer,
        example=LEASE_EXAMPLE,
        problems=[NotFound, refusals.ActingUserOnly, LeaseLapsed, FencingTokenStale],
    ),
)
def renew_lease(execution_id: PathId, edge: Edge = needs(EXECUTIONS_WRITE)) -> Response:
    """Let the lease whose `Fencing-Token` is sent live anew. One that has lapsed is not renewed: resume."""
    return edge.write(
        lambda unit: Reply(_lease_answer(renew(execution_id, unit=unit, lifetime=_lifetime(edge))))
    )


@router.delete(
    "/executions/{execution_id}/lease",
    **operation(
        summary="Give the lease of a run back",
        answer=None,
        status=204,
        problems=[NotFound, refusals.ActingUserOnly, FencingTokenStale],
    ),
)
def delete_lease(execution_id: PathId, edge: Edge = needs(EXECUTIONS_WRITE)) -> Response:
    """End the lease whose `Fencing-Token` is sent, so that the next worker need not wait."""

    def work(unit: Unit) -> Reply:
        give_back(execution_id, unit=unit)
        return Reply(None)

    return edge.write(work)


def _lifetime(edge: Edge) -> timedelta:
    return timedelta(seconds=edge.runtime.settings.lease_seconds)


def _reply(resumed: Resumption) -> Reply:
    answer = ResumeAnswer(
        decision=str(resumed.decision),
        reasons=[
            ReasonAnswer(code=one.code, message=one.message, ref=one.ref) for one in resumed.decision.reasons
        ],
        handoff=handoff_answer(resumed.facts),
        lease=None if resumed.lease is None else _lease_answer(resumed.lease),
        leased_until=resumed.leased_until,
    )
    return run_reply(answer, resumed.facts.execution)


def _lease_answer(lease: Lease) -> LeaseAnswer:
    return LeaseAnswer(fencing_token=lease.fencing_token, mode=lease.mode.value, expires_at=lease.expires_at)
