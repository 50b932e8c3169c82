"""The shape of the code: import order, sizes, names, who may know the database."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SERVICE = ROOT / "service"
MODULE_LINES_MAX = 300
FUNCTION_LINES_MAX = 60
BANNED_NAMES = {"utils", "helpers", "common", "manager", "service", "base", "misc"}
PURE_NAMES = ("model.py", "rules.py")
PURE_MODULES = ("policies/evaluate.py", "context/budget.py", "retrieval/fuse.py")
DATABASE_MODULES = ("sqlalchemy", "sqlmodel", "service.core.database")
CAPABILITIES = ("identity", "audit", "policies", "evidence", "executions", "memories", "retrieval", "context")


def _modules(*folders: Path) -> Iterator[Path]:
    for folder in folders:
        yield from (path for path in sorted(folder.rglob("*.py")) if "versions" not in path.parts)


def _name(path: Path) -> str:
    return str(path.relative_to(ROOT))


def _imports(path: Path) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
    return found


def test_each_package_imports_only_what_stands_below_it() -> None:
    finished = subprocess.run(
        [Path(sys.executable).with_name("lint-imports"), "--no-cache"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )

    assert finished.returncode == 0, finished.stdout[-4_000:]


@pytest.mark.parametrize("path", list(_modules(SERVICE, ROOT / "tests", ROOT / "benchmarks")), ids=_name)
def test_no_module_and_no_function_outgrows_its_reader(path: Path) -> None:
    text = path.read_text()
    long_functions = [
        f"{node.name}: {node.end_lineno - node.lineno + 1} lines"
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and node.end_lineno is not None
        and node.end_lineno - node.lineno + 1 > FUNCTION_LINES_MAX
    ]

    assert len(text.splitlines()) <= MODULE_LINES_MAX
    assert long_functions == []


def test_no_module_has_a_name_that_says_nothing() -> None:
    assert [path for path in _modules(SERVICE) if path.stem in BANNED_NAMES] == []


def test_pure_modules_know_no_database() -> None:
    pure = [
        path
        for path in _modules(SERVICE)
        if (path.name in PURE_NAMES and path.relative_to(SERVICE).parts[0] in CAPABILITIES)
        or str(path.relative_to(SERVICE)) in PURE_MODULES
    ]
    guilty = {
        str(path.relative_to(SERVICE)): sorted(names)
        for path in pure
        if (
            names := {name for name in _imports(path) if name.split(".")[0] in DATABASE_MODULES[:2]}
            | (_imports(path) & {DATABASE_MODULES[2]})
        )
    }

    assert len(pure) > len(PURE_MODULES)
    assert guilty == {}


def test_only_stores_know_tables() -> None:
    guilty = [
        str(path.relative_to(SERVICE))
        for path in _modules(*(SERVICE / name for name in CAPABILITIES), SERVICE / "jobs", SERVICE / "entry")
        if not path.name.startswith("store")
        and any(name.split(".")[-1] == "tables" and name.startswith("service.") for name in _imports(path))
    ]

    assert guilty == []


def test_every_package_says_what_it_owns() -> None:
    silent = [str(path) for path in _modules(SERVICE) if not ast.get_docstring(ast.parse(path.read_text()))]

    assert silent == []


def test_no_file_names_a_machine_path_or_an_unfinished_place() -> None:
    marks = ("TO" + "DO", "FIX" + "ME", "XX" + "X", "NotImpl" + "ementedError")
    guilty = [f"{path}: {mark}" for path in _modules(SERVICE) for mark in marks if mark in path.read_text()]

    assert guilty == []
