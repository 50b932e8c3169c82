"""The edge: bodies and queries that cannot be kept are refused before anything happens."""

from collections.abc import Iterator
from pathlib import Path

import http_notes
import pytest
from conftest import FixedClock
from http_support import Site, open_site

from service.core.database import Database
from service.core.idempotency import IdempotencyRow
from service.core.ids import new_id
from service.core.outbox import OutboxRow

MEBIBYTE = 1024 * 1024
DEEP = b'{"text": "a", "metadata": ' + b'{"a":' * 32 + b"1" + b"}" * 33
JUST_DEEP_ENOUGH = b'{"text": "a", "metadata": ' + b'{"a":' * 31 + b"1" + b"}" * 32

HARD_VALUES = {
    "empty": b"",
    "blank": b"  \n",
    "not json": b"{'text': 1}",
    "trailing": b'{"text": "a"} x',
    "byte order mark": b'\xef\xbb\xbf{"text": "a"}',
    "utf-16": '{"text": "a"}'.encode("utf-16"),
    "invalid utf-8": b'{"text": "\xff\xfe"}',
    "raw surrogate": b'{"text": "\xed\xa0\x80"}',
    "surrogate": b'{"text": "\\ud800"}',
    "low surrogate": b'{"text": "\\uDC00 "}',
    "surrogate in metadata": b'{"text": "a", "metadata": {"x": [{"y": "\\ud83d"}]}}',
    "surrogate in key": b'{"text": "a", "metadata": {"\\ud800": 1}}',
    "nul": b'{"text": "a\\u0000b"}',
    "nul in key": b'{"text": "a", "metadata": {"a\\u0000": 1}}',
    "raw nul": b'{"text": "a\x00"}',
    "nan": b'{"text": "a", "metadata": {"x": NaN}}',
    "infinity": b'{"text": "a", "number": -Infinity}',
    "huge float": b'{"text": "a", "metadata": {"x": 1e999}}',
    "huge integer": b'{"text": "a", "metadata": {"x": 9223372036854775808}}',
    "endless integer": b'{"text": "a", "metadata": {"x": ' + b"9" * 10_000 + b"}}",
    "duplicate key": b'{"text": "a", "text": "b"}',
    "nested duplicate key": b'{"text": "a", "metadata": {"x": 1, "x": 2}}',
    "escaped duplicate key": b'{"text": "a", "\\u0074ext": "b"}',
    "deep": DEEP,
    "very deep": b"[" * 100_000,
    "unknown field": b'{"text": "a", "tenant_id": "other"}',
    "wrong type": b'{"text": 7}',
    "coercion": b'{"text": "a", "number": "7"}',
    "naive time": b'{"text": "a", "at": "2026-11-30T10:00:00"}',
    "bare date": b'{"text": "a", "at": "20260101"}',
    "number as time": b'{"text": "a", "at": 1700000000}',
    "array": b'["text"]',
    "null": b"null",
}

HARD_QUERIES = (
    "limit=0",
    "limit=101",
    "limit=-1",
    "limit=9223372036854775808",
    "limit=" + "9" * 5_000,
    "limit=1&limit=2",
    "limit=1.5",
    "limit=",
    "offset=1",
    "tenant=other",
    "word=a%00b",
    "word=%ff",
    "word=%ed%a0%80",
    "word=" + "a" * 9_000,
    "cursor=abc",
    "cursor=" + "A" * 2_000,
)


@pytest.fixture
def site(database: Database, tmp_path: Path, clock: FixedClock) -> Iterator[Site]:
    with open_site(database, tmp_path / "data", clock, routers=[http_notes.router]) as site:
        yield site


def test_hard_values_are_422_leave_no_row_and_the_list_still_works(site: Site) -> None:
    headers = site.headers()
    site.client.post("/v1/notes", headers=headers, json={"text": "before"}).raise_for_status()
    hard = headers | {"Content-Type": "application/json", "Idempotency-Key": "k"}

    statuses = {
        name: site.client.post("/v1/notes", headers=hard, content=raw).status_code
        for name, raw in HARD_VALUES.items()
    }

    assert {name: status for name, status in statuses.items() if status != 422} == {}
    assert site.count(OutboxRow) == 1
    assert site.count(IdempotencyRow) == 0
    assert len(site.client.get("/v1/notes", headers=headers).json()["items"]) == 1


def test_what_is_hard_and_allowed_is_kept_and_answered_as_it_was(site: Site) -> None:
    headers = site.headers() | {"Content-Type": "application/json"}
    text = "\U0001f469‍\U0001f52c مرحبا \U0001f600 \ufeff <|endoftext|> ' \" \\ %s"

    spelt = site.client.post("/v1/notes", headers=headers, json={"text": text})
    pair = site.client.post("/v1/notes", headers=headers, content=b'{"text": "\\ud83d\\ude00"}')
    integers = b'{"text": "a", "metadata": {"x": -9223372036854775808, "y": 9223372036854775807}}'

    assert spelt.json()["text"] == text
    assert pair.json()["text"] == "\U0001f600"
    assert site.client.post("/v1/notes", headers=headers, content=integers).status_code == 201
    assert site.client.post("/v1/notes", headers=headers, content=JUST_DEEP_ENOUGH).status_code == 201
    assert site.client.post(
        "/v1/notes", headers=headers, json={"text": "a", "mood": "calm", "tags": ["x"]}
    ).is_success


