"""The edge: versions, pages, uploads and lines."""

import base64
import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import http_notes
import pytest
from conftest import FixedClock
from http_support import Site, open_site

from service.core.database import Database
from service.core.outbox import OutboxRow

MEBIBYTE = 1024 * 1024


@pytest.fixture
def site(database: Database, tmp_path: Path, clock: FixedClock) -> Iterator[Site]:
    with open_site(database, tmp_path / "data", clock, routers=[http_notes.router]) as site:
        yield site


def _add(site: Site, headers: dict[str, str], text: str = "a") -> str:
    response = site.client.post("/v1/notes", headers=headers, json={"text": text})
    return str(response.raise_for_status().json()["id"])


def test_a_versioned_resource_carries_its_etag(site: Site) -> None:
    headers = site.headers()
    note = _add(site, headers)

    assert site.client.get(f"/v1/notes/{note}", headers=headers).headers["ETag"] == '"1"'


def test_a_write_without_if_match_is_428(site: Site) -> None:
    headers = site.headers()

    response = site.client.put(f"/v1/notes/{_add(site, headers)}", headers=headers, json={"text": "b"})

    assert (response.status_code, response.json()["code"]) == (428, "if_match_required")


def test_a_version_that_is_not_the_current_one_is_412_and_names_it(site: Site) -> None:
    headers = site.headers()
    note = _add(site, headers)
    for value in ('"2"', '"0"', "1", "*", 'W/"1"', '"1", "2"', '"01"', '"' + "9" * 40 + '"', ""):
        response = site.client.put(
            f"/v1/notes/{note}", headers=headers | {"If-Match": value}, json={"text": "b"}
        )

        assert (response.status_code, response.json()["current_version"]) == (412, 1), value
    assert site.client.get(f"/v1/notes/{note}", headers=headers).json()["text"] == "a"


def test_of_many_writers_with_the_same_version_exactly_one_wins(site: Site) -> None:
    headers = site.headers()
    note = _add(site, headers)

    def write(number: int) -> int:
        body = {"text": str(number)}
        return site.client.put(
            f"/v1/notes/{note}", headers=headers | {"If-Match": '"1"'}, json=body
        ).status_code

    with ThreadPoolExecutor(8) as threads:
        statuses = sorted(threads.map(write, range(8)))

    assert statuses == [200] + [412] * 7


def test_pages_are_complete_linked_and_bound_to_their_filter_and_tenant(site: Site) -> None:
    headers = site.headers()
    notes = [_add(site, headers, str(number)) for number in range(5)]

    found, url = [], "/v1/notes?limit=2"
    while url:
        response = site.client.get(url, headers=headers)
        found += [item["id"] for item in response.json()["items"]]
        url = response.links.get("next", {}).get("url", "")

    cursor = site.client.get("/v1/notes?limit=2", headers=headers).json()["next_cursor"]
    other_filter = site.client.get("/v1/notes", headers=headers, params={"cursor": cursor, "word": "x"})
    other_tenant = site.client.get(
        "/v1/notes", headers=site.headers(tenant="other"), params={"cursor": cursor}
    )
    assert found == notes
    assert other_filter.json()["code"] == other_tenant.json()["code"] == "cursor_invalid"


def test_a_cursor_that_was_written_by_somebody_else_is_refused(site: Site) -> None:
    headers = site.headers()
    _add(site, headers, "a")
    _add(site, headers, "b")
    cursor = site.client.get("/v1/notes?limit=1", headers=headers).json()["next_cursor"]
    seal, _ = json.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))

    def read(*key: object) -> int:
        forged = base64.urlsafe_b64encode(json.dumps([seal, *key]).encode()).decode().rstrip("=")
        return site.client.get("/v1/notes", headers=headers, params={"cursor": forged}).status_code

    assert {read(), read("\ud800"), read("a\x00"), read(2**70), read("z", "z"), read("z")} == {422}


def test_a_file_is_taken_beside_its_fields(site: Site) -> None:
    headers = site.headers()
    content = bytes(range(256)) * 4096 * 20

    response = site.client.post(
        "/v1/files",
        headers=headers,
        data={"meta": '{"text": "a"}'},
        files={"file": ("plan.pdf", content, "application/pdf")},
    )
    plain = site.client.post("/v1/files", headers=headers, json={"text": "a"})

    assert response.json() == {"name": "plan.pdf", "media_type": "application/pdf", "size": len(content)}
    assert plain.json()["size"] == 0


