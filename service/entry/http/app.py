"""The HTTP application: its layers, its routes, and the life of what runs beside them."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import Final

from fastapi import APIRouter, FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response

from service.core.errors import Forbidden, Refusal
from service.entry.http import (
    approvals,
    audit,
    bundles,
    data_map,
    delegations,
    erasures,
    evidence,
    evidence_batch,
    executions,
    executions_acceptance,
    executions_conversation,
    executions_ledger,
    executions_operate,
    executions_recovery,
    executions_summaries,
    executions_work,
    exports,
    health,
    holds,
    imports,
    memories,
    memories_lifecycle,
    memories_proposals,
    memories_review,
    memories_uses,
    packages,
    packages_compare,
    policies,
    policies_activations,
    policies_edits,
    policies_explain,
    policies_plans,
    policies_shadow,
    quarantines,
)
from service.entry.http.authenticate import Authenticate
from service.entry.http.limits import RateLimit
from service.entry.http.openapi import install
from service.entry.http.problems import problem_response
from service.entry.http.refusals import record_forbidden
from service.entry.http.route import API_PREFIX, EdgeRoute
from service.entry.http.shell import Saw, Shell
from service.entry.http.state import state_of
from service.jobs.delivery_workers import DeliveryWorkers
from service.jobs.relay import Relay
from service.wiring import Runtime

ROUTERS: Final[tuple[APIRouter, ...]] = (
    evidence_batch.router,
    evidence.router,
    executions.router,
    executions_work.router,
    executions_conversation.router,
    executions_summaries.router,
    executions_ledger.router,
    executions_acceptance.router,
    executions_operate.router,
    approvals.router,
    audit.router,
    bundles.router,
    data_map.router,
    delegations.router,
    executions_recovery.router,
    memories_proposals.router,
    memories_review.router,
    memories_uses.router,
    memories.router,
    erasures.router,
    exports.router,
    holds.router,
    imports.router,
    memories_lifecycle.router,
    packages.router,
    packages_compare.router,
    policies.router,
    policies_activations.router,
    policies_plans.router,
    policies_edits.router,
    policies_explain.router,
    policies_shadow.router,
    quarantines.router,
)
"""Every capability's routes. A new one adds its line here and gets all conventions with it."""


def create_app(
    runtime: Runtime, *, extra_routers: Sequence[APIRouter] = (), saw: Saw | None = None
) -> FastAPI:
    """Answer the application over a runtime that the caller closes. `extra_routers` are for tests.

    Layers from the outside: shell (id, log, last answer), authentication, rate, routing. `saw` is told of
    each request that was answered.
    """
    app = FastAPI(
        title="Muniment",
        version="1",
        summary="Context packages in exact token budgets, resumable executions and governed memory.",
        openapi_url=f"{API_PREFIX}/openapi.json",
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        lifespan=_lifespan,
        # FastAPI's own spans carry query strings and its logs the text of exceptions.
        telemetry={"tracing": False, "metrics": False, "logs": False},
        middleware=[
            Middleware(Shell, ids=runtime.ids, saw=saw),
            Middleware(Authenticate, runtime=runtime),
            Middleware(RateLimit, requests_per_minute=runtime.settings.requests_per_minute),
        ],
        exception_handlers=dict.fromkeys((Refusal, HTTPException, RequestValidationError), _refuse),
    )
    app.state.runtime = runtime
    app.include_router(health.router)
    for router in (*ROUTERS, *extra_routers):
        if not issubclass(router.route_class, EdgeRoute):
            raise TypeError("make routers with `new_router`: others would pass the edge by")
        app.include_router(router, prefix=API_PREFIX)
    install(app)
    return app


async def _refuse(request: Request, failure: Exception) -> Response:
    state = state_of(request.scope)
    if isinstance(failure, Forbidden):
        recorded = partial(record_forbidden, failure, method=request.method, state=state)
        await run_in_threadpool(recorded, request.app.state.runtime)
    return problem_response(failure, state.request_id)


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    runtime: Runtime = app.state.runtime
    if not runtime.settings.worker_enabled:
        yield
        return
    beside: list[Relay | DeliveryWorkers] = [runtime.relay, runtime.erasing.workers]
    if runtime.deliveries is not None:
        beside.append(runtime.deliveries)
    for worker in beside:
        await run_in_threadpool(worker.start)
    try:
        yield
    finally:
        for worker in beside:
            await run_in_threadpool(worker.stop)
