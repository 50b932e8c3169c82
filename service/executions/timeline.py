"""What happened in a run, who did it and when, without a word that anybody wrote."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from service.audit.model import Detail, Event
from service.audit.store import AuditStore
from service.core.paging import Page, PageRequest
from service.executions.store import ExecutionStore
from service.identity.unit import Unit

TRANSITION: Final = "transition"
_KINDS: Final[Mapping[str, str]] = {"execution": TRANSITION, "contract": TRANSITION, "manifest": TRANSITION}
"""What an event's area is called where it is not called by its own name."""
_OPERATION: Final = "operation"
"""The detail that names an event's effect; events of all other kinds name theirs under the kind itself."""


@dataclass(frozen=True, slots=True)
class Happening:
    """One thing that happened. `what` is the audit trail's word for it, `details` its ids, codes and numbers.

    `ref` names what it happened to: `effect:<operation id>`, `check:<id>`, `evidence:<id>` for a tool result
    that is kept as evidence, the run itself where it is about nothing smaller.
    """

    at: datetime
    kind: str
    actor: str
    what: str
    ref: str
    details: Mapping[str, Detail]


def read_timeline(execution_id: str, request: PageRequest, *, unit: Unit) -> Page[Happening]:
    """Answer a page of what happened in a run, oldest first, from the audit trail.

    Raises `NotFound` for a run that the caller may not read.
    """
    ExecutionStore.of(unit).get(execution_id)
    links = AuditStore(unit.session, unit.tenant_id).links_of(
        "execution",
        execution_id,
        after=0 if request.after is None else int(request.after[0]),
        limit=request.limit + 1,
    )
    happenings = [describe(link.event) for link in links]
    return request.page(happenings, [(link.sequence,) for link in links])


def describe(event: Event) -> Happening:
    """Answer an event of a run as the timeline shows it."""
    area = event.action.partition(".")[0]
    kind = _KINDS.get(area, area)
    return Happening(
        at=event.at,
        kind=kind,
        actor=event.principal,
        what=event.action,
        ref=_reference(kind, event),
        details=event.details,
    )


def _reference(kind: str, event: Event) -> str:
    evidence = event.details.get("evidence")
    if isinstance(evidence, str):
        return f"evidence:{evidence}"
    named = event.details.get(_OPERATION if kind == "effect" else kind)
    return f"{kind}:{named}" if isinstance(named, str) else f"{event.kind}:{event.ref}"
