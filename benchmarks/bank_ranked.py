"""The bank's documents ranked by the second stage: are the needed ones whole in an evidence section of 4,096?

Each task's figure is of weights that were fitted on other tasks.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np

from benchmarks.bank import documents_in
from benchmarks.corpus import Document, Task, read_documents, read_tasks
from benchmarks.figures import interval
from benchmarks.fitting import Example, fit_weights
from benchmarks.served import Place, served
from benchmarks.tenancy import batches, ingest, package_request
from service.retrieval.rerank.documents import DOCUMENTS_MAX, document_features, units_of
from service.retrieval.rerank.linear import LinearReranker
from service.retrieval.rerank.model import Piece, PieceKind, Weights
from service.retrieval.rerank.models import Models
from service.retrieval.rerank.ports import Reranker

_FOLDS: Final = 7
_SEED: Final = 18


@dataclass(frozen=True, slots=True)
class Bank:
    """A service that was told all documents, and which one each item's id is."""

    place: Place
    document_of: Mapping[str, Document]
    tasks: Sequence[Task]
    models: Models


@contextmanager
def told_bank(documents_path: Path, tasks_path: Path, policies_dir: Path) -> Iterator[Bank]:
    """Start a service in this process and tell it the documents."""
    documents = read_documents(documents_path)
    with served(policies_dir) as place:
        ids = ingest(place.client, batches(documents))
        built_in = place.runtime.retriever.reranker
        assert isinstance(built_in, LinearReranker), "the weights are those of the built-in model"
        tasks = [task for task in read_tasks(tasks_path) if task.needed]
        yield Bank(place, dict(zip(ids, documents, strict=True)), tasks, built_in.models)


def measure_bank_ranked(documents_path: Path, tasks_path: Path, policies_dir: Path) -> None:
    """Print the share of needed documents that packages show and hold whole, plain and weighted."""
    with told_bank(documents_path, tasks_path, policies_dir) as bank:
        print(
            f"{len(bank.tasks)} tasks, {len(bank.document_of)} documents, 4,096 rendered tokens of evidence"
        )
        everything = range(len(bank.tasks))
        _print("first stage alone", _shares(bank, everything, None))
        examples = record_bank(bank)
        order = np.random.default_rng(_SEED).permutation(len(examples))
        shares: list[tuple[float, float]] = []
        for fold in range(_FOLDS):
            held_out = set(order[fold::_FOLDS].tolist())
            others = [one for place, one in enumerate(examples) if place not in held_out]
            weights: Weights = {PieceKind.DOCUMENT: fit_weights(others, tuple(others[0].features))}
            reranker = LinearReranker(bank.models.sparse, bank.models.vectors, weights)
            shares += _shares(bank, sorted(held_out), reranker)
        _print(f"second stage, fitted on the other tasks ({_FOLDS} parts)", shares)


def record_bank(bank: Bank) -> Sequence[Example]:
    """Answer the features of the documents that the service's own search finds for each task."""
    recorder = _Recorder()
    examples = []
    with _ranking(bank, recorder):
        for task in bank.tasks:
            body = {"project": "alpha", "query": task.query[:4_000], "limit": 10}
            bank.place.client.post("/evidence/search", json=body).raise_for_status()
            names, units = units_of(recorder.pieces)
            features = document_features(recorder.query, units[:DOCUMENTS_MAX], bank.models)
            answers = [
                place
                for place, name in enumerate(names[:DOCUMENTS_MAX])
                if bank.document_of[name.partition("/")[0]].id in task.needed
            ]
            examples.append(Example(features, answers))
    return examples


@dataclass(slots=True)
class _Recorder:
    """Implements `Reranker`: keeps what the last search found, and leaves the order as it was."""

    query: str = ""
    pieces: Sequence[Piece] = ()
    name: str = "recorder"

    def rank(self, query: str, pieces: Sequence[Piece]) -> Sequence[float]:
        """Answer the first stage's scores."""
        self.query, self.pieces = query, pieces
        return [piece.fused for piece in pieces]


@contextmanager
def _ranking(bank: Bank, reranker: Reranker | None) -> Iterator[None]:
    retriever = bank.place.runtime.retriever
    before, retriever.reranker = retriever.reranker, reranker
    try:
        yield
    finally:
        retriever.reranker = before


def _shares(bank: Bank, places: Sequence[int], reranker: Reranker | None) -> list[tuple[float, float]]:
    """Answer for each task which share of the needed documents its package shows, and holds whole."""
    shares = []
    with _ranking(bank, reranker):
        for task in (bank.tasks[place] for place in places):
            answer = bank.place.client.post("/context-packages", json=package_request(task.query))
            answer.raise_for_status()
            seen, whole = documents_in(answer.json(), bank.document_of)
            size = len(task.needed)
            shares.append((len(seen & task.needed) / size, len(whole & task.needed) / size))
    return shares


def _print(title: str, shares: Sequence[tuple[float, float]]) -> None:
    shown, whole = ([one[part] for one in shares] for part in (0, 1))
    print(f"{title}: held whole {interval(whole)}; shown by a passage or card {interval(shown)}")
