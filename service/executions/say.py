"""Recording what was said."""

from service.audit.model import Action
from service.audit.record import record
from service.core.errors import Invalid
from service.executions.conversation.model import NewTurn, Pin, Turn, TurnRole
from service.executions.hold import hold, refuse_full
from service.executions.keep import keeps_text
from service.executions.model import TURNS_MAX
from service.executions.open import agent_of
from service.executions.pin import set_pin_on
from service.executions.sealed import stable_json
from service.executions.store import ExecutionStore
from service.identity.unit import Unit
from service.policies.model import Bundle


def say(execution_id: str, new: NewTurn, *, unit: Unit, bundle: Bundle) -> tuple[Turn, Pin | None]:
    """Append a turn and, where it asks for one, a pin of its text; answer both.

    A turn of the role `user` that an agent sends is kept as relayed. Where the retention class keeps no text,
    the hash and the token count stay. Raises `PinNeedsAPerson`, and `Invalid` for what no chat
    format has.
    """
    _check_shape(new)
    tokens = unit.tokens.count(new.text)
    store = ExecutionStore.of(unit)
    execution = hold(store, execution_id, unit=unit)
    sequence = store.conversation.last_sequence(execution_id) + 1
    refuse_full(sequence - 1, TURNS_MAX)
    agent = agent_of(unit)
    turn = Turn(
        id=unit.ids(),
        execution_id=execution.id,
        sequence=sequence,
        role=new.role,
        text=new.text,
        tool_calls=new.tool_calls,
        tool_call_id=new.tool_call_id,
        tokens=tokens,
        relayed=new.role is TurnRole.USER and agent is not None,
        said_by=execution.acting_user,
        agent=agent,
        text_hash=unit.cipher.keyed_hash(stable_json([new.text, [dict(call) for call in new.tool_calls]])),
        at=unit.now,
    )
    keep_text = keeps_text(execution, bundle)
    store.conversation.add_turn(turn, person=execution.person, keep_text=keep_text)
    record(unit, Action.TURN_ADDED, kind="execution", ref=execution.id, turn=turn.id, role=turn.role.value)
    if new.pin is None:
        return turn, None
    pin = set_pin_on(execution, [turn], kind=new.pin, text=new.text, store=store, unit=unit, bundle=bundle)
    return turn, pin


def _check_shape(new: NewTurn) -> None:
    if (new.role is TurnRole.TOOL) != (new.tool_call_id is not None):
        raise Invalid("belongs to turns of the role tool, and to each of them", pointer="/tool_call_id")
    if new.tool_calls and new.role is not TurnRole.ASSISTANT:
        raise Invalid("belong to turns of the role assistant", pointer="/tool_calls")
    if not new.text and new.role is not TurnRole.TOOL and not new.tool_calls:
        raise Invalid("is empty", pointer="/text")
    if new.pin is not None and not new.text:
        raise Invalid("needs a text to hold on to", pointer="/pin")
