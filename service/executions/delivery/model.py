"""A command on its way: the order in the outbox, and what a worker does with it outside any transaction."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, Final

from service.executions.ledger.model import Effect
from service.executions.ports import Connector, Delivery
from service.identity.unit import Unit

DELIVER_TOPIC: Final = "effect.deliver"
"""The outbox topic of orders. Its payload is `execution_id`, `operation_id` and `tries`."""


@dataclass(frozen=True, slots=True)
class Order:
    """An effect that is to be brought to its outcome. `tries` counts how often that has not worked out."""

    execution_id: str
    operation_id: str
    tries: int = 0

    @classmethod
    def of(cls, payload: Mapping[str, Any]) -> "Order":
        """Answer the order that a message holds."""
        return cls(payload["execution_id"], payload["operation_id"], payload.get("tries", 0))

    @property
    def payload(self) -> dict[str, str | int]:
        """What the message of this order holds."""
        return {"execution_id": self.execution_id, "operation_id": self.operation_id, "tries": self.tries}


@dataclass(frozen=True, slots=True)
class Send:
    """Hand the command over, soon: `attempt` is the dispatch that the record says is under way since then."""

    order: Order
    attempt: int
    connector: Connector
    delivery: Delivery
    dispatched_at: datetime


@dataclass(frozen=True, slots=True)
class Ask:
    """Ask what became of dispatch `attempt`. `connector` is `None` where it is no longer registered."""

    order: Order
    attempt: int
    connector: Connector | None


def order_delivery(effect: Effect, *, unit: Unit) -> None:
    """Have an effect that a connector carries delivered once this transaction has committed; no other."""
    if effect.connector is not None:
        unit.stage(DELIVER_TOPIC, **Order(effect.execution_id, effect.operation_id).payload)


class Outcome(StrEnum):
    """What became of an operation."""

    COMMITTED = "committed"
    ABSENT = "absent"
    UNDETERMINED = "undetermined"
    """It cannot be established: people have to look."""
