"""Whether the process lives, and whether it can serve: the only two answers that need no credential."""

from fastapi import APIRouter, Request
from sqlalchemy import text
from starlette.responses import JSONResponse, Response

from service.wiring import Runtime

router = APIRouter(include_in_schema=False)


@router.get("/healthz")
async def live() -> Response:
    """Answer that the process takes requests. Touches nothing, so that a slow dependency never ends it."""
    return JSONResponse({"status": "ok"})


@router.get("/readyz")
def ready(request: Request) -> Response:
    """Answer that record and index answer. Raises `Unavailable`."""
    runtime: Runtime = request.app.state.runtime
    with runtime.database.read(None) as session:
        session.connection().execute(text("SELECT 1"))
    # A tenant that does not exist: the answer does not matter, that there is one does.
    runtime.index.count("readiness")
    return JSONResponse({"status": "ready"})
