"""The table of the recovery matrix: one line for each boundary, on the terminal and in `build/recovery`."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any, Final

import pytest

PROPERTY: Final = "recovery"
FOLDER: Final = Path(__file__).parents[1] / "build" / "recovery"
Note = Callable[[str, object], None]
"""What pytest's `record_property` is: it brings a case to the table."""
COLUMNS: Final = (
    "boundary",
    "cases",
    "recovered",
    "duplicate effects",
    "false completions",
    "lost acknowledged writes",
    "cross-tenant evidence",
    "acts under stale authority",
    "seconds to resume (median / most)",
    "seconds to completion",
)
_COUNTED: Final = (
    "duplicate_effects",
    "false_completions",
    "lost_writes",
    "foreign_evidence",
    "stale_acts",
)


def note_case(
    record_property: Note, boundary: str, verdict: Mapping[str, Any], faults: Sequence[str]
) -> None:
    """Bring a case to the table: what it was about, all that was seen of it, and what was wrong."""
    record_property(PROPERTY, {"boundary": boundary, "faults": list(faults), "verdict": dict(verdict)})


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print the table of all cases that ran, and write it down as Markdown and JSON."""
    cases = [
        value
        for reports in terminalreporter.stats.values()
        for report in reports
        if isinstance(report, pytest.TestReport) and report.when == "call"
        for name, value in report.user_properties
        if name == PROPERTY
    ]
    if not cases:
        return
    rows = table(cases)
    terminalreporter.section("recovery matrix")
    for line in _aligned([COLUMNS, *rows]):
        terminalreporter.write_line(line)
    FOLDER.mkdir(parents=True, exist_ok=True)
    (FOLDER / "matrix.json").write_text(json.dumps(cases, indent=2))
    (FOLDER / "matrix.md").write_text(_markdown(rows))
    terminalreporter.write_line("also in build/recovery: matrix.md, matrix.json")


def table(cases: Sequence[Mapping[str, Any]]) -> list[tuple[str, ...]]:
    """Answer the rows of the table: each boundary, then all of them."""
    boundaries = dict.fromkeys(case["boundary"] for case in cases)
    rows = [_row(name, [case for case in cases if case["boundary"] == name]) for name in boundaries]
    return [*rows, _row("all", cases)]


def _row(name: str, cases: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    recovered = sum(not case["faults"] for case in cases)
    counts = (sum(len(case["verdict"][kind]) for case in cases) for kind in _COUNTED)
    return (
        name,
        str(len(cases)),
        f"{100 * recovered // len(cases)} %",
        *map(str, counts),
        _seconds("work", cases),
        _seconds("completion", cases),
    )


def _seconds(what: str, cases: Sequence[Mapping[str, Any]]) -> str:
    seconds = [case["verdict"]["seconds"].get(what, 0.0) for case in cases]
    return f"{median(seconds):.1f} / {max(seconds):.1f}"


def _aligned(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        yield "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()


def _markdown(rows: Sequence[Sequence[str]]) -> str:
    lines = [COLUMNS, tuple("---" for _ in COLUMNS), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)
