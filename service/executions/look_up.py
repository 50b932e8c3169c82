"""Asking downstreams, in place of the outbox, what became of a run's open effects.

In three steps, so that no transaction waits for the outside: what is to be asked, asking, and what that
settles.
"""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Final

from service.executions.deliver import note_all_found
from service.executions.delivery.model import Ask, Order
from service.executions.ledger.rules import is_unsettled
from service.executions.ports import Connector, Connectors, FoundAnswer
from service.executions.store import ExecutionStore
from service.identity.unit import Unit

LOOK_UPS_MAX: Final = 32
"""So many of a run's open effects are asked about, the oldest first; the others stay with the outbox."""
_AT_ONCE: Final = 8


@dataclass(slots=True)
class LookUps:
    """One run's open effects on their way through the three steps."""

    execution_id: str
    connectors: Connectors
    _asks: Sequence[tuple[Ask, Connector]] = ()
    _answers: Sequence[tuple[Ask, FoundAnswer]] = ()

    def plan(self, unit: Unit) -> None:
        """Note what is to be asked, where the run's acting user asks; of any other run nothing."""
        store = ExecutionStore.of(unit)
        execution = store.find_readable(self.execution_id)
        if execution is None or execution.acting_user != unit.caller.sub:
            return
        found = []
        for effect in store.effects(execution.id):
            if effect.connector is None or not is_unsettled(effect):
                continue
            connector = self.connectors.find(unit.tenant_id, effect.connector)
            if connector is not None:
                order = Order(effect.execution_id, effect.operation_id)
                found.append((Ask(order, effect.attempts, connector), connector))
        self._asks = found[:LOOK_UPS_MAX]

    def ask(self) -> None:
        """Ask each downstream, outside any transaction. Silence is an answer too: the effect stays open."""
        if not self._asks:
            return
        with ThreadPoolExecutor(max_workers=_AT_ONCE, thread_name_prefix="look-up") as pool:
            answers = pool.map(_ask, self._asks)
            self._answers = [(ask, answer) for (ask, _), answer in zip(self._asks, answers, strict=True)]

    def apply(self, unit: Unit) -> None:
        """Settle what the downstreams know, in the transaction that decides about the run."""
        note_all_found(self._answers, unit=unit)


def _ask(one: tuple[Ask, Connector]) -> FoundAnswer:
    ask, connector = one
    return connector.look_up(ask.order.execution_id, ask.order.operation_id)
