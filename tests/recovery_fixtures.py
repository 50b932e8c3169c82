"""Prepared places: one template for each database and run of the tests, a copy for each case."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psycopg
import pytest
from recovery_case import Case, opened
from recovery_site import Place, copy_of, database_at, drop, prepare


@dataclass
class Warm:
    """A service that stays up, and how many runs it has had: each case is a run of its own."""

    case: Case
    runs: int = 0

    def next(self) -> Case:
        """Answer the surroundings of another run."""
        self.runs += 1
        place, shop, model, address = self.case.place, self.case.shop, self.case.model, self.case.address
        return Case(place, shop, model, external_ref=f"order-app-{self.runs}", address=address)


@pytest.fixture(scope="session")
def sqlite_place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    """Two tenants with their people and evidence on SQLite, to be copied."""
    return prepare(tmp_path_factory.mktemp("recovery-sqlite"), None)


@pytest.fixture(scope="session")
def postgresql_place(
    tmp_path_factory: pytest.TempPathFactory, postgresql_address: str, postgresql_template: str
) -> Place:
    """The same on PostgreSQL."""
    name = "recovery_template"
    with psycopg.connect(postgresql_address, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name} TEMPLATE {postgresql_template}")
    folder = tmp_path_factory.mktemp("recovery-postgresql")
    return prepare(folder, database_at(postgresql_address, name))


@pytest.fixture(params=["sqlite", "postgresql"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Place]:
    """A place of the test's own, once on SQLite and once on PostgreSQL."""
    with _opened(request, request.param, tmp_path) as copy:
        yield copy


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def warm(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Warm]:
    """A running service on either database, for cases that leave it alone."""
    folder = tmp_path_factory.mktemp("warm")
    with (
        _opened(request, request.param, folder) as place,
        opened(place) as case,
        place.serving(extra=case.extra) as service,
    ):
        case.address = service.address
        yield Warm(case)


@contextmanager
def _opened(request: pytest.FixtureRequest, kind: str, folder: Path) -> Iterator[Place]:
    template = request.getfixturevalue(f"{kind}_place")
    base = request.getfixturevalue("postgresql_address") if kind == "postgresql" else None
    copy = copy_of(template, folder / "place", base)
    yield copy
    drop(copy, base)
