"""What is wrong with a bundle: where, what, and what would be right."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from enum import StrEnum
from heapq import nlargest
from itertools import takewhile
from typing import Final

from service.core.errors import Invalid

FINDINGS_MAX: Final = 500
"""So many errors, and so many warnings, are reported of a bundle."""
_NAMED_MAX: Final = 30
_COMPARED_MAX: Final = 100


class Severity(StrEnum):
    """Whether a finding keeps a bundle from being loaded."""

    ERROR = "error"
    WARNING = "warning"


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """A position in a file: line and column from 1, in characters."""

    line: int = 1
    column: int = 1


@dataclass(frozen=True, slots=True)
class Finding:
    """One fault. `code` is stable; `message` says what is wrong and what would be right.

    `path` is where it stands in the rules (`classes.preference.rules.strange.when`), empty for a whole file.
    """

    file: str
    place: Place
    code: str
    message: str
    severity: Severity = Severity.ERROR
    path: str = ""

    def __str__(self) -> str:
        return (
            f"{self.file}:{self.place.line}:{self.place.column}: "
            f"{self.severity.value} {self.code}: {self.message}"
        )


class BundleInvalid(Invalid):
    """The files are not a bundle. Nothing of it is loaded; `findings` says why."""

    code = "bundle_invalid"
    title = "The policy bundle has errors"

    def __init__(self, findings: Sequence[Finding]) -> None:
        super().__init__(
            f"{len(findings)} findings keep the policy bundle from being loaded; `policy lint` lists them.",
            errors=[
                {
                    "pointer": f"/files/{finding.file.replace('~', '~0').replace('/', '~1')}",
                    "message": str(finding),
                }
                for finding in findings
            ],
        )
        self.findings = tuple(findings)

    def __str__(self) -> str:
        return "\n".join(str(finding) for finding in self.findings)


def in_order(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Answer findings by file and place, each once."""
    return tuple(
        sorted(dict.fromkeys(findings), key=lambda item: (item.file, item.place, item.code, item.message))
    )


def at_most(findings: Iterable[Finding], most: int = FINDINGS_MAX) -> tuple[Finding, ...]:
    """Answer the first `most` errors and the first `most` warnings: no number of warnings hides an error."""
    kept: dict[Severity, list[Finding]] = {severity: [] for severity in Severity}
    for finding in findings:
        if len(kept[finding.severity]) < most:
            kept[finding.severity].append(finding)
        if len(kept[Severity.ERROR]) >= most:
            break
    return (*kept[Severity.ERROR], *kept[Severity.WARNING])


def nearest(word: str, known: Iterable[str]) -> str:
    """Answer a hint for a word that is not known: the nearest that is, else those that are."""
    names = sorted(known)
    # Longer words than any known one would only cost time.
    wanted = word[:100]
    close = get_close_matches(wanted, _likeliest(wanted, names), n=1, cutoff=0.6)
    if close:
        return f"did you mean `{close[0]}`?"
    if not names:
        return "nothing is known here"
    more = f" and {len(names) - _NAMED_MAX} more" if len(names) > _NAMED_MAX else ""
    return f"known here: {', '.join(names[:_NAMED_MAX])}{more}"


def _likeliest(word: str, names: list[str]) -> list[str]:
    """Answer the names worth a comparison: all of a few, else those that begin as the word does.

    Comparing one word with thousands takes a tenth of a second, and a bundle may have thousands of each.
    """
    if len(names) <= _COMPARED_MAX:
        return names
    return nlargest(_COMPARED_MAX, names, key=lambda name: _alike_at_first(word, name))


def _alike_at_first(word: str, name: str) -> int:
    pairs = takewhile(lambda pair: pair[0] == pair[1], zip(word, name, strict=False))
    return sum(1 for _ in pairs)


def shorten(text: str, characters_max: int = 100) -> str:
    """Answer `text` fit for a message: on one line, printable, not longer than `characters_max`."""
    line = "".join(
        character if character.isprintable() else "\ufffd" for character in text[: characters_max + 1]
    )
    return line if len(line) <= characters_max else f"{line[: characters_max - 1]}…"
