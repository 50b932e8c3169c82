"""What was forbidden to whom: an event of the audit trail, in a transaction of its own.

Only what a caller may not do (403) is recorded. What is malformed, stale or not there happens to everybody,
and would let each mistyped request write.
"""

from typing import Final

import structlog

from service.audit.record import record_refusal
from service.core.errors import Forbidden
from service.entry.http.state import RequestState
from service.wiring import Runtime

_log: Final = structlog.get_logger("muniment.http")


def record_forbidden(refusal: Forbidden, runtime: Runtime, *, method: str, state: RequestState) -> None:
    """Record that the caller was refused this operation; a record that is down holds up no answer."""
    caller = state.caller
    try:
        with runtime.database.write(caller.tenant_id) as session:
            unit = runtime.unit(session, caller, state.request_id)
            record_refusal(unit, refusal, operation=f"{method}:{state.route}")
    except Exception as failure:  # noqa: BLE001 - the refusal stands whatever happens to its record
        _log.warning("refusal_unrecorded", request_id=state.logged_id, failure=type(failure).__name__)
