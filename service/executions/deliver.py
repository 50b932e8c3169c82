"""Delivering a command through a connector: what each of its transactions decides.

The act lies between them: `begin` commits before the command leaves, `note_sent` and `note_found` write down
what came back. Each may be repeated, run twice at once or find that the world has moved on.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final

from service.audit.model import Action
from service.audit.record import record
from service.core.cipher import TextErased
from service.core.errors import NotFound, Refusal
from service.executions.commands import check_dispatch
from service.executions.complete import complete_if_met
from service.executions.delivery.model import DELIVER_TOPIC, Ask, Order, Send
from service.executions.delivery.refusals import ConnectorChanged, ConnectorUnknown
from service.executions.delivery.rules import (
    TRIES_MAX,
    absence_counts_from,
    must_be_asked_about,
    retry_after,
    status_after_look_up,
    status_after_send,
)
from service.executions.ledger.model import Effect, EffectStatus, SettledBasis
from service.executions.ledger.rules import UNDISPATCHED
from service.executions.model import NEWER_RELEASE_WAIT, Execution, Status
from service.executions.ports import (
    Connector,
    Connectors,
    Delivery,
    Found,
    FoundAnswer,
    ReferencesOf,
    SentAnswer,
)
from service.executions.refusals import (
    ExecutionEnded,
    ReviewRequired,
    SchemaNewer,
)
from service.executions.rules import ENDED
from service.executions.sealed import stable_json
from service.executions.store import ExecutionStore
from service.identity.unit import Unit
from service.policies.model import Bundle

_GAVE_UP: Final = "gave_up"


def begin(order: Order, *, unit: Unit, bundle: Bundle, connectors: Connectors) -> Send | Ask | None:
    """Decide what to do about an order now, and write the dispatch down before it happens.

    `None`: there is nothing to do, because the effect is settled, gone, or may not happen any more; then it
    has failed, with the code of the refusal.
    """
    try:
        found = _find(order, unit)
    except SchemaNewer:
        # A process of the newer release takes it.
        unit.stage_at(DELIVER_TOPIC, unit.now + NEWER_RELEASE_WAIT, **order.payload)
        return None
    if found is None or found[2].connector is None:
        return None
    store, execution, effect = found
    connector = connectors.find(unit.tenant_id, found[2].connector)
    # What is known not to have happened stays so in a run that has ended.
    is_over = effect.status is EffectStatus.ABSENT and execution.status in ENDED
    if must_be_asked_about(effect) and not is_over:
        return Ask(order, effect.attempts, connector)
    if is_over or effect.status not in UNDISPATCHED:
        return None
    refusal = _refusal(effect, execution, connector, unit=unit, bundle=bundle)
    if connector is not None and refusal is None:
        return _dispatch(order, effect, connector, store, unit)
    code = (refusal or ConnectorUnknown()).code
    _keep(replace(effect, status=EffectStatus.FAILED, failure=code, updated_at=unit.now), store, unit)
    return None


def note_sent(
    send: Send, answer: SentAnswer, *, unit: Unit, bundle: Bundle, references: ReferencesOf
) -> Ask | None:
    """Write down what a dispatch led to, and answer what to ask where that is not clear."""
    found = _find(send.order, unit)
    if found is None:
        return None
    store, execution, effect = found
    status = status_after_send(effect, answer.outcome, attempt=send.attempt)
    if status is None:
        return None
    if status is EffectStatus.UNKNOWN:
        _keep(replace(effect, status=status, failure=answer.failure, updated_at=unit.now), store, unit)
        return Ask(send.order, send.attempt, send.connector)
    _keep(_on_its_word(effect, status, answer.downstream_ref, answer.failure, unit), store, unit)
    complete_if_met(store, execution, unit=unit, bundle=bundle, references=references)
    return None


def note_found(
    ask: Ask, answer: FoundAnswer, *, unit: Unit, bundle: Bundle, references: ReferencesOf
) -> None:
    """Write down what a look-up led to; order the next try where the outcome is still open.

    What is not there is dispatched again; after `TRIES_MAX` tries that settled nothing people are asked.
    """
    found = _find(ask.order, unit)
    if found is None:
        return
    store, execution, effect = found
    is_last = ask.order.tries + 1 >= TRIES_MAX
    if is_last and answer.outcome is not Found.COMMITTED:
        if _is_open(effect, ask):
            _escalate(effect, store, unit)
    elif _settle_found(effect, ask, answer, store, unit):
        complete_if_met(store, execution, unit=unit, bundle=bundle, references=references)
    elif _is_open(effect, ask):
        counts_from = _absence_counts_from(effect, ask.connector)
        is_early = answer.outcome is Found.ABSENT
        _order_again(
            ask.order, unit, counts_from if is_early else unit.now + retry_after(ask.order.tries + 1)
        )


def note_all_found(answers: Sequence[tuple[Ask, FoundAnswer]], *, unit: Unit) -> None:
    """Write down what look-ups outside the outbox led to: what they leave open stays with the outbox.

    The caller completes the run, if it is.
    """
    for ask, answer in answers:
        found = _find(ask.order, unit)
        if found is not None:
            store, _, effect = found
            _settle_found(effect, ask, answer, store, unit)


def give_up(order: Order, *, unit: Unit) -> None:
    """Leave an order to people when bringing it to an end has failed too often for reasons of our own.

    What was never sent, or never arrived, has failed; what may have happened is escalated.
    """
    found = _find(order, unit)
    if found is None:
        return
    store, _, effect = found
    if must_be_asked_about(effect):
        _escalate(effect, store, unit)
    elif effect.status in UNDISPATCHED:
        _keep(replace(effect, status=EffectStatus.FAILED, failure=_GAVE_UP, updated_at=unit.now), store, unit)


def _find(order: Order, unit: Unit) -> tuple[ExecutionStore, Execution, Effect] | None:
    """Answer the effect with its run, locked; `None` when it has been erased meanwhile."""
    store = ExecutionStore.of(unit)
    try:
        execution = store.get(order.execution_id, lock=True)
    except NotFound:
        return None
    effect = store.ledger.find_effect(order.execution_id, order.operation_id)
    return None if effect is None else (store, execution, effect)


def _dispatch(order: Order, effect: Effect, connector: Connector, store: ExecutionStore, unit: Unit) -> Send:
    dispatched = replace(
        effect,
        status=EffectStatus.DISPATCHED,
        attempts=effect.attempts + 1,
        dispatched_at=unit.now,
        failure=None,
        settled_basis=None,
        settled_by=None,
        evidence_id=None,
        updated_at=unit.now,
    )
    _keep(dispatched, store, unit)
    delivery = Delivery(effect.execution_id, effect.operation_id, effect.kind, effect.request)
    return Send(order, dispatched.attempts, connector, delivery, dispatched_at=unit.now)


def _refusal(
    effect: Effect, execution: Execution, connector: Connector | None, *, unit: Unit, bundle: Bundle
) -> Refusal | None:
    """Answer why an effect may not be sent now, or `None`: all is read anew."""
    command = bundle.find_command(effect.kind)
    refusal: Refusal | None = None
    if execution.status in ENDED:
        refusal = ExecutionEnded(status=execution.status.value)
    elif execution.status is Status.REVIEW_REQUIRED:
        refusal = ReviewRequired()
    elif connector is None:
        refusal = ConnectorUnknown()
    elif command is not None and command.connector != effect.connector:
        refusal = ConnectorChanged()
    elif effect.request_hash != unit.cipher.keyed_hash(stable_json([effect.kind, dict(effect.request)])):
        # An erased request reads as an empty one, which must not be sent in its place.
        refusal = TextErased()
    if refusal is not None:
        return refusal
    try:
        return check_dispatch(effect, execution, unit=unit, bundle=bundle)
    except Refusal as found:
        return found


def _escalate(effect: Effect, store: ExecutionStore, unit: Unit) -> None:
    escalated = replace(effect, status=EffectStatus.ESCALATED, failure=_GAVE_UP, updated_at=unit.now)
    _keep(escalated, store, unit)


def _on_its_word(
    effect: Effect, status: EffectStatus, downstream_ref: str | None, failure: str | None, unit: Unit
) -> Effect:
    return replace(
        effect,
        status=status,
        downstream_ref=downstream_ref or effect.downstream_ref,
        failure=failure,
        settled_basis=SettledBasis.CONNECTOR,
        settled_by=f"connector:{effect.connector}",
        updated_at=unit.now,
    )


def _absence_counts_from(effect: Effect, connector: Connector | None) -> datetime:
    nothing = timedelta(0)
    return absence_counts_from(
        effect,
        timeout=nothing if connector is None else connector.timeout,
        absent_after=nothing if connector is None else connector.absent_after,
    )


def _settle_found(effect: Effect, ask: Ask, answer: FoundAnswer, store: ExecutionStore, unit: Unit) -> bool:
    """Write down what a look-up settles, and say whether it settled anything."""
    status = status_after_look_up(
        effect,
        answer.outcome,
        attempt=ask.attempt,
        absence_counts=_absence_counts_from(effect, ask.connector) <= unit.now,
    )
    if status is None:
        return False
    _keep(_on_its_word(effect, status, answer.downstream_ref, None, unit), store, unit)
    if status is EffectStatus.ABSENT:
        _order_again(ask.order, unit, unit.now)
    return True


def _is_open(effect: Effect, ask: Ask) -> bool:
    return effect.attempts == ask.attempt and must_be_asked_about(effect)


def _order_again(order: Order, unit: Unit, due_at: datetime) -> None:
    unit.stage_at(DELIVER_TOPIC, due_at, **replace(order, tries=order.tries + 1).payload)


def _keep(effect: Effect, store: ExecutionStore, unit: Unit) -> None:
    store.ledger.settle_effect(effect)
    record(
        unit,
        Action.EFFECT_SETTLED,
        kind="execution",
        ref=effect.execution_id,
        operation=effect.operation_id,
        status=effect.status.value,
        connector=effect.connector,
        attempt=effect.attempts,
        failure=effect.failure,
    )
