"""`python -m benchmarks`: what is measured, on which data. Data are read from the paths given, never kept."""

import argparse
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from benchmarks.airline import measure_airline
from benchmarks.bank import measure_bank
from benchmarks.bank_ranked import measure_bank_ranked
from benchmarks.decisions import measure_decisions
from benchmarks.detectors import measure_detectors
from benchmarks.erasure import measure_erasure
from benchmarks.fit import fit
from benchmarks.growth import measure_growth
from benchmarks.hostile import measure_hostile
from benchmarks.isolation import measure_isolation
from benchmarks.locomo import measure_locomo
from benchmarks.packages import measure_packages
from benchmarks.packing import measure_packing
from benchmarks.second_stage import measure_second_stage
from benchmarks.simulate import measure_simulate
from benchmarks.speed import measure_speed

_ALL: Final = (
    "speed",
    "growth",
    "packages",
    "hostile",
    "packing",
    "bank",
    "airline",
    "detectors",
    "decisions",
    "isolation",
    "erasure",
    "simulate",
)

_ON_DEMAND: Final = ("locomo", "fit", "second-stage")
"""What takes long, or writes: only when it is named."""


def main() -> None:
    """Run the benchmarks that are named (all but those on demand, unless some are)."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("which", nargs="*", choices=[*_ALL, *_ON_DEMAND, []])
    parser.add_argument("--documents", type=Path, help="JSON Lines of id, title, content")
    parser.add_argument("--tasks", type=Path, help="JSON Lines of instructions, required_documents")
    parser.add_argument("--runs", type=Path, help="JSON Lines of messages: recorded agent runs")
    parser.add_argument("--conversations", type=Path, help="a LoCoMo file: conversations with questions")
    parser.add_argument("--data", type=Path, help="a folder with pii_dev.json and injection_dev.jsonl")
    parser.add_argument("--peer", type=Path, help="the interpreter of an environment with LangGraph and mem0")
    parser.add_argument("--long", action="store_true", help="packages over 100,000 pieces too: many minutes")
    parser.add_argument("--policies", type=Path, default=Path("policies"))
    options = parser.parse_args()
    measures = _measures(options)
    for name in options.which or _ALL:
        measures[name]()


def _measures(given: argparse.Namespace) -> Mapping[str, Callable[[], None]]:
    """Answer what each name runs, with the paths that were given."""
    policies = given.policies
    return {
        "speed": lambda: measure_speed(given.documents, given.tasks, policies),
        "growth": lambda: measure_growth(policies, given.peer),
        "packages": lambda: measure_packages(policies, given.peer, long=given.long),
        "hostile": lambda: measure_hostile(policies),
        "packing": lambda: measure_packing(policies),
        "bank": lambda: _bank(given),
        "airline": lambda: _where(given.runs, "--runs", measure_airline, policies),
        "detectors": lambda: measure_detectors(given.data),
        "decisions": lambda: measure_decisions(policies),
        "isolation": lambda: measure_isolation(given.documents, policies),
        "erasure": lambda: measure_erasure(policies),
        "simulate": lambda: measure_simulate(policies),
        "locomo": lambda: _where(given.conversations, "--conversations", measure_locomo, policies),
        "second-stage": lambda: measure_second_stage(policies),
        "fit": lambda: fit(given.conversations, _bank_paths(given), policies),
    }


def _bank(given: argparse.Namespace) -> None:
    measure_bank(given.documents, given.tasks, given.policies)
    paths = _bank_paths(given)
    if paths is not None:
        measure_bank_ranked(*paths, given.policies)


def _bank_paths(given: argparse.Namespace) -> tuple[Path, Path] | None:
    return None if given.documents is None or given.tasks is None else (given.documents, given.tasks)


def _where(path: Path | None, option: str, measure: Callable[[Path, Path], None], policies: Path) -> None:
    """Measure what needs a file of data, where one was given."""
    if path is None:
        print(f"{measure.__name__}: not run, give {option} PATH")
    else:
        measure(path, policies)


if __name__ == "__main__":
    main()
