"""Whole packages beside the bare searches of memory libraries, over the same items, as a tenant grows."""

import json
import os
import random
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import httpx
import numpy as np

from benchmarks.figures import Spread, paired_ratio, timed
from benchmarks.memory_sides import MemorySide, memory_side
from benchmarks.tenancy import ingest, open_tenant, package_request
from service.adapters.wordllama import WordllamaEmbedder
from service.core.hashing import canonical_json
from service.entry.demo.local_service import LocalService, local_service

_SIZES: Final = (1_000, 10_000)
_LONG_SIZE: Final = 100_000
_OTHERS: Final = 9
_OTHER_PIECES: Final = 100
_QUERIES: Final = 40
_WARMING: Final = 3
_BATCH_LINES: Final = 1_000
_SESSION_TURNS: Final = 25
_VOCABULARY: Final = 8_000
_SYLLABLES: Final = ("ba", "ce", "di", "fo", "gu", "ha", "je", "ki", "lo", "mu", "na", "pe", "ri", "so", "tu")
_SEED: Final = 18
_UNLIMITED: Final = 1_000_000
_PACKAGE: Final = "whole package over HTTP"


@dataclass
class _Growth:
    """The service and its peers, which are given the same texts and asked the same in turn."""

    client: httpx.Client
    embedder: WordllamaEmbedder
    peers: Mapping[str, MemorySide]
    folder: Path
    chance: random.Random = field(default_factory=lambda: random.Random(_SEED))  # noqa: S311 - repeatable
    words: Sequence[str] = field(init=False)
    held: int = 0

    def __post_init__(self) -> None:
        self.words = ["".join(self.chance.choices(_SYLLABLES, k=1 + at % 4)) for at in range(_VOCABULARY)]

    def text(self, least: int, most: int) -> str:
        """Say words as people use them: the n-th most common one n times more rarely than the first."""
        count = self.chance.randint(least, most)
        return " ".join(self.words[int(_VOCABULARY ** self.chance.random()) - 1] for _ in range(count))

    def add(self, owner: str, client: httpx.Client, count: int) -> float:
        """Give so many pieces to all sides; answer the seconds that the service took."""
        texts = [f"{('Ann', 'Bob')[at % 2]}: {self.text(8, 40)}." for at in range(count)]
        seconds, _ = timed(lambda: ingest(client, _bodies(texts, self.held)))
        self.held += count
        if self.peers:
            given = self.folder / "given"
            given.with_suffix(".json").write_text(json.dumps(texts))
            np.save(given.with_suffix(".npy"), np.array(self.embedder.embed(texts), dtype=np.float32))
            for peer in self.peers.values():
                peer.load(owner, given)
        return seconds

    def ask(self) -> Mapping[str, float]:
        """Ask all sides the same; answer what each took. The vector is made outside the peers' time."""
        query = f"What did Ann say about {self.text(6, 6)}?"
        seconds, answer = timed(
            lambda: self.client.post("/context-packages", json=package_request(query, max_tokens=6_000))
        )
        answer.raise_for_status()
        if "[E1" not in answer.text:
            raise RuntimeError("a package without evidence: the comparison would mean nothing")
        took = {_PACKAGE: seconds}
        for name, peer in self.peers.items():
            [vector] = self.embedder.embed([query])
            assert vector is not None
            took[name] = peer.search("whole", query, vector)
        return took


def measure_packages(policies_dir: Path, peer: Path | None, *, long: bool) -> None:
    """Print, for each size of a tenant beside nine others, times of a package and of the peers' searches."""
    settings = {"MUNIMENT_REQUESTS_PER_MINUTE": str(_UNLIMITED)}
    with TemporaryDirectory() as name, ExitStack() as opened:
        folder = Path(name)
        service = opened.enter_context(local_service(folder / "service", policies_dir, settings))
        peers = {
            side: opened.enter_context(memory_side(folder / side, peer, side))
            for side in ("mem0", "langgraph")
            if peer is not None
        }
        client = opened.enter_context(open_tenant(service, "whole"))
        growth = _Growth(client, WordllamaEmbedder(folder / "models"), peers, folder)
        _fill_others(growth, service)
        _grow(growth, (*_SIZES, _LONG_SIZE) if long else _SIZES)
    if peer is None:
        print("mem0, LangGraph: not measured, give --peer PYTHON (`make bench` builds its environment)")


def _fill_others(growth: _Growth, service: LocalService) -> None:
    for number in range(_OTHERS):
        with open_tenant(service, f"other-{number}") as client:
            growth.add(f"other-{number}", client, _OTHER_PIECES)


def _grow(growth: _Growth, sizes: Sequence[int]) -> None:
    held, p95s = 0, []
    for size in sizes:
        seconds = growth.add("whole", growth.client, size - held)
        for _ in range(_WARMING):
            growth.ask()
        asked = [growth.ask() for _ in range(_QUERIES)]
        took = {side: Spread(tuple(one[side] for one in asked)) for side in asked[0]}
        p95s.append(took[_PACKAGE].percentile(0.95))
        added, held = size - held, size
        print(f"\n{size:,} pieces in one tenant, {_OTHER_PIECES} in each of {_OTHERS} others; {_load()}")
        print(f"  ingest of the {added:,} new ones: {seconds:.1f} s, {added / seconds:.0f} a second")
        for side, spread in took.items():
            print(f"  {side:<26}{spread.milliseconds()}")
        for side in growth.peers:
            ratio = paired_ratio(took[_PACKAGE].values, took[side].values).ratio()
            aim = " (aim: under 1)" if side == "mem0" else ""
            print(f"  package / bare search of {side}: {ratio}{aim}")
    growth_of = f"p95 of a package, {sizes[-1]:,} over {sizes[0]:,} pieces"
    print(f"{growth_of}: x {p95s[-1] / p95s[0]:.2f} (aim: at most 3 at 100,000)")


def _load() -> str:
    return f"load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors"


def _bodies(texts: Sequence[str], first: int) -> Iterator[bytes]:
    for start in range(0, len(texts), _BATCH_LINES):
        part = enumerate(texts[start : start + _BATCH_LINES], first + start)
        yield b"".join(canonical_json(_line(text, number)) + b"\n" for number, text in part)


def _line(text: str, number: int) -> dict[str, object]:
    session, place = divmod(number, _SESSION_TURNS)
    return {
        "project": "alpha",
        "text": text,
        "source": {
            "uri": f"chat://turns/{number}",
            "kind": "conversation",
            "observed_at": "2026-11-30T10:00:00Z",
        },
        "authority": "conversation",
        "group": {"id": f"session-{session}", "title": "30 November, 2026", "sequence": place},
    }
