"""The edge: a creating request is done once for each key, and its answer reaches only who may see it."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import http_notes
import httpx
import pytest
from conftest import FixedClock
from http_support import Site, listening, open_site
from sqlmodel import col, delete, select

from service.core.database import Database
from service.core.idempotency import IdempotencyRefRow, IdempotencyRow, IdempotencyStore
from service.core.outbox import OutboxRow
from service.identity.tables import MemberRow


@pytest.fixture
def site(database: Database, tmp_path: Path, clock: FixedClock) -> Iterator[Site]:
    with open_site(database, tmp_path / "data", clock, routers=[http_notes.router]) as site:
        yield site


def _post(site: Site, headers: dict[str, str], body: dict[str, object], key: str = "k-1") -> httpx.Response:
    return site.client.post("/v1/notes", headers=headers | {"Idempotency-Key": key}, json=body)


def test_a_repeat_answers_the_first_response_and_does_nothing(site: Site) -> None:
    headers = site.headers()

    first = _post(site, headers, {"text": "a", "tags": ["x"]})
    again = _post(site, headers, {"tags": ["x"], "text": "a"})

    assert (first.status_code, again.status_code) == (201, 201)
    assert first.json() == again.json()
    assert first.headers["ETag"] == again.headers["ETag"] == '"1"'
    assert "Idempotent-Replayed" not in first.headers
    assert again.headers["Idempotent-Replayed"] == "true"
    assert again.headers["X-Request-ID"] != first.headers["X-Request-ID"]
    assert site.count(OutboxRow) == 1


def test_the_same_key_with_another_body_is_422(site: Site) -> None:
    headers = site.headers()
    _post(site, headers, {"text": "a"})

    response = _post(site, headers, {"text": "b"})

    assert (response.status_code, response.json()["code"]) == (422, "idempotency_key_reused")
    assert site.count(OutboxRow) == 1


def test_a_key_belongs_to_its_tenant_principal_and_path(site: Site) -> None:
    body: dict[str, object] = {"text": "a"}
    callers = [
        site.headers(),
        site.headers(subject="agent-2"),
        site.headers(on_behalf_of="user-1"),
        site.headers(tenant="other"),
    ]

    answers = [_post(site, headers, body).json()["id"] for headers in callers]
    other_path = site.client.post("/v1/files", headers=callers[0] | {"Idempotency-Key": "k-1"}, json=body)

    assert len(set(answers)) == 4
    assert other_path.status_code == 201
    assert "Idempotent-Replayed" not in other_path.headers


def test_another_key_of_the_same_principal_gets_the_same_answer(site: Site) -> None:
    first = _post(site, site.headers(), {"text": "a"})

    again = _post(site, site.headers(), {"text": "a"})

    assert again.json() == first.json()


def test_a_repeat_by_who_has_left_the_project_is_404(site: Site) -> None:
    headers = site.headers()
    body: dict[str, object] = {"text": "a", "project": "alpha"}
    assert _post(site, headers, body).status_code == 201
    with site.runtime.database.write(site.tenants["acme"]) as session:
        session.exec(delete(MemberRow).where(col(MemberRow.tenant_id) == site.tenants["acme"]))

    response = _post(site, headers, body)

    assert (response.status_code, response.json()["code"]) == (404, "not_found")


def test_a_refused_request_leaves_its_key_free(site: Site) -> None:
    headers = site.headers()

    refused = _post(site, headers, {"text": "a", "project": "nowhere"})
    done = _post(site, headers, {"text": "a"})

    assert (refused.status_code, done.status_code) == (404, 201)


def test_a_malformed_key_is_422(site: Site) -> None:
    headers = site.headers()
    for key in ("", "a b", "a" * 201, "é", "a\tb"):
        keyed = headers | {"Idempotency-Key": key.encode()}
        response = site.client.post("/v1/notes", headers=keyed, json={"text": "a"})

        assert (response.status_code, response.json()["code"]) == (422, "invalid_idempotency_key")
    assert site.count(OutboxRow) == 0


def test_after_a_day_the_key_is_free_and_its_row_is_gone(site: Site, clock: FixedClock) -> None:
    headers = site.headers()
    first = _post(site, headers, {"text": "a"})

    clock.advance(hours=23, minutes=59)
    kept = _post(site, headers, {"text": "a"})
    clock.advance(minutes=1)
    fresh = _post(site, headers, {"text": "b"})
    _post(site, headers, {"text": "c"}, key="k-2")

    assert kept.json() == first.json()
    assert fresh.status_code == 201
    assert site.count(IdempotencyRow) == 2


def test_an_erasure_empties_the_answers_that_hold_the_text_and_they_are_410(site: Site) -> None:
    headers = site.headers()
    erased = _post(site, headers, {"text": "canary"}).json()["id"]
    _post(site, headers, {"text": "other"}, key="k-2")
    tenant_id = site.tenants["acme"]

    with site.runtime.database.write(tenant_id) as session:
        cipher = site.runtime.ciphers.for_tenant(tenant_id)
        emptied = IdempotencyStore(session, tenant_id, cipher).erase([erased])
    response = _post(site, headers, {"text": "canary"})

    assert emptied == 1
    assert (response.status_code, response.json()["code"]) == (410, "erased")
    assert _post(site, headers, {"text": "other"}, key="k-2").status_code == 201
    with site.runtime.database.read(tenant_id) as session:
        query = select(IdempotencyRow).where(col(IdempotencyRow.tenant_id) == tenant_id)
        bodies = [row.body for row in session.exec(query)]
    assert bodies.count(None) == 1


def test_kept_answers_rest_as_ciphertext(site: Site) -> None:
    _post(site, site.headers(), {"text": "canary-text"}, key="canary-key")

    with site.runtime.database.read(site.tenants["acme"]) as session:
        rows = [str(row.model_dump()) for row in session.exec(select(IdempotencyRow))]
        refs = session.exec(select(IdempotencyRefRow)).all()

    assert len(rows) == len(refs) == 1
    assert "canary" not in rows[0]


def test_of_many_at_once_one_runs_and_the_others_get_its_answer(site: Site) -> None:
    headers = site.headers() | {"Idempotency-Key": "k-1"}

    with listening(site) as address, httpx.Client(base_url=address, timeout=30) as client:

        def send(_number: int) -> httpx.Response:
            return client.post("/v1/notes/slow", headers=headers, json={"text": "a"})

        with ThreadPoolExecutor(6) as threads:
            responses = list(threads.map(send, range(6)))

    assert {response.status_code for response in responses} == {201}
    assert len({response.text for response in responses}) == 1
    assert sum("Idempotent-Replayed" not in response.headers for response in responses) == 1
    assert site.count(OutboxRow) == 1


def test_many_keys_at_once_all_run(site: Site) -> None:
    headers = site.headers()

    def send(number: int) -> int:
        return _post(site, headers, {"text": "a"}, key=f"k-{number}").status_code

    with ThreadPoolExecutor(8) as threads:
        statuses = set(threads.map(send, range(24)))

    assert statuses == {201}
    assert site.count(OutboxRow) == 24


def test_any_number_of_items_leaves_the_kept_answers_at_once(site: Site) -> None:
    headers = site.headers()
    note = _post(site, headers, {"text": "a", "tags": ["x"]}).json()["id"]
    tenant_id = site.tenants["acme"]
    with site.runtime.database.write(tenant_id) as session:
        cipher = site.runtime.ciphers.for_tenant(tenant_id)
        # More than one statement takes as parameters, in either database.
        refs = [f"other-{number}" for number in range(70_000)] + [note]

        emptied = IdempotencyStore(session, tenant_id, cipher).erase(refs)

    assert emptied == 1
    assert _post(site, headers, {"text": "a", "tags": ["x"]}).status_code == 410
