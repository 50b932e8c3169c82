"""Taking something out of the conversation, so that no compaction loses it."""

from collections.abc import Sequence
from dataclasses import replace

from service.audit.model import Action
from service.audit.record import record
from service.core.errors import NotFound
from service.executions.conversation.model import Pin, PinKind, Turn
from service.executions.conversation.rules import needs_a_person, person_said, was_relayed
from service.executions.hold import hold, refuse_full
from service.executions.keep import keeps_text
from service.executions.model import PINS_MAX, Execution
from service.executions.refusals import PinNeedsAPerson, TurnUnknown
from service.executions.store import ExecutionStore
from service.identity.unit import Unit
from service.policies.model import Bundle


def set_pin(
    execution_id: str, *, kind: PinKind, text: str, turn_ids: Sequence[str], unit: Unit, bundle: Bundle
) -> Pin:
    """Set a pin that cites turns of this run.

    Raises `TurnUnknown`, and `PinNeedsAPerson` for a constraint or decision that does not cite a person's own
    turns alone. Saying a hypothesis again never makes it more than that: a pin's kind cannot be changed.
    """
    store = ExecutionStore.of(unit)
    execution = hold(store, execution_id, unit=unit)
    wanted = list(dict.fromkeys(turn_ids))
    turns = store.conversation.turns_by_id(execution_id, wanted)
    if len(turns) != len(wanted):
        raise TurnUnknown(pointer="/turns")
    return set_pin_on(execution, turns, kind=kind, text=text, store=store, unit=unit, bundle=bundle)


def set_pin_on(
    execution: Execution,
    turns: Sequence[Turn],
    *,
    kind: PinKind,
    text: str,
    store: ExecutionStore,
    unit: Unit,
    bundle: Bundle,
) -> Pin:
    """Set a pin on turns that were read from the held run. Raises `PinNeedsAPerson`."""
    if needs_a_person(kind) and not person_said(turns):
        raise PinNeedsAPerson(pointer="/kind")
    refuse_full(store.conversation.count_pins(execution.id), PINS_MAX)
    pin = Pin(
        id=unit.ids(),
        execution_id=execution.id,
        kind=kind,
        text=text if keeps_text(execution, bundle) else None,
        turn_ids=tuple(turn.id for turn in turns),
        relayed=was_relayed(turns),
        resolved=False,
        resolution=None,
        by=unit.caller.subject,
        at=unit.now,
        resolved_at=None,
    )
    store.conversation.add_pin(pin, person=execution.person)
    record(unit, Action.PIN_SET, kind="execution", ref=execution.id, pin=pin.id, pin_kind=kind.value)
    return pin


def resolve_pin(
    execution_id: str, pin_id: str, *, resolved: bool, resolution: str | None, unit: Unit, bundle: Bundle
) -> Pin:
    """Say that a pin is settled and how, or that it is open again. The pin and its text stay.

    Raises `NotFound` for a pin that this run does not have.
    """
    store = ExecutionStore.of(unit)
    execution = hold(store, execution_id, unit=unit)
    found = store.conversation.find_pin(execution_id, pin_id)
    if found is None:
        raise NotFound
    pin = replace(
        found,
        resolved=resolved,
        resolution=resolution if resolved and keeps_text(execution, bundle) else None,
        resolved_at=unit.now if resolved else None,
    )
    store.conversation.resolve_pin(pin, person=execution.person)
    action = Action.PIN_RESOLVED if resolved else Action.PIN_REOPENED
    record(unit, action, kind="execution", ref=execution.id, pin=pin.id)
    return pin
