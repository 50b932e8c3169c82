"""The bank's documents and tasks: ingest all, build a package for each task, say what it holds."""

from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.corpus import Document, read_documents, read_tasks
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
        document_of = dict(zip(ids, documents, strict=True))
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
                seen, complete = documents_in(answer.json(), document_of)
                touched.append(len(seen & task.needed) / len(task.needed))
                whole.append(len(complete & task.needed) / len(task.needed))
        print(f"package: {Spread(tuple(times)).milliseconds()}, {len(documents)} documents")
        if touched:
            print(
                f"needed documents shown by a passage or card: {_mean(touched):.3f};"
                f" held whole: {_mean(whole):.3f}"
            )


def documents_in(
    package: Mapping[str, Any], document_of: Mapping[str, Document]
) -> tuple[set[str], set[str]]:
    """Answer which documents a passage or card of is shown, and which are shown from end to end.

    Counted by the spans that are there. What is not among the omissions need not be in the package: a chunk
    beyond the retrieval depth is in neither.
    """
    seen: set[str] = set()
    covered: dict[str, set[int]] = {}
    for section in package["sections"]:
        for item in section["items"]:
            document = document_of.get(item["id"]) if item["kind"] == "evidence" else None
            if document is None:
                continue
            seen.add(document.id)
            if not item["card"] and item["truncated"] is None:
                span = item["span"]
                covered.setdefault(document.id, set()).update(range(span["start"], span["end"]))
    # Line ends at the edges of a chunk are left out of packages: they say nothing.
    words = {
        document.id: {place for place, character in enumerate(document.text) if not character.isspace()}
        for document in document_of.values()
        if document.id in covered
    }
    return seen, {name for name, places in covered.items() if words[name] <= places}


def _mean(values: list[float]) -> float:
    return sum(values) / len(values)
