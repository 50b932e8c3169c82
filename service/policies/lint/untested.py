"""Rules by which no test decides."""

from collections.abc import Iterator, Mapping

from service.policies.cases import CaseFile
from service.policies.coverage import uncovered
from service.policies.lint.faults import Fault, warning
from service.policies.model import Bundle
from service.policies.read_yaml import Path


def lint_untested(bundle: Bundle, cases: Mapping[str, CaseFile]) -> Iterator[Fault]:
    """Yield the rules that no test which passes decides by."""
    for told in uncovered(bundle, cases):
        path = _path(told)
        message = f"no test that passes decides by `{told}`: write one under `tests/`"
        yield warning(path, "untested", message, of_key=True)


def _path(told: str) -> Path:
    section, _, name = told.partition(".")
    # Only the names of commands have dots of their own.
    return (section, *(name.split(".") if section == "classes" else [name]))
