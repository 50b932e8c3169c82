"""Long runs: what a call costs late, and what the record weighs, beside LangGraph's SQLite saver."""

import random
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from benchmarks.figures import Spread, paired_ratio, timed
from benchmarks.growth_sides import Exchange, ServiceSide, Side, Took, peer_side, service_side, verbs_side

_WINDOW: Final = 20
"""Exchanges before a mark that its figures are taken from; before the first marks fewer."""
_QUESTION_BYTES: Final = 80
_BLOCK: Final = 5
"""Exchanges that one side keeps before the next one's turn: what the machine does beside hits all alike."""
_WARMING: Final = 3
_REPEATS: Final = 9
_PEERS: Final = ("LangGraph", "LangGraph, DeltaChannel (experimental)")
_OURS: Final = ("verbs in process", "service over HTTP")


@dataclass(frozen=True, slots=True)
class Case:
    """A conversation of two messages an exchange. `marks` are numbers of messages, the last one ends it."""

    reply_bytes: int
    marks: Sequence[int]


CASES: Final = (Case(600, (10, 100, 400, 1_000)), Case(8_192, (20, 100, 400)))


@dataclass
class Kept:
    """What one side took for each exchange, and what it weighed at each mark."""

    took: list[Took] = field(default_factory=list)
    sizes: dict[int, int] = field(default_factory=dict)
    resumed: dict[int, Sequence[float]] = field(default_factory=dict)
    packed: dict[int, Sequence[float]] = field(default_factory=dict)

    def until(self, mark: int) -> Sequence[Took]:
        """The exchanges of the window that ends at `mark` messages."""
        end = mark // 2
        return self.took[max(0, end - _WINDOW) : end]


def measure_growth(policies_dir: Path, peer: Path | None) -> None:
    """Print, for each case, times at the marks, ratios, weight, and the checkpoint alone early and late."""
    for case in CASES:
        with TemporaryDirectory() as name, ExitStack() as opened:
            folder = Path(name)
            sides: dict[str, Side] = {}
            if peer is not None:
                sides[_PEERS[0]] = opened.enter_context(peer_side(folder / "peer", peer))
                sides[_PEERS[1]] = opened.enter_context(peer_side(folder / "delta", peer, "--delta"))
            sides[_OURS[0]] = opened.enter_context(verbs_side(folder / "verbs", policies_dir))
            sides[_OURS[1]] = opened.enter_context(service_side(folder / "service", policies_dir))
            _report(case, *_run(case, sides))
    if peer is None:
        print("LangGraph: not measured, give --peer PYTHON (`make bench` builds its environment)")


def _run(case: Case, sides: Mapping[str, Side]) -> tuple[Mapping[str, Kept], Mapping[int, int]]:
    """Answer what each side took, in turn at every few exchanges, and the bytes given by each mark."""
    exchanges = _exchanges(case.reply_bytes)
    for side in sides.values():
        side.begin("warming")
        for _ in range(_WARMING):
            side.exchange(next(exchanges))
        if isinstance(side, ServiceSide):
            side.resume()
            side.package()
        side.begin("measured")
    kept = {name: Kept() for name in sides}
    before = {name: side.size() for name, side in sides.items()}
    given, given_at = 0, {}
    for messages in range(2 * _BLOCK, case.marks[-1] + 1, 2 * _BLOCK):
        block = list(islice(exchanges, _BLOCK))
        given += sum(exchange.size for exchange in block)
        for name, side in sides.items():
            kept[name].took += map(side.exchange, block)
        if messages in case.marks:
            given_at[messages] = given
            for name, side in sides.items():
                size = side.size()
                kept[name].sizes[messages] = size - before[name]
                if isinstance(side, ServiceSide):
                    kept[name].resumed[messages] = [timed(side.resume)[0] for _ in range(_REPEATS)]
                    kept[name].packed[messages] = [timed(side.package)[0] for _ in range(_REPEATS)]
                    # Kept packages are no part of the conversation.
                    before[name] += side.size() - size
    return kept, given_at


def _report(case: Case, kept: Mapping[str, Kept], given_at: Mapping[int, int]) -> None:
    print(
        f"\nA conversation with replies of {case.reply_bytes} bytes; an exchange is two messages and a state,"
    )
    print("durable at three points. Milliseconds an exchange, median and p95 of the last 20 before the mark:")
    _row("messages", case.marks)
    for name, one in kept.items():
        _row(name, [_times([took.whole for took in one.until(mark)]) for mark in case.marks])
    print("The peer's time over ours, exchange by exchange, median (min to max):")
    _ratios(case, kept, alone=False)
    print("Its time over one checkpoint of ours, which moves the run and adds no message:")
    _ratios(case, kept, alone=True)
    print("One checkpoint alone, milliseconds, and the last window over the first:")
    for name in _OURS:
        alone = [[took.checkpoint for took in kept[name].until(mark)] for mark in case.marks]
        growth = Spread(tuple(alone[-1])).median / Spread(tuple(alone[0])).median
        _row(name, [*map(_times, alone), f"x {growth:.2f}"])
    served = kept[_OURS[1]]
    print("Resuming, and a package of 8,000 tokens (of the newest 70 turns), over HTTP, milliseconds:")
    _row("resume", [_times(served.resumed[mark]) for mark in case.marks])
    _row("package", [_times(served.packed[mark]) for mark in case.marks])
    print("Megabytes that the conversation added to the database, and over the bytes given:")
    _row("given", [f"{given_at[mark] / 1e6:.2f}" for mark in case.marks])
    for name, one in kept.items():
        _row(name, [_weight(one.sizes[mark], given_at[mark]) for mark in case.marks])


def _ratios(case: Case, kept: Mapping[str, Kept], *, alone: bool) -> None:
    for peer in (name for name in _PEERS if name in kept):
        for ours in _OURS:
            ratios = [_ratio(kept[peer], kept[ours], mark, alone=alone) for mark in case.marks]
            _row(f"{peer} / {ours}", ratios)


def _exchanges(reply_bytes: int) -> Iterator[Exchange]:
    chance = random.Random(7)  # noqa: S311 - made-up texts, the same at each run
    words = ["".join(chance.choices("etaoinshrdlucmfwyp", k=chance.randint(2, 9))) for _ in range(2_000)]

    def text(length: int) -> str:
        return " ".join(chance.choices(words, k=length // 3))[:length]

    while True:
        yield Exchange(text(_QUESTION_BYTES), text(reply_bytes), text(_QUESTION_BYTES))


def _times(seconds: Sequence[float]) -> str:
    spread = Spread(tuple(seconds))
    return f"{spread.median * 1e3:.1f} / {spread.percentile(0.95) * 1e3:.1f}"


def _ratio(peer: Kept, ours: Kept, mark: int, *, alone: bool) -> str:
    mine = [one.checkpoint if alone else one.whole for one in ours.until(mark)]
    ratio = paired_ratio([one.whole for one in peer.until(mark)], mine)
    return f"{ratio.median:.1f} ({min(ratio.values):.1f} to {max(ratio.values):.1f})"


def _weight(size: int, given: int) -> str:
    return f"{size / 1e6:.2f} (x {size / given:.2f})"


def _row(name: str, cells: Sequence[object]) -> None:
    print(f"  {name:<58}" + "".join(f"{cell!s:>24}" for cell in cells))
