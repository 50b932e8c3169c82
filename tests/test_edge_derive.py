"""The edge: what is worked out by reading blocks no writer, sees one moment, and is kept with its answer."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from conftest import FixedClock
from fastapi import APIRouter
from http_notes import EXAMPLE, AddNote, Note
from http_support import TENANT, Site, open_site
from sqlmodel import func, select
from starlette.responses import Response

from service.core.database import Database
from service.core.errors import Conflict
from service.core.ids import new_id
from service.core.outbox import Outbox, OutboxRow
from service.entry.http.edge import Derived, Edge, Reply, needs, new_router, operation
from service.identity import matrix
from service.identity.unit import Unit

During = Callable[[Unit], None]


class Moments:
    """What a test does while the work reads, and while it is kept."""

    def __init__(self) -> None:
        self.reading: During = lambda _unit: None
        self.keeping: During = lambda _unit: None


def _router(moments: Moments) -> APIRouter:
    router = new_router("derived")

    @router.post(
        "/derived",
        **operation(summary="Derive", answer=Note, status=201, example=EXAMPLE, problems=[Conflict]),
    )
    def derive(body: AddNote, edge: Edge = needs(matrix.EVIDENCE_WRITE)) -> Response:
        def work(unit: Unit) -> Derived:
            moments.reading(unit)
            note = Note(id=unit.ids(), version=_count(unit), text=body.text)
            return Derived(Reply(note, status=201), keep)

        def keep(unit: Unit) -> None:
            unit.stage("derived", item_id="kept")
            moments.keeping(unit)

        return edge.derive(work)

    return router


def _count(unit: Unit) -> int:
    return unit.session.exec(select(func.count()).select_from(OutboxRow)).one()


@pytest.fixture
def moments() -> Moments:
    return Moments()


@pytest.fixture
def site(database: Database, tmp_path: Path, clock: FixedClock, moments: Moments) -> Iterator[Site]:
    with open_site(database, tmp_path / "data", clock, routers=[_router(moments)]) as site:
        yield site


def _post(site: Site, headers: dict[str, str]) -> Any:
    return site.client.post("/v1/derived", headers=headers, json={"text": "a"})


def _write_meanwhile(site: Site) -> None:
    """Write and commit as another request would, in a thread of its own."""

    def write() -> None:
        tenant_id = site.tenants[TENANT]
        with site.runtime.database.write(tenant_id) as session:
            Outbox(session, tenant_id).stage("meanwhile", {}, ids=new_id, now=site.clock())

    with ThreadPoolExecutor(1) as pool:
        pool.submit(write).result(timeout=10)


def test_while_it_reads_others_write_and_it_sees_the_moment_at_which_it_began(
    site: Site, moments: Moments
) -> None:
    headers = site.headers()

    def reading(unit: Unit) -> None:
        assert _count(unit) == 0
        _write_meanwhile(site)

    moments.reading = reading
    answer = _post(site, headers)

    assert (answer.status_code, answer.json()["version"]) == (201, 0)
    assert site.count(OutboxRow) == 2


def test_what_cannot_be_kept_is_not_answered(site: Site, moments: Moments) -> None:
    def keeping(_unit: Unit) -> None:
        raise Conflict("It is the wrong moment.")

    moments.keeping = keeping
    answer = _post(site, site.headers())

    assert answer.status_code == 409
    assert site.count(OutboxRow) == 0


def test_a_repeat_with_its_key_gets_the_first_answer_and_keeps_nothing_more(site: Site) -> None:
    headers = site.headers() | {"Idempotency-Key": "k-1"}

    first, again = _post(site, headers), _post(site, headers)

    assert first.json() == again.json()
    assert again.headers["Idempotent-Replayed"] == "true"
    assert site.count(OutboxRow) == 1


def test_with_a_key_reading_and_keeping_are_one_transaction(site: Site, moments: Moments) -> None:
    sessions: list[object] = []
    moments.reading = lambda unit: sessions.append(unit.session)
    moments.keeping = lambda unit: sessions.append(unit.session)
    headers = site.headers()

    _post(site, headers)
    _post(site, headers | {"Idempotency-Key": "k-1"})

    apart, again, one, same = sessions
    assert apart is not again
    assert one is same
