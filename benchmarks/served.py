"""A runtime in this process behind a real HTTP server, with a tenant, its projects and an agent's client."""

import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Thread
from time import sleep

import httpx
import structlog
import uvicorn

from benchmarks.tenancy import agent_token, open_client
from service.entry.demo.local_service import LocalService, environment_of, run_command
from service.entry.http.app import create_app
from service.settings import Settings
from service.wiring import Runtime, build


@dataclass(frozen=True, slots=True)
class Place:
    """A runtime, and clients that speak with it over HTTP."""

    runtime: Runtime
    clients: Mapping[str, httpx.Client]
    """An agent's client for each project."""

    @property
    def client(self) -> httpx.Client:
        """The client of the first project."""
        return next(iter(self.clients.values()))


@contextmanager
def served(policies_dir: Path, projects: Sequence[str] = ("alpha",)) -> Iterator[Place]:
    """A runtime in this process behind a real HTTP server on a thread, so that both sides share it."""
    # One line for each request would stand between the figures, and be part of what is measured.
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.WARNING))
    with TemporaryDirectory() as place:
        folder = Path(place)
        environment = environment_of(folder, policies_dir)
        run_command(environment, "tenants", "create", "speed")
        for name in projects:
            run_command(
                environment, "projects", "create", "--tenant", "speed", "--name", name, "--member", "user-1"
            )
        runtime = build(
            Settings(data_dir=folder / "data", policies_dir=policies_dir, requests_per_minute=1_000_000)
        )
        server = uvicorn.Server(
            uvicorn.Config(create_app(runtime), port=0, log_config=None, access_log=False)
        )
        thread = Thread(target=server.run)
        thread.start()
        try:
            while not server.started:
                sleep(0.01)
            port = server.servers[0].sockets[0].getsockname()[1]
            address = f"http://127.0.0.1:{port}"
            clients = {name: open_client(address, _token(environment, name)) for name in projects}
            yield Place(runtime, clients)
            for client in clients.values():
                client.close()
        finally:
            server.should_exit = True
            thread.join()
            runtime.close()


def _token(environment: Mapping[str, str], project: str) -> str:
    return agent_token(LocalService("", None, environment), "speed", project)
