"""The bank's documents and tasks: ingest all, build a package for each task, say what it holds."""

import json
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.corpus import read_documents, read_tasks
from benchmarks.figures import Spread, timed
from benchmarks.tenancy import batches, ingest, open_tenant, package_request
from service.entry.demo.local_service import local_service


def measure_bank(documents_path: Path | None, tasks_path: Path | None, policies_dir: Path) -> None:
    """Print ingest time, package time, and the share of needed documents that the packages hold."""
    documents = read_documents(documents_path)
    tasks = read_tasks(tasks_path)
    with TemporaryDirectory() as folder, local_service(Path(folder), policies_dir) as service:
        client = open_tenant(service, "bank")
        seconds, ids = timed(lambda: ingest(client, batches(documents)))
        print(f"ingest: {len(ids)} documents in {seconds:.2f} s over HTTP ({len(ids) / seconds:.0f}/s)")
        document_of = {evidence_id: document.id for evidence_id, document in zip(ids, documents, strict=True)}
        times: list[float] = []
        touched: list[float] = []
        whole: list[float] = []
        for task in tasks:
            taken, answer = timed(
                lambda task=task: client.post("/context-packages", json=package_request(task.query))
            )
            answer.raise_for_status()
            times.append(taken)
            if task.needed:
                seen, complete = _documents_in(answer.json(), document_of)
                touched.append(len(seen & task.needed) / len(task.needed))
                whole.append(len(complete & task.needed) / len(task.needed))
        print(f"package: {Spread(tuple(times)).milliseconds()}, {len(documents)} documents")
        if touched:
            print(
                f"needed documents touched by a passage: {_mean(touched):.3f}; held whole: {_mean(whole):.3f}"
            )


def _documents_in(package: dict, document_of: dict[str, str]) -> tuple[set[str], set[str]]:
    seen: set[str] = set()
    characters: dict[str, int] = {}
    for section in package["sections"]:
        for item in section["items"]:
            if item["kind"] == "evidence" and item["id"] in document_of:
                seen.add(document_of[item["id"]])
                characters[item["id"]] = characters.get(item["id"], 0) + len(item["text"])
    missing = {omission["id"] for omission in package["omissions"] if omission["kind"] == "evidence"}
    complete = {document_of[evidence_id] for evidence_id in characters if evidence_id not in missing}
    return seen, complete


def _mean(values: list[float]) -> float:
    return sum(values) / len(values)


def describe(package: dict) -> str:
    """Answer a package's choices as JSON, for a look at one task."""
    return json.dumps({key: package[key] for key in ("used_tokens", "omissions")}, indent=2)
