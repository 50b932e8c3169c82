"""A batch line by line: good lines are kept, each bad one is named, and repeating it is safe."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import FixedClock
from evidence_site import body, lines, open_evidence_site
from http_support import Site

from service.core.database import Database
from service.entry.http import evidence_batch
from service.evidence.tables import EvidenceRow

MEDIA_TYPE = {"Content-Type": "application/x-ndjson"}


@pytest.fixture
def site(database: Database, tmp_path: Path, clock: FixedClock) -> Iterator[Site]:
    with open_evidence_site(database, tmp_path, clock) as opened:
        yield opened


def send(site: Site, content: bytes, **key: Any) -> dict[str, Any]:
    headers = {**site.headers(**key), **MEDIA_TYPE}
    answer = site.client.post("/v1/evidence/batch", content=content, headers=headers)
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


def test_good_lines_are_kept_and_each_bad_one_is_named(site: Site) -> None:
    secret = "canary-7f3a"  # what was sent is never repeated
    content = lines(
        body("one", "doc://1"),
        b"{",
        b"",
        body("two", "doc://2", unknown=secret),
        body("three", "doc://3", project="nowhere"),
        body("four", "doc://4", readers=["project:nowhere"]),
        body("five", "doc://5", supersedes="01936d7e-5d5c-7c3e-9d0a-6c1f0f3f7a11"),
        b'{"project":"alpha","project":"alpha"}',
        b'{"project":"alpha","text":"\\ud800","source":{"uri":"doc://6","kind":"d"}}',
        b"[" * 100,
        b"\xff",
        body("x" * 1_100_000, "doc://7"),
        body(None, "doc://8"),
        body("nine", "doc://9"),
    )

    answer = send(site, content + b"\n\n")

    assert (answer["accepted"], answer["unchanged"], answer["rejected_count"]) == (2, 0, 11)
    assert [(rejected["line"], rejected["code"]) for rejected in answer["rejected"]] == [
        (2, "malformed_json"),
        (4, "invalid"),
        (5, "not_found"),
        (6, "not_found"),
        (7, "reference_not_found"),
        (8, "malformed_json"),
        (9, "malformed_json"),
        (10, "malformed_json"),
        (11, "malformed_json"),
        (12, "too_large"),
        (13, "invalid"),
    ]
    assert answer["rejected"][0]["type"] == "urn:muniment:problem:malformed_json"
    assert answer["rejected"][1]["errors"][0]["message"] == "is not a field of this request"
    assert secret not in str(answer)
    assert len(answer["ids"]) == site.count(EvidenceRow) == 2


def test_what_a_batch_kept_is_found_at_once(site: Site) -> None:
    send(site, lines(*(body(f"consent for plot {number}", f"doc://{number}") for number in range(250))))

    found = site.client.post(
        "/v1/evidence/search",
        json={"project": "alpha", "query": "consent for plot 249", "limit": 5},
        headers=site.headers(),
    ).json()["items"]

    assert site.runtime.index.count(site.tenants["acme"]) == 250
    assert "consent for plot 249" in [each["text"] for each in found]


def test_one_uri_twice_in_a_batch_is_two_versions_and_again_none(site: Site) -> None:
    content = lines(body("one"), body("two"), body("two"))

    first, second = send(site, content), send(site, lines(body("two")))

    assert len(set(first["ids"] + second["ids"])) == 1
    assert (first["accepted"], first["unchanged"]) == (3, 1)
    assert (second["accepted"], second["unchanged"]) == (1, 1)
    read = site.client.get(f"/v1/evidence/{first['ids'][0]}", headers=site.headers()).json()
    assert (read["version"], read["text"]) == (2, "two")


def test_an_empty_batch_keeps_nothing(site: Site) -> None:
    assert send(site, b"\n \n") == {
        "accepted": 0,
        "unchanged": 0,
        "rejected": [],
        "rejected_count": 0,
        "ids": [],
    }


def test_only_so_many_bad_lines_are_described_but_all_are_counted(site: Site) -> None:
    answer = send(site, b"{\n" * 1_500)

    assert (len(answer["rejected"]), answer["rejected_count"]) == (1_000, 1_500)


def test_lines_beyond_the_most_of_a_batch_are_not_read(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(evidence_batch, "LINES_MAX", 3)

    answer = send(site, lines(*(body(f"text {number}", f"doc://{number}") for number in range(9))))

    assert (answer["accepted"], answer["rejected_count"]) == (3, 1)
    assert (answer["rejected"][0]["line"], answer["rejected"][0]["code"]) == (4, "batch_too_long")


def test_another_media_type_is_refused(site: Site) -> None:
    headers = {**site.headers(), "Content-Type": "application/json"}

    assert site.client.post("/v1/evidence/batch", content=b"{}", headers=headers).status_code == 415


def test_a_role_that_only_reads_sends_no_batch(site: Site) -> None:
    headers = {**site.headers("auditor", subject="auditor-1"), **MEDIA_TYPE}

    assert (
        site.client.post("/v1/evidence/batch", content=lines(body("x")), headers=headers).status_code == 403
    )