def test_a_repeated_upload_is_the_same_request_whatever_its_boundary(site: Site) -> None:
    headers = site.headers() | {"Idempotency-Key": "k"}

    def send(content: bytes) -> tuple[int, str | None]:
        files = {"file": ("a.txt", content, "text/plain")}
        response = site.client.post("/v1/files", headers=headers, data={"meta": '{"text": "a"}'}, files=files)
        return response.status_code, response.headers.get("Idempotent-Replayed")

    assert [send(b"one"), send(b"one"), send(b"two")] == [(201, None), (201, "true"), (422, None)]
    assert site.count(OutboxRow) == 1


@pytest.mark.parametrize("charset", ["utf-8", "unicode_escape", "utf-7", "punycode", "undefined", "latin-1"])
def test_the_fields_of_an_upload_are_utf8_whatever_charset_is_named(site: Site, charset: str) -> None:
    headers = site.headers() | {"Content-Type": f"multipart/form-data; boundary=X; charset={charset}"}

    def send(text: bytes, name: bytes = b"a.txt") -> int:
        meta = b'Content-Disposition: form-data; name="meta"\r\n\r\n{"text": "' + text + b'"}'
        file = b'Content-Disposition: form-data; name="file"; filename="' + name + b'"\r\n\r\nx'
        content = b"--X\r\n" + meta + b"\r\n--X\r\n" + file + b"\r\n--X--\r\n"
        return site.client.post("/v1/files", headers=headers, content=content).status_code

    assert send("Gr\u00fc\u00dfe".encode(), "Gr\u00fc\u00dfe.txt".encode()) == 201
    assert {send(b"\xff"), send(b"\\ud800"), send(b"+2AA-\xff"), send(b"a", b"\xff.txt")} == {422}


def test_an_upload_that_is_not_one_file_with_its_fields_is_refused(site: Site) -> None:
    headers = site.headers()
    meta, file = {"meta": '{"text": "a"}'}, ("a.txt", b"x", "text/plain")

    def send(**parts: object) -> int:
        return site.client.post("/v1/files", headers=headers, **parts).status_code

    assert send(data=meta, files={"other": file}) == 422
    assert send(files={"file": file}) == 422
    assert send(data=meta, files=[("file", file), ("file", file)]) == 422
    assert send(data={"meta": '{"text": "\\ud800"}'}, files={"file": file}) == 422
    assert send(data={"meta": '{"text": "a", "text": "b"}'}, files={"file": file}) == 422
    assert send(data=meta, files={"file": ("a\u202e.txt", b"x", "text/plain")}) == 422
    assert send(data=meta, files={"file": ("a.txt", b"x" * (32 * MEBIBYTE + 1), "text/plain")}) == 413
    assert site.count(OutboxRow) == 0


def test_a_broken_multipart_body_is_422(site: Site) -> None:
    for media_type in ("multipart/form-data", "multipart/form-data; boundary=x"):
        headers = site.headers() | {"Content-Type": media_type}

        assert site.client.post("/v1/files", headers=headers, content=b"nonsense").status_code == 422


def test_lines_are_read_one_by_one_and_a_bad_one_costs_only_itself(site: Site) -> None:
    headers = site.headers() | {"Content-Type": "application/x-ndjson"}
    lines = [
        b'{"text": "one"}',
        b"",
        b'{"text": "two"',
        b'{"text": "\\ud800"}',
        b'{"text": "' + b"a" * MEBIBYTE + b'"}',
        b'{"text": "three"}\r',
        b'{"text": "four"}',
    ]
    whole = b"\n".join(lines)

    response = site.client.post(
        "/v1/lines", headers=headers, content=iter([whole[:7], whole[7:100], whole[100:]])
    )

    assert response.json() == {
        "accepted": 3,
        "rejected": [
            {"line": 3, "type": "malformed_json"},
            {"line": 4, "type": "malformed_json"},
            {"line": 5, "type": "too_large"},
        ],
    }
    assert site.count(OutboxRow) == 3


def test_lines_of_another_media_type_are_415(site: Site) -> None:
    assert site.client.post("/v1/lines", headers=site.headers(), json={"text": "a"}).status_code == 415
