"""The objective, its requirements and the open pins, each quoted with its source."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from service.context.model import Candidate, Part, Shape
from service.context.situation import Run, Situation
from service.core.hashing import hash_text
from service.executions.conversation.model import Pin, PinKind

_ORDER: Final = (PinKind.CONSTRAINT, PinKind.DECISION, PinKind.QUESTION, PinKind.HYPOTHESIS)
"""Blockers are not among them: they belong to the state."""
_BINDING: Final = frozenset({PinKind.CONSTRAINT, PinKind.DECISION})


def collect(situation: Situation) -> Sequence[Candidate]:
    """Answer the objective first, then requirements, then pins: what binds before what is only asked."""
    run = situation.run
    if run is None:
        return []
    return [*_contract(run), *_pins(run)]


def _contract(run: Run) -> list[Candidate]:
    execution = run.facts.execution
    found = []
    if execution.objective:
        origin = f"objective, by {execution.contract_origin}"
        found.append(
            _candidate("objective", execution.id, origin, execution.objective, (0, 0), required=True)
        )
    for number, requirement in enumerate(execution.requirements):
        label = f"requirement {requirement.id}"
        found.append(
            _candidate("requirement", requirement.id, label, requirement.text, (1, number), required=True)
        )
    return found


def _pins(run: Run) -> list[Candidate]:
    sequences = {turn.id: turn.sequence for turn in run.pin_turns}
    pins = [pin for pin in run.open_pins if pin.kind in _ORDER]
    return [
        replace(
            _candidate(
                "pin",
                pin.id,
                pin_label(pin, sequences),
                pin.text or "",
                (2 + _ORDER.index(pin.kind), number),
                required=pin.kind in _BINDING,
            ),
            also=tuple(pin.turn_ids),
        )
        for number, pin in sorted(enumerate(pins), key=lambda pair: (_ORDER.index(pair[1].kind), pair[0]))
    ]


def pin_label(pin: Pin, sequences: Mapping[str, int]) -> str:
    """Answer a pin's label: what it is, who set it, and which turns it comes from."""
    turns = ", ".join(f"turn {sequences[turn_id]}" for turn_id in pin.turn_ids if turn_id in sequences)
    said = " (relayed)" if pin.relayed else ""
    return f"{pin.kind}{said}, {turns}" if turns else f"{pin.kind}{said}, set by {pin.by}"


def _candidate(
    kind: str, item_id: str, label: str, text: str, place: tuple[int, int], *, required: bool
) -> Candidate:
    return Candidate(
        kind=kind,
        id=item_id,
        version=1,
        parts=(Part(label, text),),
        sha256=hash_text(text),
        place=place,
        required=required,
        shape=Shape.PROSE,
    )
