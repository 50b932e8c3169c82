"""Every refusal has its own stable code, a status, and a line in the documentation of errors."""

import importlib
import pkgutil
import re
from collections.abc import Iterator
from pathlib import Path

import service
from service.core.errors import Refusal
from service.entry.http.problems import INTERNAL_CODE, STATUS_BY_KIND, status_of

PAGE = Path(__file__).parents[1] / "docs" / "errors.md"
_NOT_IMPORTED = ("service.migrations.env", "service.migrations.versions")
_ROW = re.compile(r"^\| `([a-z_]+)` \| (\d{3}) \|", re.MULTILINE)


def _load_all() -> None:
    for module in pkgutil.walk_packages(service.__path__, "service."):
        if not module.name.startswith(_NOT_IMPORTED) and not module.name.endswith("__main__"):
            importlib.import_module(module.name)


def _kinds(kind: type[Refusal] = Refusal) -> Iterator[type[Refusal]]:
    for child in kind.__subclasses__():
        if child.__module__.startswith("service."):
            yield child
        yield from _kinds(child)


def _refusals() -> list[type[Refusal]]:
    _load_all()
    found = sorted(set(_kinds()), key=lambda kind: kind.code)
    assert len(found) > len(STATUS_BY_KIND)
    return found


def test_every_refusal_has_a_status_of_its_own_kind() -> None:
    assert [kind for kind in _refusals() if status_of(kind) == 500] == []


def test_a_code_has_one_status_whoever_answers_it() -> None:
    statuses: dict[str, set[int]] = {}
    for kind in _refusals():
        statuses.setdefault(kind.code, set()).add(status_of(kind))

    assert {code: found for code, found in statuses.items() if len(found) > 1} == {}


def test_every_code_is_documented_with_its_status() -> None:
    documented = {code: int(status) for code, status in _ROW.findall(PAGE.read_text())}
    expected = {kind.code: status_of(kind) for kind in _refusals()} | {INTERNAL_CODE: 500}

    assert documented == expected
