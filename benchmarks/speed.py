"""Ingest and packages beside their bare parts, in turn in one process, as ratios; and the idle memory."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Thread
from time import sleep

import httpx
import structlog
import uvicorn

from benchmarks.bare_parts import bare_ingest, bare_retrieval
from benchmarks.corpus import Document, Task, read_documents, read_tasks
from benchmarks.figures import Spread, paired_ratio, timed
from benchmarks.tenancy import agent_token, batches, ingest, open_client, package_request
from service.entry.demo.local_service import LocalService, environment_of, local_service, run_command
from service.entry.http.app import create_app
from service.settings import Settings
from service.wiring import Runtime, build

_INGEST_ROUNDS = 5


def measure_speed(documents_path: Path | None, tasks_path: Path | None, policies_dir: Path) -> None:
    """Print each measured side, the ratio between them, and the memory of an idle service."""
    documents = read_documents(documents_path)
    tasks = read_tasks(tasks_path)
    _measure_ingest(documents, policies_dir)
    _measure_packages(documents, tasks, policies_dir)
    _measure_idle_memory(policies_dir)


def _measure_ingest(documents: list[Document], policies_dir: Path) -> None:
    bodies = list(batches(documents))
    served: list[float] = []
    bare: list[float] = []
    for _ in range(_INGEST_ROUNDS + 1):
        with _served(policies_dir) as place:
            served.append(timed(lambda place=place: ingest(place.client, bodies))[0])
            bare.append(bare_ingest(place.runtime, documents))
    # The first round loads vocabularies and weights on either side.
    served, bare = served[1:], bare[1:]
    print(f"ingest of {len(documents)} documents, whole service over HTTP: {_seconds(served)}")
    print(f"bare parts (cut + count + embed + term weights + index):       {_seconds(bare)}")
    print(f"ratio ingest / parts: {paired_ratio(served, bare).ratio()} (aim: at most 2)")


def _measure_packages(documents: list[Document], tasks: list[Task], policies_dir: Path) -> None:
    whole: list[float] = []
    bare: list[float] = []
    with _served(policies_dir) as place:
        ingest(place.client, batches(documents))
        for task in [*tasks[:5], *tasks, *tasks]:
            body = package_request(task.query)
            taken, answer = timed(lambda body=body: place.client.post("/context-packages", json=body))
            answer.raise_for_status()
            whole.append(taken)
            bare.append(bare_retrieval(place.runtime, body["query"]))
    whole, bare = whole[5:], bare[5:]
    print(f"package over {len(documents)} documents, over HTTP: {Spread(tuple(whole)).milliseconds()}")
    print(f"bare parts (index query + SQL read of the rows): {Spread(tuple(bare)).milliseconds()}")
    print(f"ratio package / parts: {paired_ratio(whole, bare).ratio()} (aim: at most 4)")


def _measure_idle_memory(policies_dir: Path) -> None:
    with TemporaryDirectory() as folder, local_service(Path(folder), policies_dir) as service:
        sleep(2)
        status = Path(f"/proc/{service.process.pid}/status").read_text()
    kilobytes = next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS:"))
    print(f"memory of the idle service: {kilobytes / 1024:.0f} MB (aim: under 400)")


@dataclass(frozen=True, slots=True)
class _Place:
    runtime: Runtime
    client: httpx.Client


@contextmanager
def _served(policies_dir: Path) -> Iterator[_Place]:
    """A runtime in this process behind a real HTTP server on a thread, so that both sides share it."""
    # One line for each request would stand between the figures, and be part of what is measured.
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.WARNING))
    with TemporaryDirectory() as name:
        folder = Path(name)
        environment = environment_of(folder, policies_dir)
        run_command(environment, "tenants", "create", "speed")
        run_command(
            environment, "projects", "create", "--tenant", "speed", "--name", "alpha", "--member", "user-1"
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
            token = agent_token(LocalService("", None, environment), "speed")
            with open_client(f"http://127.0.0.1:{port}", token) as client:
                yield _Place(runtime, client)
        finally:
            server.should_exit = True
            thread.join()
            runtime.close()


def _seconds(values: list[float]) -> str:
    spread = Spread(tuple(values))
    return f"median {spread.median:.2f} s (min {min(values):.2f}, max {max(values):.2f}, n = {len(values)})"
