"""What the second stage costs as a scope grows: of each search, the part that ranks what was found."""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from time import thread_time
from typing import Final

from benchmarks.figures import Spread, timed
from benchmarks.served import Place, served
from benchmarks.tenancy import ingest
from service.core.hashing import canonical_json
from service.retrieval.rerank.model import Piece
from service.retrieval.rerank.ports import Reranker

_SIZES: Final = (1_000, 10_000, 100_000)
_QUERIES: Final = 100
_BATCH_LINES: Final = 1_000
_SESSION_TURNS: Final = 25
_VOCABULARY: Final = 8_000
_SYLLABLES: Final = "ba ce di fo gu ha je ki lo mu na pe ri so tu va we xi yo zu".split()  # noqa: SIM905 - a list
_SEED: Final = 18


def measure_second_stage(policies_dir: Path) -> None:
    """Print for each size of one project how long a search takes, and the second stage in it."""
    chance = random.Random(_SEED)  # noqa: S311 - repeatable, not secret
    words = ["".join(chance.choices(_SYLLABLES, k=chance.randint(1, 4))) for _ in range(_VOCABULARY)]
    with served(policies_dir) as place:
        retriever = place.runtime.retriever
        assert retriever.reranker is not None, "there is no second stage to measure"
        watched = _Watched(retriever.reranker)
        retriever.reranker = watched
        held = 0
        for size in _SIZES:
            ingest(place.client, _bodies(chance, words, range(held, size)))
            held = size
            _search(place, chance, words)  # the first one loads vocabularies
            watched.clear()
            whole = [_search(place, chance, words) for _ in range(_QUERIES)]
            print(f"{size:,} turns in one project, {max(watched.pieces)} passages ranked at most")
            print(f"  search over HTTP:           {Spread(tuple(whole)).milliseconds()}")
            print(f"  of it the second stage:     {Spread(tuple(watched.seconds)).milliseconds()}")
            print(f"  its processor time:         {Spread(tuple(watched.work)).milliseconds()}")


@dataclass(slots=True)
class _Watched:
    """Implements `Reranker` by another one, and notes what each call of it took."""

    inner: Reranker
    seconds: list[float] = field(default_factory=list)
    work: list[float] = field(default_factory=list)
    pieces: list[int] = field(default_factory=list)

    @property
    def name(self) -> str:
        """The name of the other one."""
        return self.inner.name

    def rank(self, query: str, pieces: Sequence[Piece]) -> Sequence[float]:
        """Answer what the other one answers."""
        worked = thread_time()
        seconds, scores = timed(partial(self.inner.rank, query, pieces))
        self.work.append(thread_time() - worked)
        self.seconds.append(seconds)
        self.pieces.append(len(pieces))
        return scores

    def clear(self) -> None:
        """Forget what was noted."""
        for noted in (self.seconds, self.work, self.pieces):
            noted.clear()


def _search(place: Place, chance: random.Random, words: Sequence[str]) -> float:
    query = f"What did Ann say about {' '.join(_said(chance, words, 6))}?"
    body = {"project": "alpha", "query": query, "limit": 10}
    seconds, answer = timed(lambda: place.client.post("/evidence/search", json=body))
    answer.raise_for_status()
    return seconds


def _bodies(chance: random.Random, words: Sequence[str], numbers: range) -> Iterator[bytes]:
    for start in range(numbers.start, numbers.stop, _BATCH_LINES):
        turns = range(start, min(start + _BATCH_LINES, numbers.stop))
        yield b"".join(canonical_json(_turn(chance, words, number)) + b"\n" for number in turns)


def _turn(chance: random.Random, words: Sequence[str], number: int) -> dict[str, object]:
    speaker = "Ann" if number % 2 else "Bob"
    session, place = divmod(number, _SESSION_TURNS)
    said = " ".join(_said(chance, words, chance.randint(8, 40)))
    return {
        "project": "alpha",
        "text": f"{speaker}: {said}.",
        "source": {
            "uri": f"chat://turns/{number}",
            "kind": "conversation",
            "observed_at": "2026-11-30T10:00:00Z",
        },
        "authority": "conversation",
        "group": {"id": f"session-{session}", "title": "30 November, 2026", "sequence": place},
    }


def _said(chance: random.Random, words: Sequence[str], count: int) -> list[str]:
    """Answer words as people use them: the n-th most common one n times more rarely than the first."""
    return [words[min(_VOCABULARY - 1, int(_VOCABULARY ** chance.random()))] for _ in range(count)]
