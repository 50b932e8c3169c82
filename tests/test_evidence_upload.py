"""Files over HTTP: each format is kept as its text, and what cannot be read leaves no row."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from conftest import FixedClock
from evidence_site import body, open_evidence_site
from http_support import Site
from test_adapters_files import pdf_of

from service.core.database import Database
from service.evidence.tables import EvidenceRow


@pytest.fixture
def site(database: Database, tmp_path: Path, clock: FixedClock) -> Iterator[Site]:
    with open_evidence_site(database, tmp_path, clock) as opened:
        yield opened


def upload(
    site: Site, name: str, content: bytes, media_type: str = "application/octet-stream", **fields: Any
) -> httpx2.Response:
    return site.client.post(
        "/v1/evidence",
        files={"file": (name, content, media_type)},
        data={"meta": json.dumps({**body(None, f"doc://files/{name}"), **fields})},
        headers=site.headers(),
    )


@pytest.mark.parametrize(
    ("name", "content", "text", "media_type"),
    [
        ("plain.txt", "Plot 18 \u2713".encode(), "Plot 18 \u2713", "text/plain"),
        ("notes.md", b"# Plot 18\n\nconsent", "# Plot 18\n\nconsent", "text/markdown"),
        ("page.html", b"<p>Plot <b>18</b></p><script>x()</script>", "Plot 18", "text/html"),
        ("scan.pdf", pdf_of("Plot 18"), "Plot 18", "application/pdf"),
        ("data.json", b'{"plot":18}', '{\n "plot": 18\n}', "application/json"),
        ("rows.csv", b"plot,state\r\n18,granted\r\n", "plot,state\r\n18,granted\r\n", "text/csv"),
    ],
)
def test_a_file_is_kept_as_its_text_under_its_own_name(
    site: Site, name: str, content: bytes, text: str, media_type: str
) -> None:
    answer = upload(site, name, content)

    assert answer.status_code == 201, answer.text
    read = site.client.get(f"/v1/evidence/{answer.json()['id']}", headers=site.headers()).json()
    assert (read["text"], read["media_type"], read["title"]) == (text, media_type, name)


def test_the_same_file_again_is_the_same_version(site: Site) -> None:
    statuses = [upload(site, "a.txt", b"text").status_code for _ in range(2)]

    assert statuses == [201, 200]


@pytest.mark.parametrize(
    ("name", "content", "media_type"),
    [
        ("a.exe", b"MZ", "application/octet-stream"),
        ("a.zip", b"PK", "application/zip"),
        ("a.txt", b"\xff\xfe", "text/plain"),
        ("a.txt", b"", "text/plain"),
        ("a.pdf", b"%PDF-1.7 broken", "application/pdf"),
        ("a.pdf", pdf_of("x", password="p"), "application/pdf"),
        ("a.json", b'{"a":NaN}', "application/json"),
        ("a.html", b"<script>only()</script>", "text/html"),
    ],
)
def test_a_file_that_cannot_be_read_is_refused_and_leaves_no_row(
    site: Site, name: str, content: bytes, media_type: str
) -> None:
    answer = upload(site, name, content, media_type)

    assert (answer.status_code, answer.json()["code"]) == (415, "file_unreadable")
    assert site.count(EvidenceRow) == 0


def test_a_file_beside_a_text_is_refused(site: Site) -> None:
    assert upload(site, "a.txt", b"text", text="another").status_code == 422


def test_a_file_for_a_project_of_others_is_not_found_before_it_is_read(site: Site) -> None:
    assert upload(site, "a.pdf", b"broken", project="nowhere").status_code == 404
