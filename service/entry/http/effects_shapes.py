"""Effects between their values inside and their shape on the wire."""

from service.executions.ledger.model import Effect
from service.wire.ledger import EffectAnswer


def effect_answer(effect: Effect) -> EffectAnswer:
    """Answer an effect as it stands, without its request."""
    return EffectAnswer(
        operation_id=effect.operation_id,
        kind=effect.kind,
        status=effect.status.value,
        downstream_ref=effect.downstream_ref,
        command_hash=effect.command_hash,
        approval_id=effect.approval_id,
        connector=effect.connector,
        attempts=effect.attempts,
        failure=effect.failure,
        settled_basis=None if effect.settled_basis is None else effect.settled_basis.value,
        created_at=effect.created_at,
        updated_at=effect.updated_at,
    )
