"""The downstream: a recording order service that acts on what it is sent, as often as it is sent."""

import json
import threading
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any, Final

from service.entry.rehearse.acts import content_of_order, short_hash
from service.entry.rehearse.loopback import Asked, Told
from service.entry.rehearse.manifest import DownstreamRule
from service.entry.rehearse.model import Channel, Order
from service.entry.rehearse.switch import Answer, Switch

ORDERS_MAX: Final = 10_000
_JSON: Final = (("Content-Type", "application/json"),)


class Downstream:
    """Carries out orders and remembers them. `POST /orders` acts, `GET /orders/{operation_id}` looks one up.

    The operation id is the header `Idempotency-Key`, or `operation_id` in the body. Any word may stand for
    `orders`. It outlives the agent's processes.
    """

    def __init__(self, rule: DownstreamRule, switch: Switch) -> None:
        self._rule = rule
        self._switch = switch
        self._lock = threading.Lock()
        self._entries: list[dict[str, Any]] = []

    @property
    def orders(self) -> tuple[Order, ...]:
        """Everything that was carried out, in order."""
        with self._lock:
            return tuple(Order(entry["operation_id"], entry["content"]) for entry in self._entries)

    def record(self) -> list[Mapping[str, Any]]:
        """Answer what was carried out, for graders."""
        with self._lock:
            return [{name: entry[name] for name in entry if name != "content"} for entry in self._entries]

    def answer(self, asked: Asked) -> Told:
        """Answer one request; raises `Cut` where the agent dies before or after it."""
        ticket = self._switch.arrive(Channel.DOWNSTREAM, asked.method, asked.path, asked.body)
        told = self._act(asked) if asked.method == "POST" else self._look_up(asked)
        self._switch.settle(ticket, asked.body, Answer(told.status, told.body))
        return replace(told, delivered=partial(self._switch.deliver, ticket))

    def _act(self, asked: Asked) -> Told:
        try:
            body = json.loads(asked.body)
        except (ValueError, RecursionError):
            return Told(400)
        if not isinstance(body, dict):
            return Told(400)
        operation_id = asked.header("idempotency-key") or body.get("operation_id")
        kind = asked.path.strip("/").partition("/")[0]
        with self._lock:
            first = self._find(kind, operation_id)
            if first is not None and self._rule.repeats == "kept":
                return _told(200, first)
            if len(self._entries) >= ORDERS_MAX:
                return Told(507)
            entry = {
                "kind": kind,
                "operation_id": None if operation_id is None else str(operation_id),
                "reference": f"{kind}-{len(self._entries) + 1:04d}",
                "request": content_of_order(body),
                "content": f"{kind} {short_hash(content_of_order(body))}",
            }
            self._entries.append(entry)
            return _told(201, entry)

    def _look_up(self, asked: Asked) -> Told:
        bare = asked.path.partition("?")[0]
        if (document := self._rule.documents.get(bare)) is not None:
            return Told(200, document.encode(), (("Content-Type", "text/plain; charset=utf-8"),))
        kind, _, operation_id = bare.strip("/").partition("/")
        with self._lock:
            entry = self._find(kind, operation_id) if operation_id else None
        return Told(404) if entry is None else _told(200, entry)

    def _find(self, kind: str, operation_id: object) -> dict[str, Any] | None:
        if operation_id is None:
            return None
        wanted = (kind, str(operation_id))
        return next((one for one in self._entries if (one["kind"], one["operation_id"]) == wanted), None)


def _told(status: int, entry: Mapping[str, Any]) -> Told:
    shown = {name: entry[name] for name in ("operation_id", "reference", "request")}
    return Told(status, json.dumps(shown).encode(), _JSON)
