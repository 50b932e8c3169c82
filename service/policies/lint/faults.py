"""One thing that lint has to say, before it is known in which file it stands."""

from dataclasses import dataclass

from service.policies.findings import Severity
from service.policies.read_yaml import Path


@dataclass(frozen=True, slots=True)
class Fault:
    """What is wrong at `path` of the bundle.

    `of_key`: its key is meant rather than its value. `inside` is a condition and a character in it, from 0.
    """

    path: Path
    code: str
    message: str
    severity: Severity = Severity.WARNING
    of_key: bool = False
    inside: tuple[str, int] | None = None


def error(path: Path, code: str, message: str, *, of_key: bool = False) -> Fault:
    """Answer what harms, or cannot work."""
    return Fault(path, code, message, Severity.ERROR, of_key)


def warning(path: Path, code: str, message: str, *, of_key: bool = False) -> Fault:
    """Answer what is allowed and probably not meant."""
    return Fault(path, code, message, Severity.WARNING, of_key)
