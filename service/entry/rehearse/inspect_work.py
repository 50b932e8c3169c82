"""Reads what a trial left behind in its work folder: files that count, and constraints that must hold."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

import regex

from service.core.hashing import hash_bytes
from service.entry.rehearse.manifest import Constraint, CountedOutputs

_FILES_MAX: Final = 10_000
_FILE_BYTES_MAX: Final = 256 * 1024 * 1024
_SEARCH_SECONDS_MAX: Final = 5


def hash_files(folder: Path, outputs: CountedOutputs) -> dict[str, str]:
    """Answer the files that are compared, by their path in `folder`, each with its hash."""
    return {
        path.relative_to(folder).as_posix(): hash_bytes(_read(path))
        for pattern in outputs.files
        for path in _fitting(folder, pattern)
    }


def missing_files(folder: Path, outputs: CountedOutputs) -> tuple[str, ...]:
    """Answer the patterns that no file fits."""
    return tuple(
        pattern for pattern in (*outputs.files, *outputs.present) if not any(_fitting(folder, pattern))
    )


def judge_constraints(folder: Path, constraints: Mapping[str, Constraint]) -> dict[str, bool | None]:
    """Answer of each constraint whether every file keeps it; `None` where there is no file to judge."""
    return {name: _keeps(folder, constraint) for name, constraint in constraints.items()}


def _keeps(folder: Path, constraint: Constraint) -> bool | None:
    texts = [_read(path).decode(errors="replace") for path in _fitting(folder, constraint.files)]
    if not texts:
        return None
    wanted = constraint.must_match or constraint.must_not_match
    assert wanted is not None
    expression = regex.compile(wanted, regex.MULTILINE)
    is_wanted = constraint.must_match is not None
    try:
        return all(
            (expression.search(text, timeout=_SEARCH_SECONDS_MAX) is not None) is is_wanted for text in texts
        )
    except TimeoutError:
        # An expression that takes for ever says nothing; what cannot be shown to be kept is not.
        return False


def _fitting(folder: Path, pattern: str) -> Iterable[Path]:
    count = 0
    for path in sorted(folder.glob(pattern)):
        # A link could lead out of the folder, to a file that differs from trial to trial.
        if not path.is_file() or path.is_symlink():
            continue
        count += 1
        if count > _FILES_MAX:
            return
        yield path


def _read(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(_FILE_BYTES_MAX)
