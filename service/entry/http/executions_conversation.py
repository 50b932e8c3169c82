"""Routes of what is said in a run: turns and pins."""

from typing import Final

from starlette.responses import Response

from service.core.errors import NotFound
from service.entry.http.edge import Edge, PathId, Reply, needs, new_router, operation
from service.entry.http.executions_examples import EXAMPLE_ID
from service.entry.http.executions_shapes import run_reply
from service.executions import refusals
from service.executions.conversation.model import NewTurn, Pin, PinKind, TurnRole
from service.executions.model import Execution
from service.executions.pin import resolve_pin, set_pin
from service.executions.say import say
from service.executions.store import ExecutionStore
from service.identity.matrix import EXECUTIONS_WRITE
from service.identity.unit import Unit
from service.policies.active import active_bundle
from service.wire.conversation import (
    AddTurn,
    PinAnswer,
    ResolvePin,
    SetPin,
    TurnAnswer,
)

router = new_router("executions")

_WRITING: Final = (refusals.ActingUserOnly, refusals.ExecutionEnded, refusals.RunFull)


@router.post(
    "/executions/{execution_id}/turns",
    **operation(
        summary="Record a turn of the conversation",
        answer=TurnAnswer,
        status=201,
        example={
            "role": "user",
            "text": "Keep every reply under 200 words.",
            "pin": {"kind": "constraint"},
        },
        problems=[*_WRITING, refusals.PinNeedsAPerson],
    ),
)
def add_turn(execution_id: PathId, body: AddTurn, edge: Edge = needs(EXECUTIONS_WRITE)) -> Response:
    """Keep a message and, where it asks for one, a pin of its text."""
    new = NewTurn(
        role=TurnRole(body.role),
        text=body.text,
        tool_call_id=body.tool_call_id,
        tool_calls=tuple(body.tool_calls or ()),
        pin=None if body.pin is None else PinKind(body.pin.kind),
    )

    def work(unit: Unit) -> Reply:
        turn, pin = say(execution_id, new, unit=unit, bundle=active_bundle(unit))
        answer = TurnAnswer(
            id=turn.id,
            sequence=turn.sequence,
            role=turn.role.value,
            tokens=turn.tokens,
            relayed=turn.relayed,
            pin_id=None if pin is None else pin.id,
            at=turn.at,
        )
        return run_reply(answer, _run(execution_id, unit), status=201, refs=(turn.id,))

    return edge.create(work)


@router.post(
    "/executions/{execution_id}/pins",
    **operation(
        summary="Set a pin",
        answer=PinAnswer,
        status=201,
        example={"kind": "blocker", "text": "The register does not answer", "turns": [EXAMPLE_ID]},
        problems=[*_WRITING, refusals.PinNeedsAPerson, refusals.TurnUnknown],
    ),
)
def add_pin(execution_id: PathId, body: SetPin, edge: Edge = needs(EXECUTIONS_WRITE)) -> Response:
    """Keep a constraint, decision, question, hypothesis or blocker with the turns that it comes from."""

    def work(unit: Unit) -> Reply:
        pin = set_pin(
            execution_id,
            kind=PinKind(body.kind),
            text=body.text,
            turn_ids=body.turns,
            unit=unit,
            bundle=active_bundle(unit),
        )
        return _pin_reply(pin, unit, status=201)

    return edge.create(work)


@router.patch(
    "/executions/{execution_id}/pins/{pin_id}",
    **operation(
        summary="Resolve a pin, or open it again",
        answer=PinAnswer,
        example={"resolved": True, "resolution": "The register answers again"},
        problems=[*_WRITING, NotFound],
    ),
)
def patch_pin(
    execution_id: PathId, pin_id: PathId, body: ResolvePin, edge: Edge = needs(EXECUTIONS_WRITE)
) -> Response:
    """Say how a pin was settled. It stays, with its text and its sources."""

    def work(unit: Unit) -> Reply:
        pin = resolve_pin(
            execution_id,
            pin_id,
            resolved=body.resolved,
            resolution=body.resolution,
            unit=unit,
            bundle=active_bundle(unit),
        )
        return _pin_reply(pin, unit, status=200)

    return edge.write(work)


def _pin_reply(pin: Pin, unit: Unit, *, status: int) -> Reply:
    answer = PinAnswer(
        id=pin.id,
        kind=pin.kind.value,
        text=pin.text,
        turns=list(pin.turn_ids),
        relayed=pin.relayed,
        resolved=pin.resolved,
        resolution=pin.resolution,
        at=pin.at,
        resolved_at=pin.resolved_at,
    )
    return run_reply(answer, _run(pin.execution_id, unit), status=status, refs=(pin.id,))


def _run(execution_id: str, unit: Unit) -> Execution:
    return ExecutionStore.of(unit).get(execution_id)
