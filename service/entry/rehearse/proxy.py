"""The proxy between the agent and the service: passes calls on, and lets the switch see each one."""

import http.client
from dataclasses import replace
from functools import partial
from typing import Final
from urllib.parse import urlsplit

from service.entry.rehearse.loopback import Asked, Told
from service.entry.rehearse.model import Channel, Fault
from service.entry.rehearse.switch import Answer, Switch

_CALL_SECONDS_MAX: Final = 300
_HOP_BY_HOP: Final = frozenset(
    {"connection", "keep-alive", "proxy-authenticate", "proxy-authorization", "proxy-connection", "te",
     "trailer", "transfer-encoding", "upgrade", "content-length", "expect"}
)  # fmt: skip
_SERVICE_FAILED: Final = 500
_BUSY: Final = 503
_UNREACHABLE: Final = 502


class Proxy:
    """Passes calls on to one address and to no other, whatever they name as their host."""

    def __init__(self, address: str, switch: Switch) -> None:
        parts = urlsplit(address)
        assert parts.hostname is not None
        assert parts.port is not None
        self._host, self._port = parts.hostname, parts.port
        self._switch = switch

    def answer(self, asked: Asked) -> Told:
        """Pass a call on and answer what came back. Raises `Cut` where the agent dies of it."""
        ticket = self._switch.arrive(Channel.SERVICE, asked.method, asked.path, asked.body)
        try:
            told = self._pass_on(asked)
        except (OSError, http.client.HTTPException) as failure:
            self._switch.blame(Fault("service_unreachable", f"{asked.method}: {type(failure).__name__}"))
            return Told(_UNREACHABLE)
        if told.status >= _SERVICE_FAILED and told.status != _BUSY:
            self._switch.blame(Fault("service_failed", f"{asked.method} answered {told.status}"))
        self._switch.settle(ticket, asked.body, Answer(told.status, told.body, _is_replay(told)))
        return replace(told, delivered=partial(self._switch.deliver, ticket))

    def _pass_on(self, asked: Asked) -> Told:
        connection = http.client.HTTPConnection(self._host, self._port, timeout=_CALL_SECONDS_MAX)
        try:
            connection.putrequest(asked.method, asked.path, skip_host=True, skip_accept_encoding=True)
            for name, value in asked.headers:
                if name.lower() not in _HOP_BY_HOP:
                    connection.putheader(name, value)
            connection.putheader("Content-Length", str(len(asked.body)))
            connection.putheader("Connection", "close")
            connection.endheaders(asked.body)
            received = connection.getresponse()
            headers = tuple(
                (name, value) for name, value in received.getheaders() if name.lower() not in _HOP_BY_HOP
            )
            return Told(received.status, received.read(), headers)
        finally:
            connection.close()


def _is_replay(told: Told) -> bool:
    return any(name.lower() == "idempotent-replayed" for name, _ in told.headers)
