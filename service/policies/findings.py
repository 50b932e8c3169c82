"""What is wrong with a bundle: where, what, and what would be right."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from enum import StrEnum

from service.core.errors import Invalid


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
    """One fault. `code` is stable; `message` says what is wrong and what would be right."""

    file: str
    place: Place
    code: str
    message: str
    severity: Severity = Severity.ERROR

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


def nearest(word: str, known: Iterable[str]) -> str:
    """Answer a hint for a word that is not known: the nearest that is, else all of them."""
    names = sorted(known)
    # Longer words than any known one would only cost time.
    close = get_close_matches(word[:100], names, n=1, cutoff=0.6)
    if close:
        return f"did you mean `{close[0]}`?"
    return f"known here: {', '.join(names)}" if names else "nothing is known here"


def shorten(text: str, characters_max: int = 100) -> str:
    """Answer `text` fit for a message: on one line, printable, not longer than `characters_max`."""
    line = "".join(
        character if character.isprintable() else "\ufffd" for character in text[: characters_max + 1]
    )
    return line if len(line) <= characters_max else f"{line[: characters_max - 1]}…"
