"""Delivering commands: the acts between the transactions that `executions/deliver.py` decides.

Whatever kills the process between two of these lines, the record says enough to find out what happened.
"""

import time
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Final

import structlog

from service.context.references import RecordReferences
from service.core.failpoints import hit
from service.core.outbox import ATTEMPTS_MAX, Message
from service.executions.deliver import begin, give_up, note_found, note_sent
from service.executions.delivery.model import Ask, Order, Send
from service.executions.delivery.rules import may_be_sent
from service.executions.ports import Connectors, Found, FoundAnswer, Sent, SentAnswer
from service.jobs.system_unit import SystemUnits
from service.policies.active import active_bundle

_NOT_REGISTERED: Final = FoundAnswer(Found.UNKNOWN, failure="connector_unknown")

_NOT_SENT: Final = SentAnswer(Sent.UNKNOWN, failure="not_sent_in_time")

_log = structlog.get_logger(__name__)


class EffectDelivery:
    """Handles `effect.deliver`: brings each effect one step further, at most one dispatch at a time.

    It makes up to three calls for each message, and holds no transaction meanwhile: with the longest time-out
    that settings allow, that is as long as a worker may hold a message.
    """

    def __init__(
        self, units: SystemUnits, connectors: Connectors, *, monotonic: Callable[[], float] = time.monotonic
    ) -> None:
        self._units = units
        self._connectors = connectors
        self._monotonic = monotonic

    def __call__(self, tenant_id: str, messages: Sequence[Message]) -> None:
        """Deliver in the order of staging. What a downstream does not settle is ordered again, not raised."""
        for message in messages:
            order = Order.of(message.payload)
            try:
                self._deliver(tenant_id, order)
            except Exception:
                if message.attempts >= ATTEMPTS_MAX:
                    # The message becomes a dead letter: what it stood for must not be lost with it.
                    self._give_up(tenant_id, order)
                raise

    def _deliver(self, tenant_id: str, order: Order) -> None:
        with self._units.write(tenant_id) as unit:
            begun = self._monotonic()
            step = begin(order, unit=unit, bundle=active_bundle(unit), connectors=self._connectors)
            hit("deliver.before_dispatch_commit")
        hit("deliver.after_dispatch_commit")
        if isinstance(step, Send):
            step = self._send(tenant_id, step, begun)
        if step is not None:
            self._ask(tenant_id, step)

    def _send(self, tenant_id: str, send: Send, begun: float) -> Ask | None:
        hit("deliver.before_send")
        elapsed = timedelta(seconds=self._monotonic() - begun)
        # Nothing may stand between this question and the act.
        if may_be_sent(send.dispatched_at, self._units.clock(), elapsed):
            answer = send.connector.dispatch(send.delivery)
        else:
            answer = _NOT_SENT
        hit("deliver.after_send")
        if answer.outcome is Sent.REFUSED and send.attempt > 1:
            answer = _check_refusal(send, answer)
        with self._units.write(tenant_id) as unit:
            ask = note_sent(send, answer, unit=unit, bundle=active_bundle(unit), references=RecordReferences)
            hit("deliver.before_result_commit")
        hit("deliver.after_result_commit")
        return ask

    def _ask(self, tenant_id: str, ask: Ask) -> None:
        if ask.connector is None:
            answer = _NOT_REGISTERED
        else:
            answer = ask.connector.look_up(ask.order.execution_id, ask.order.operation_id)
        with self._units.write(tenant_id) as unit:
            note_found(ask, answer, unit=unit, bundle=active_bundle(unit), references=RecordReferences)
            hit("deliver.before_result_commit")
        hit("deliver.after_result_commit")

    def _give_up(self, tenant_id: str, order: Order) -> None:
        try:
            with self._units.write(tenant_id) as unit:
                give_up(order, unit=unit)
        except Exception as failure:  # noqa: BLE001 - the first failure is the one to be told
            _log.error("delivery_lost", failure=type(failure).__name__)


def _check_refusal(send: Send, answer: SentAnswer) -> SentAnswer:
    """Answer what a refusal of a repeated dispatch means: the one before may be what it is refused for."""
    found = send.connector.look_up(send.order.execution_id, send.order.operation_id)
    match found.outcome:
        case Found.COMMITTED:
            return SentAnswer(Sent.COMMITTED, found.downstream_ref)
        case Found.UNKNOWN:
            return SentAnswer(Sent.UNKNOWN, failure=found.failure)
    return answer
