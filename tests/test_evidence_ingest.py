"""`muniment ingest` against a running service: what it sends, what it leaves out, and its exit codes."""

import json
import socket
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from conftest import FixedClock, sqlite_record
from evidence_site import body, lines, open_evidence_site
from http_support import Site

from service.client import Muniment, Problem
from service.entry.cli import main
from service.wire.evidence import AddEvidence, Grep, SearchEvidence, SourceFields


@dataclass
class Served:
    site: Site
    url: str


@pytest.fixture
def served(tmp_path: Path, clock: FixedClock) -> Iterator[Served]:
    database = sqlite_record(tmp_path / "record.db")
    with open_evidence_site(database, tmp_path / "data", clock) as site, socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        config = uvicorn.Config(site.client.app, log_config=None, lifespan="off", ws="none")
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, args=([listening],), daemon=True)
        thread.start()
        yield Served(site, f"http://127.0.0.1:{listening.getsockname()[1]}")
        server.should_exit = True
        thread.join(20)
    database.close()


def ingest(
    served: Served, *arguments: str | Path, capsys: pytest.CaptureFixture[str], token: str | None = None
) -> tuple[int, dict[str, Any]]:
    capsys.readouterr()
    known = served.site.token() if token is None else token
    words = ["ingest", "--project", "alpha", "--url", served.url, "--token", known, "--json"]
    code = main([*words, *map(str, arguments)])
    # The service runs in this process and logs to the same output: the summary is the last line of JSON.
    said = [line for line in capsys.readouterr().out.splitlines() if line.startswith("{")]
    return code, json.loads(said[-1]) if said else {}


def test_a_folder_is_sent_once_and_again_only_what_changed(
    served: Served, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "case"
    (folder / "deep").mkdir(parents=True)
    (folder / "plot.md").write_text("# Plot 18\n\nConsent granted.")
    (folder / "deep" / "rows.csv").write_text("plot,state\n18,granted\n")
    (folder / ".hidden").write_text("not sent")

    first = ingest(served, folder, capsys=capsys)
    (folder / "plot.md").write_text("# Plot 18\n\nConsent refused.")
    second = ingest(served, folder, capsys=capsys)

    assert [(code, each["accepted"], each["unchanged"]) for code, each in (first, second)] == [
        (0, 2, 0),
        (0, 2, 1),
    ]
    with Muniment(served.url, served.site.token()) as client:
        found = client.search_evidence(SearchEvidence(project="alpha", query="consent")).items
    assert found[0].source.uri == "doc://case/plot.md"
    assert found[0].version == 2


def test_json_lines_are_sent_as_items_and_bad_ones_named(
    served: Served, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "items.jsonl"
    without_project = {name: value for name, value in body("two", "doc://2").items() if name != "project"}
    file.write_bytes(lines(body("one", "doc://1"), without_project, b"{", b"[1]"))

    code, summary = ingest(served, file, capsys=capsys)

    assert (code, summary["accepted"], summary["skipped_count"]) == (1, 2, 2)
    assert [(each["line"], each["reason"]) for each in summary["skipped"]] == [
        (3, "malformed_json"),
        (4, "invalid"),
    ]


def test_what_cannot_be_read_is_left_out_with_its_reason(
    served: Served, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.bin").write_bytes(b"\x00")
    (tmp_path / "in" / "b.pdf").write_bytes(b"broken")
    (tmp_path / "in" / "c.txt").write_text("kept")

    code, summary = ingest(served, tmp_path / "in", capsys=capsys)

    assert (code, summary["accepted"]) == (1, 1)
    assert [(each["path"], each["reason"]) for each in summary["skipped"]] == [
        ("in/a.bin", "file_unreadable"),
        ("in/b.pdf", "file_unreadable"),
    ]


def test_a_wrong_token_a_silent_service_and_a_missing_path_end_with_their_codes(
    served: Served, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "a.txt"
    file.write_text("text")

    assert ingest(served, file, capsys=capsys, token="mun_no_no")[0] == 1
    assert ingest(Served(served.site, "http://127.0.0.1:9"), file, capsys=capsys)[0] == 1
    assert ingest(served, tmp_path / "nothing", capsys=capsys)[0] == 2


def test_the_client_makes_every_call_of_evidence(served: Served) -> None:
    source = SourceFields(uri="doc://plots/18", kind="document")
    new = AddEvidence(project="alpha", text="Plot 18: consent granted.", source=source)

    with Muniment(served.url, served.site.token()) as client:
        kept = client.add_evidence(new)
        batch = client.add_evidence_batch([new, b"{"])
        assert (batch.ids, batch.unchanged, batch.rejected_count) == ([kept.id], 1, 1)
        assert client.get_evidence(kept.id).text == "Plot 18: consent granted."
        assert client.read_evidence_text(kept.id, start=0, end=7).text == "Plot 18"
        assert client.grep_evidence(kept.id, Grep(pattern="consent")).matches[0].span.start == 9
        assert client.delete_evidence(kept.id).deleted
        with pytest.raises(Problem) as gone:
            client.get_evidence(kept.id)
    assert (gone.value.status, gone.value.code) == (404, "not_found")
