"""Does the time of an answer tell what another tenant holds? One tenant, alone and beside a full one."""

from pathlib import Path
from tempfile import TemporaryDirectory

import httpx

from benchmarks.corpus import read_documents, read_tasks
from benchmarks.figures import Spread, paired_ratio, timed
from benchmarks.tenancy import batches, ingest, open_tenant
from service.entry.demo.local_service import local_service

_ROUNDS = 200


def measure_isolation(documents_path: Path | None, policies_dir: Path) -> None:
    """Print the ratio of search times of a tenant beside a full one, before and after the other fills up."""
    documents = read_documents(documents_path)
    queries = [task.query for task in read_tasks(None)]
    with TemporaryDirectory() as folder, local_service(Path(folder), policies_dir) as service:
        small = open_tenant(service, "small")
        large = open_tenant(service, "large")
        ingest(small, batches(documents[:20]))
        alone = _search_times(small, queries)
        ingest(large, batches(documents))
        beside = _search_times(small, queries)
    print(f"search in a small tenant, alone:               {Spread(tuple(alone)).milliseconds()}")
    print(f"the same beside a tenant with {len(documents)} documents: {Spread(tuple(beside)).milliseconds()}")
    print(f"ratio beside / alone: {paired_ratio(beside, alone).ratio()}")


def _search_times(client: httpx.Client, queries: list[str]) -> list[float]:
    times = []
    for number in range(_ROUNDS):
        body = {"project": "alpha", "query": queries[number % len(queries)], "limit": 10}
        taken, answer = timed(lambda body=body: client.post("/evidence/search", json=body))
        answer.raise_for_status()
        times.append(taken)
    return times
