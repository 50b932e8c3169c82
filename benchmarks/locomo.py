"""Questions about long conversations: are the turns that answer them found, and are they in the package?

Every figure is of a conversation whose questions did not take part in fitting the weights it is ranked with.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Final

from benchmarks.conversations import Conversation, Question, read_conversations
from benchmarks.figures import Spread, interval, timed
from benchmarks.fitting import Example, fit_weights
from benchmarks.served import Place, served
from benchmarks.tenancy import BATCH_LINES, ingest, package_request
from service.core.hashing import canonical_json
from service.retrieval.rerank.features import features_of
from service.retrieval.rerank.linear import LinearReranker
from service.retrieval.rerank.model import Numbers, Piece, PieceKind
from service.retrieval.rerank.models import Models
from service.retrieval.rerank.ports import Reranker

_TOP: Final = 10
_BUDGET_TOKENS: Final = 1_024
_ADVERSARIAL: Final = 5
_CATEGORIES: Final = {1: "multi-hop", 2: "temporal", 3: "open", 4: "single-hop", _ADVERSARIAL: "adversarial"}


def measure_locomo(path: Path, policies_dir: Path) -> None:
    """Print recall among the first ten and inside an evidence section of 1,024 tokens, plain and weighted."""
    with told(path, policies_dir) as site:
        print(f"{len(site.conversations)} conversations, {sum(len(one.ids) for one in site.told)} turns")
        print(_report("first stage alone", [_measured(site, one, None) for one in site.told]))
        examples = {one.conversation.name: record(site, one) for one in site.told}
        results = []
        for one in site.told:
            others = [
                each for name, found in examples.items() if name != one.conversation.name for each in found
            ]
            weights = {PieceKind.CONVERSATION: fit_weights(others, tuple(others[0].features))}
            reranker = LinearReranker(site.models.sparse, site.models.vectors, weights)
            results.append(_measured(site, one, reranker))
        print(_report("second stage, fitted on the other conversations", results))


@dataclass(frozen=True, slots=True)
class Told:
    """A conversation that the service knows, and which turn each item's id is."""

    conversation: Conversation
    ids: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Site:
    """A service that was told all conversations, each in a project of its own."""

    place: Place
    conversations: Sequence[Conversation]
    told: Sequence[Told]
    models: Models


@contextmanager
def told(path: Path, policies_dir: Path) -> Iterator[Site]:
    """Start a service in this process and tell it the conversations."""
    conversations = read_conversations(path)
    with served(policies_dir, [one.name for one in conversations]) as place:
        known = []
        for one in conversations:
            lines = [canonical_json(turn) + b"\n" for turn in one.turns.values()]
            bodies = [
                b"".join(lines[start : start + BATCH_LINES]) for start in range(0, len(lines), BATCH_LINES)
            ]
            ids = ingest(place.clients[one.name], bodies)
            known.append(Told(one, dict(zip(ids, one.turns, strict=True))))
        built_in = place.runtime.retriever.reranker
        assert isinstance(built_in, LinearReranker), "the weights are those of the built-in model"
        yield Site(place, conversations, known, built_in.models)


@dataclass(slots=True)
class _Recorder:
    """Implements `Reranker`: keeps the features of the last search, and leaves the order as it was."""

    models: Models
    pieces: Sequence[Piece] = ()
    features: Mapping[str, Numbers] = field(default_factory=dict)
    name: str = "recorder"

    def rank(self, query: str, pieces: Sequence[Piece]) -> Sequence[float]:
        """Answer the first stage's scores."""
        self.pieces, self.features = pieces, features_of(query, pieces, self.models)
        return [piece.fused for piece in pieces]


def record(site: Site, one: Told) -> Sequence[Example]:
    """Answer the features of what the service's own search finds for each question of a conversation."""
    recorder = _Recorder(site.models)
    texts = {one.conversation.turns[name]["text"]: name for name in one.conversation.turns}
    examples = []
    with _ranking(site, recorder):
        for question in one.conversation.questions:
            _search(site, one, question)
            names = [texts[piece.text] for piece in recorder.pieces]
            answers = [place for place, name in enumerate(names) if name in question.needed]
            examples.append(Example(recorder.features, answers))
    return examples


@contextmanager
def _ranking(site: Site, reranker: Reranker | None) -> Iterator[None]:
    retriever = site.place.runtime.retriever
    before, retriever.reranker = retriever.reranker, reranker
    try:
        yield
    finally:
        retriever.reranker = before


def _search(site: Site, one: Told, question: Question) -> Sequence[str]:
    body = {"project": one.conversation.name, "query": question.text, "limit": _TOP}
    answer = site.place.clients[one.conversation.name].post("/evidence/search", json=body)
    answer.raise_for_status()
    return [one.ids[item["id"]] for item in answer.json()["items"]]


@dataclass(frozen=True, slots=True)
class _Result:
    """One question: its category, what of it was found and shown, and how long the package took."""

    category: int
    found: float
    shown: float
    seconds: float


def _measured(site: Site, one: Told, reranker: Reranker | None) -> Sequence[_Result]:
    results = []
    with _ranking(site, reranker):
        for question in one.conversation.questions:
            found = question.needed & set(_search(site, one, question))
            seconds, shown = timed(partial(_shown, site, one, question))
            size = len(question.needed)
            results.append(
                _Result(question.category, len(found) / size, len(question.needed & shown) / size, seconds)
            )
    return results


def _shown(site: Site, one: Told, question: Question) -> set[str]:
    """Answer which turns stand whole in a package's evidence section."""
    sections = {"evidence": {"max": _BUDGET_TOKENS}}
    body = package_request(question.text, project=one.conversation.name, sections=sections)
    answer = site.place.clients[one.conversation.name].post("/context-packages", json=body)
    answer.raise_for_status()
    section = next(part for part in answer.json()["sections"] if part["name"] == "evidence")
    return {
        one.ids[item["id"]] for item in section["items"] if not item["card"] and item["truncated"] is None
    }


def _report(title: str, results: Sequence[Sequence[_Result]]) -> str:
    """Answer a table: each category, then categories 1 to 4 together, with 95 % intervals."""
    every = [one for conversation in results for one in conversation]
    lines = [title, f"{'questions':<14}{'n':>5}  {'recall@10':<26}in {_BUDGET_TOKENS:,} tokens"]
    groups = {name: [one for one in every if one.category == number] for number, name in _CATEGORIES.items()}
    groups["1 to 4"] = [one for one in every if one.category != _ADVERSARIAL]
    for name, chosen in groups.items():
        found, shown = ([getattr(one, part) for one in chosen] for part in ("found", "shown"))
        lines.append(f"{name:<14}{len(chosen):>5}  {interval(found):<26}{interval(shown)}")
    lines.append(f"package: {Spread(tuple(one.seconds for one in every)).milliseconds()}")
    return "\n".join(lines)
