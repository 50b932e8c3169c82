"""Legal holds: what one names is not destroyed, and not used either, while it stands."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Final

from service.audit.model import Action
from service.audit.record import record
from service.core.errors import NotFound
from service.core.idempotency import IdempotencyStore
from service.core.ids import is_id
from service.core.paging import Page, PageRequest
from service.governance.model import Held, Hold, HoldEnded, HoldScope, Target
from service.governance.store_holds import HoldStore
from service.identity.unit import Unit

HOLD_ENDED_TOPIC: Final = "hold.ended"
"""The message that is due when a hold ends by itself; it holds the hold's id."""


def place_hold(scope: HoldScope, ref: str, *, basis: str, until: datetime | None, unit: Unit) -> Hold:
    """Hold what is named: from the commit on every deletion of it answers `Held`.

    `ref` is an id, a project's name or a person's. A deletion that began before goes on: of two at once one
    comes first. Raises `HoldEnded` for an end that is past, `NotFound` for what cannot be named.
    """
    if until is not None and until <= unit.now:
        raise HoldEnded("lies in the past", pointer="/until")
    store = HoldStore.of(unit)
    store.lock()
    hold = Hold(
        id=unit.ids(),
        scope=scope,
        ref=_REFS[scope](ref, unit),
        basis=basis,
        until=until,
        by=unit.caller.principal,
        created_at=unit.now,
    )
    store.add(hold)
    # Kept answers show it no more either; of a person or project they live a day at most.
    IdempotencyStore(unit.session, unit.tenant_id, unit.cipher).erase([hold.ref])
    if until is not None:
        unit.stage_at(HOLD_ENDED_TOPIC, until, hold_id=hold.id)
    record(unit, Action.HOLD_PLACED, kind="hold", ref=hold.id, scope=scope.value)
    return hold


def release_hold(hold_id: str, *, unit: Unit) -> Hold:
    """Let go of what was held. Raises `NotFound` for a hold that is not there or was released before."""
    store = HoldStore.of(unit)
    store.lock()
    hold = store.find(hold_id)
    if hold is None or hold.released_at is not None:
        raise NotFound
    store.release(hold.id, at=unit.now, by=unit.caller.principal)
    record(unit, Action.HOLD_RELEASED, kind="hold", ref=hold.id, scope=hold.scope.value)
    return replace(hold, released_at=unit.now)


def end_hold(hold_id: str, *, unit: Unit) -> None:
    """Release a hold whose end has come; one that was released before stays as it is."""
    hold = HoldStore.of(unit).find(hold_id)
    if hold is not None and hold.released_at is None and hold.until is not None and hold.until <= unit.now:
        release_hold(hold_id, unit=unit)


def list_holds(request: PageRequest, *, unit: Unit) -> Page[Hold]:
    """Answer a page of the tenant's holds, released ones too, newest first."""
    return HoldStore.of(unit).page(request)


def list_live_ends(*, unit: Unit) -> tuple[datetime | None, ...]:
    """Answer when each hold of the tenant ends that stands now; `None` for one that waits for its release."""
    return HoldStore.of(unit).list_live_ends(unit.now)


def refuse_held(target: Target, *, unit: Unit) -> None:
    """Raise `Held` where a hold stands over anything that was gathered for the target.

    The caller has locked the holds, so that none is placed between this and the deletion.
    """
    hold = HoldStore.of(unit).find_over(target, unit)
    if hold is not None:
        raise Held(
            f"Held on this basis: {hold.basis}",
            hold=hold.id,
            until=None if hold.until is None else hold.until.isoformat(),
        )


def _known_id(ref: str, unit: Unit) -> str:
    del unit
    if not is_id(ref):
        raise NotFound
    return ref


_REFS: Final[Mapping[HoldScope, Callable[[str, Unit], str]]] = {
    HoldScope.MEMORY: _known_id,
    HoldScope.EXECUTION: _known_id,
    HoldScope.EVIDENCE: _known_id,
    HoldScope.SUBJECT: lambda ref, unit: unit.cipher.keyed_hash(ref),
    HoldScope.PROJECT: lambda ref, unit: unit.project(ref).id,
}
assert _REFS.keys() == set(HoldScope)
