"""The edge: a refusal that is raised undoes its work, one that is returned is answered after the commit."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import FixedClock
from http_support import Site, open_site
from sqlmodel import select
from starlette.responses import Response

from service.audit.tables import AuditEventRow
from service.core.database import Database
from service.core.errors import Conflict, Forbidden, Refusal
from service.core.idempotency import IdempotencyRow
from service.core.outbox import OutboxRow
from service.entry.http.edge import Edge, Reply, needs, new_router, operation
from service.identity import matrix
from service.identity.unit import Unit
from service.wire.scalars import Request

router = new_router("doors")
KINDS: dict[str, type[Refusal]] = {"conflict": Conflict, "forbidden": Forbidden}


class Knock(Request):
    how: str
    returned: bool


@router.post("/doors", **operation(summary="Knock", answer=None, creates=True, example={"how": "conflict"}))
def knock(body: Knock, edge: Edge = needs(matrix.EVIDENCE_WRITE)) -> Response:
    def work(unit: Unit) -> Reply | Refusal:
        unit.stage("note", text="somebody knocked")
        refusal = KINDS[body.how](door="front")
        if not body.returned:
            raise refusal
        return refusal

    return edge.create(work)


@pytest.fixture
def site(database: Database, tmp_path: Path, clock: FixedClock) -> Iterator[Site]:
    with open_site(database, tmp_path / "data", clock, routers=[router]) as site:
        yield site


def test_a_returned_refusal_is_answered_like_a_raised_one_and_its_work_stands(site: Site) -> None:
    headers = site.headers()

    raised = site.client.post("/v1/doors", headers=headers, json={"how": "conflict", "returned": False})
    left_by_raised = site.count(OutboxRow)
    returned = site.client.post("/v1/doors", headers=headers, json={"how": "conflict", "returned": True})

    assert (raised.status_code, returned.status_code) == (409, 409)
    assert returned.json() | {"request_id": ""} == raised.json() | {"request_id": ""}
    assert returned.json()["door"] == "front"
    assert (left_by_raised, site.count(OutboxRow)) == (0, 1)


def test_a_returned_refusal_leaves_its_key_free(site: Site) -> None:
    headers = site.headers() | {"Idempotency-Key": "k-1"}

    answers = [
        site.client.post("/v1/doors", headers=headers, json={"how": "conflict", "returned": True})
        for _ in range(2)
    ]

    assert [answer.status_code for answer in answers] == [409, 409]
    assert "Idempotent-Replayed" not in answers[1].headers
    assert (site.count(IdempotencyRow), site.count(OutboxRow)) == (0, 2)


def test_what_is_forbidden_after_the_commit_is_recorded_too(site: Site) -> None:
    site.client.post("/v1/doors", headers=site.headers(), json={"how": "forbidden", "returned": True})

    with site.runtime.database.read(site.tenants["acme"]) as session:
        events = session.exec(select(AuditEventRow)).all()
    assert [(event.action, event.ref) for event in events] == [("request.refused", "POST:/v1/doors")]
