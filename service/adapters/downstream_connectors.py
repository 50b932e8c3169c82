"""Connectors over HTTP: commands go out under the operation's id, and are looked up by it."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from http import HTTPStatus
from typing import Final

import structlog

from service.adapters.downstream_http import (
    AddressUnsafe,
    Answer,
    Call,
    NoAnswer,
    ask,
    fill,
    fill_key,
    find_text,
)
from service.executions.ports import Connector, Delivery, Found, FoundAnswer, Sent, SentAnswer
from service.settings_outside import ConnectorSettings, read_headers

_REFUSALS: Final = frozenset(
    {
        HTTPStatus.BAD_REQUEST,
        HTTPStatus.UNAUTHORIZED,
        HTTPStatus.FORBIDDEN,
        HTTPStatus.NOT_FOUND,
        HTTPStatus.METHOD_NOT_ALLOWED,
        HTTPStatus.GONE,
        HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
        HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
        HTTPStatus.UNPROCESSABLE_ENTITY,
    }
)
"""They say that nothing was done. A conflict does not: the operation may be what it conflicts with."""
_NOTHING: Final = frozenset({HTTPStatus.NOT_FOUND, HTTPStatus.GONE})
_UNSAFE: Final = "address_unsafe"

_log = structlog.get_logger(__name__)

TenantName = Callable[[str], str | None]
"""Answers the name of the tenant of that id."""


class HttpConnectors:
    """The connectors of the settings; each is found by the tenants that it names and by no other."""

    def __init__(self, settings: Mapping[str, ConnectorSettings], *, tenant_name: TenantName) -> None:
        self._tenant_name = tenant_name
        self._connectors = {name: HttpConnector.of(name, one) for name, one in settings.items()}
        self._tenants = {name: frozenset(one.tenants) for name, one in settings.items()}

    def find(self, tenant_id: str, name: str) -> Connector | None:
        """Answer the tenant's connector of that name, or `None`."""
        connector = self._connectors.get(name)
        if connector is None or self._tenant_name(tenant_id) not in self._tenants[name]:
            return None
        return connector


@dataclass(frozen=True, slots=True, repr=False)
class HttpConnector:
    """One downstream. Its headers are secrets, so it has no text form that would show them."""

    name: str
    settings: ConnectorSettings
    headers: Mapping[str, str]

    @classmethod
    def of(cls, name: str, settings: ConnectorSettings) -> "HttpConnector":
        """Make a connector, reading its files of secrets. Raises `HeaderFileUnreadable`."""
        return cls(name, settings, read_headers(settings, of=f"connector {name}"))

    @property
    def timeout(self) -> timedelta:
        """How long each call may take."""
        return timedelta(seconds=self.settings.timeout_seconds)

    @property
    def absent_after(self) -> timedelta:
        """How long a request that was given up on may still arrive."""
        return timedelta(seconds=self.settings.absent_after_seconds)

    def dispatch(self, delivery: Delivery) -> SentAnswer:
        """Post the command. 2xx is committed, a clear refusal is one, anything else is unknown."""
        values = {"operation_id": delivery.operation_id, "execution_id": delivery.execution_id}
        try:
            key = fill_key(self.settings.idempotency_key, values)
        except AddressUnsafe:
            return SentAnswer(Sent.REFUSED, failure=_UNSAFE)
        command = {**values, "kind": delivery.kind, "request": dict(delivery.request)}
        call = Call(
            "POST",
            self.settings.dispatch_url,
            {**self.headers, "Content-Type": "application/json", "Idempotency-Key": key},
            json.dumps(command, ensure_ascii=False).encode(),
        )
        try:
            answer = self._ask("dispatch", call)
        except NoAnswer as failure:
            return SentAnswer(Sent.UNKNOWN, failure=failure.code)
        if HTTPStatus(200) <= answer.status < HTTPStatus.MULTIPLE_CHOICES:
            return SentAnswer(Sent.COMMITTED, self._reference(answer))
        outcome = Sent.REFUSED if answer.status in _REFUSALS else Sent.UNKNOWN
        return SentAnswer(outcome, failure=f"answered_{answer.status}")

    def look_up(self, execution_id: str, operation_id: str) -> FoundAnswer:
        """Get the operation: 200 is committed, 404 and 410 are nothing there, anything else is unknown."""
        values = {"operation_id": operation_id, "execution_id": execution_id}
        try:
            url = fill(self.settings.lookup_url, values)
        except AddressUnsafe:
            return FoundAnswer(Found.UNKNOWN, failure=_UNSAFE)
        try:
            answer = self._ask("look_up", Call("GET", url, self.headers))
        except NoAnswer as failure:
            return FoundAnswer(Found.UNKNOWN, failure=failure.code)
        if answer.status == HTTPStatus.OK:
            return FoundAnswer(Found.COMMITTED, self._reference(answer))
        if answer.status in _NOTHING:
            return FoundAnswer(Found.ABSENT)
        return FoundAnswer(Found.UNKNOWN, failure=f"answered_{answer.status}")

    def _ask(self, what: str, call: Call) -> Answer:
        try:
            answer = ask(call, timeout_seconds=self.settings.timeout_seconds)
        except NoAnswer as failure:
            _log.warning("downstream_silent", connector=self.name, call=what, failure=failure.code)
            raise
        if answer.status >= HTTPStatus.MULTIPLE_CHOICES and answer.status not in _NOTHING:
            _log.warning("downstream_answered", connector=self.name, call=what, status=answer.status)
        return answer

    def _reference(self, answer: Answer) -> str | None:
        return find_text(answer.body, self.settings.reference_pointer)
