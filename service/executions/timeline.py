"""What happened in a run, who did it and when, without a word that anybody wrote."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from service.audit.details import hashed
from service.audit.model import Detail, Event
from service.audit.principals import named_principals
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


@dataclass(frozen=True, slots=True)
class Told:
    """What the trail does not say itself: principals by name, operation ids by their keyed hashes."""

    names: Mapping[str, str]
    operations: Mapping[str, str]


def read_timeline(execution_id: str, request: PageRequest, *, unit: Unit) -> Page[Happening]:
    """Answer a page of what happened in a run, oldest first, from the audit trail.

    Raises `NotFound` for a run that the caller may not read.
    """
    store = ExecutionStore.of(unit)
    store.get(execution_id)
    links = AuditStore(unit.session, unit.tenant_id).links_of(
        "execution",
        execution_id,
        after=0 if request.after is None else int(request.after[0]),
        limit=request.limit + 1,
    )
    # The trail keeps no name that anybody chose, and no person's: who may read the run is told them.
    told = Told(
        names=named_principals({link.event.principal for link in links}, unit.cipher),
        operations={
            hashed(effect.operation_id, unit.cipher): effect.operation_id
            for effect in store.ledger.effects(execution_id)
        },
    )
    happenings = [describe(link.event, told) for link in links]
    return request.page(happenings, [(link.sequence,) for link in links])


def describe(event: Event, told: Told) -> Happening:
    """Answer an event of a run as the timeline shows it."""
    area = event.action.partition(".")[0]
    kind = _KINDS.get(area, area)
    return Happening(
        at=event.at,
        kind=kind,
        actor=told.names[event.principal],
        what=event.action,
        ref=_reference(kind, event, told),
        details={
            name: told.operations.get(value, value) if isinstance(value, str) else value
            for name, value in event.details.items()
        },
    )


def _reference(kind: str, event: Event, told: Told) -> str:
    evidence = event.details.get("evidence")
    if isinstance(evidence, str):
        return f"evidence:{evidence}"
    named = event.details.get(_OPERATION if kind == "effect" else kind)
    if isinstance(named, str):
        return f"{kind}:{told.operations.get(named, named)}"
    return f"{event.kind}:{event.ref}"
