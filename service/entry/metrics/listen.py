"""Serving the numbers at `/metrics`, on a port of their own and without a credential."""

from dataclasses import dataclass
from threading import Thread
from wsgiref.simple_server import WSGIServer

from prometheus_client import CollectorRegistry, start_http_server

from service.entry.metrics.requests import RequestMetrics
from service.entry.metrics.waiting import WaitingCollector
from service.governance.backlog import BacklogReader
from service.identity.directory import TenantDirectory
from service.wiring import Runtime


@dataclass(frozen=True, slots=True)
class Metrics:
    """The process's registry, and what tells it of requests."""

    registry: CollectorRegistry
    requests: RequestMetrics


@dataclass(frozen=True, slots=True)
class Listening:
    """A port on which the numbers can be had."""

    port: int
    _server: WSGIServer
    _thread: Thread

    def close(self) -> None:
        """Answer no more and give the port back."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def build_metrics(runtime: Runtime) -> Metrics:
    """Answer the metrics of a process that serves with this runtime."""
    registry = CollectorRegistry()
    requests = RequestMetrics(registry)
    reader = BacklogReader(runtime.database, TenantDirectory(runtime.database).list_ids, runtime.clock)
    registry.register(WaitingCollector(reader, runtime.clock))
    return Metrics(registry, requests)


def listen(metrics: Metrics, *, host: str, port: int) -> Listening:
    """Serve the metrics until closed; port 0 picks one. Raises `OSError` when the address is taken."""
    server, thread = start_http_server(port, addr=host, registry=metrics.registry)
    return Listening(server.server_port, server, thread)