def test_a_refusal_of_a_mebibyte_of_faults_is_a_short_answer(site: Site) -> None:
    headers = site.headers() | {"Content-Type": "application/json"}
    unknown = ",".join(f'"x{number}": 1' for number in range(60_000))

    answer = site.client.post("/v1/notes", headers=headers, content=f'{{"text": "a", {unknown}}}')

    assert answer.status_code == 422
    assert answer.json()["errors"] == [{"pointer": "", "message": "has 60000 faults, too many to name"}]


def test_a_refusal_never_repeats_what_was_sent(site: Site) -> None:
    headers = site.headers()
    secret = "sk-Secret-4711"

    answers = [
        site.client.post("/v1/notes", headers=headers, json={"text": "a", secret: 1}),
        site.client.post("/v1/notes", headers=headers, json={"text": {"a": secret}}),
        site.client.post("/v1/notes", headers=headers, json={"text": "a", "mood": secret}),
        site.client.post("/v1/notes", headers=headers, json={"text": "a", "at": secret}),
        site.client.post(
            "/v1/notes", headers=headers | {"Idempotency-Key": f"{secret} {secret}"}, json={"text": "a"}
        ),
        site.client.get("/v1/notes", headers=headers, params={secret: secret}),
        site.client.get("/v1/notes", headers=headers, params={"limit": secret}),
        site.client.get("/v1/notes", headers=headers, params={"cursor": secret}),
        site.client.get(f"/v1/notes/{secret}", headers=headers),
        site.client.get(f"/{secret}", headers=headers),
    ]

    assert [secret in answer.text for answer in answers] == [False] * len(answers)
    assert {answer.status_code for answer in answers} == {404, 422}
    assert answers[0].json()["errors"] == [{"pointer": "/*", "message": "is not a field of this request"}]
    assert answers[1].json()["errors"][0]["pointer"] == "/text"


def test_a_body_over_a_mebibyte_is_413_also_without_a_declared_length(site: Site) -> None:
    headers = site.headers() | {"Content-Type": "application/json"}
    large = b'{"text": "' + b"a" * MEBIBYTE + b'"}'

    declared = site.client.post("/v1/notes", headers=headers, content=large)
    chunked = site.client.post("/v1/notes", headers=headers, content=iter([large[:1000], large[1000:]]))
    fitting = b'{"text": "' + b"a" * (MEBIBYTE - 12) + b'"}'

    assert declared.status_code == chunked.status_code == 413
    assert site.client.post("/v1/notes", headers=headers, content=iter([fitting])).status_code == 201
    assert site.count(OutboxRow) == 1


def test_another_media_type_or_encoding_is_415(site: Site) -> None:
    caller = site.headers()
    answers = [
        site.client.post("/v1/notes", headers=caller | headers, content=b'{"text": "a"}').status_code
        for headers in (
            {},
            {"Content-Type": "text/plain"},
            {"Content-Type": "application/x-www-form-urlencoded"},
            {"Content-Type": "multipart/form-data; boundary=x"},
            {"Content-Type": "application/json", "Content-Encoding": "gzip"},
        )
    ]

    assert answers == [415] * 5
    assert site.count(OutboxRow) == 0


def test_a_query_that_the_call_does_not_take_is_422(site: Site) -> None:
    headers = site.headers()

    answers = {query: site.client.get(f"/v1/notes?{query}", headers=headers) for query in HARD_QUERIES}

    assert {query: answer.status_code for query, answer in answers.items() if answer.status_code != 422} == {}
    assert {answer.headers["Content-Type"] for answer in answers.values()} == {"application/problem+json"}


def test_a_malformed_id_is_404(site: Site) -> None:
    headers = site.headers()
    names = ["x", new_id().upper(), "%00", "a%00b", "%ff", "%ed%a0%80", "..%2f", "a" * 300, "{id}", "1%0a2"]

    statuses = {name: site.client.get(f"/v1/notes/{name}", headers=headers).status_code for name in names}

    assert set(statuses.values()) == {404}, statuses


def test_a_name_in_a_path_that_nothing_can_have_is_404(site: Site) -> None:
    headers = site.headers()

    statuses = [
        site.client.get(f"/v1/names/{name}", headers=headers).status_code
        for name in ("%00", "%ff", "a%0ab", "a" * 201)
    ]

    assert statuses == [404] * 4
    assert site.client.get("/v1/names/caf%C3%A9", headers=headers).json()["text"] == "café"
