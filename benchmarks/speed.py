"""Ingest and packages beside their bare parts, in turn in one process, as ratios; and the idle memory."""

from pathlib import Path
from tempfile import TemporaryDirectory
from time import sleep

from benchmarks.bare_parts import bare_ingest, bare_retrieval
from benchmarks.corpus import Document, Task, read_documents, read_tasks
from benchmarks.figures import Spread, paired_ratio, timed
from benchmarks.served import served
from benchmarks.tenancy import batches, ingest, package_request
from service.entry.demo.local_service import local_service

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
    over_http: list[float] = []
    bare: list[float] = []
    for _ in range(_INGEST_ROUNDS + 1):
        with served(policies_dir) as place:
            over_http.append(timed(lambda place=place: ingest(place.client, bodies))[0])
            bare.append(bare_ingest(place.runtime, documents))
    # The first round loads vocabularies and weights on either side.
    over_http, bare = over_http[1:], bare[1:]
    print(f"ingest of {len(documents)} documents, whole service over HTTP: {_seconds(over_http)}")
    print(f"bare parts (cut + count + embed + term weights + index):       {_seconds(bare)}")
    print(f"ratio ingest / parts: {paired_ratio(over_http, bare).ratio()} (aim: at most 2)")


def _measure_packages(documents: list[Document], tasks: list[Task], policies_dir: Path) -> None:
    whole: list[float] = []
    bare: list[float] = []
    with served(policies_dir) as place:
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


def _seconds(values: list[float]) -> str:
    spread = Spread(tuple(values))
    return f"median {spread.median:.2f} s (min {min(values):.2f}, max {max(values):.2f}, n = {len(values)})"
