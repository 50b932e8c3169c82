"""`python -m benchmarks`: what is measured, on which data. Data are read from the paths given, never kept."""

import argparse
from pathlib import Path
from typing import Final

from benchmarks.airline import measure_airline
from benchmarks.bank import measure_bank
from benchmarks.decisions import measure_decisions
from benchmarks.detectors import measure_detectors
from benchmarks.erasure import measure_erasure
from benchmarks.fit import fit
from benchmarks.growth import measure_growth
from benchmarks.isolation import measure_isolation
from benchmarks.locomo import measure_locomo
from benchmarks.packing import measure_packing
from benchmarks.simulate import measure_simulate
from benchmarks.speed import measure_speed

_ALL: Final = (
    "speed",
    "growth",
    "packing",
    "bank",
    "airline",
    "detectors",
    "decisions",
    "isolation",
    "erasure",
    "simulate",
)

_OF_POLICIES: Final = {
    "decisions": measure_decisions,
    "erasure": measure_erasure,
    "simulate": measure_simulate,
    "packing": measure_packing,
}
"""What needs the policies alone, or nothing."""


def main() -> None:
    """Run the benchmarks that are named (all, unless some are)."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("which", nargs="*", choices=[*_ALL, "locomo", "fit", []])
    parser.add_argument("--documents", type=Path, help="JSON Lines of id, title, content")
    parser.add_argument("--tasks", type=Path, help="JSON Lines of instructions, required_documents")
    parser.add_argument("--runs", type=Path, help="JSON Lines of messages: recorded agent runs")
    parser.add_argument("--conversations", type=Path, help="a LoCoMo file: conversations with questions")
    parser.add_argument("--data", type=Path, help="a folder with pii_dev.json and injection_dev.jsonl")
    parser.add_argument("--peer", type=Path, help="the interpreter of an environment with LangGraph")
    parser.add_argument("--policies", type=Path, default=Path("policies"))
    options = parser.parse_args()
    which = options.which or list(_ALL)
    if "speed" in which:
        measure_speed(options.documents, options.tasks, options.policies)
    if "growth" in which:
        measure_growth(options.policies, options.peer)
    if "bank" in which:
        measure_bank(options.documents, options.tasks, options.policies)
    _conversations(which, options.conversations, options.policies)
    if "detectors" in which:
        measure_detectors(options.data)
    if "isolation" in which:
        measure_isolation(options.documents, options.policies)
    for name, measure in _OF_POLICIES.items():
        if name in which:
            measure(options.policies)
    if "airline" in which:
        if options.runs is None:
            print("airline: not measured, give --runs PATH")
        else:
            measure_airline(options.runs, options.policies)


def _conversations(which: list[str], path: Path | None, policies_dir: Path) -> None:
    """Measure or fit what needs conversations, where it is named."""
    for name, run in (("locomo", measure_locomo), ("fit", fit)):
        if name in which and path is None:
            print(f"{name}: not run, give --conversations PATH")
        elif name in which and path is not None:
            run(path, policies_dir)


if __name__ == "__main__":
    main()
