"""Whatever a policy file holds: a message with its place, soon, in little memory; no crash, no permission."""

import json
import os
import time
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import FixedClock, sqlite_record
from http_support import Site, open_site
from policies_bad_input import BAD, Bad
from policies_bundle import PURPOSE, default_files
from structlog.testing import capture_logs

from service.entry.cli import main
from service.entry.policies_folder import warn_of_broken_policies
from service.identity.model import Role
from service.policies.load import inspect_files, load_bundle

SECONDS_MAX = 4
"""Alone each takes less than one; the machine is shared."""
MEGABYTES_MAX = 100

each_bad = pytest.mark.parametrize("bad", BAD, ids=[bad.name for bad in BAD])
TEXTS = [bad for bad in BAD if bad.text is not None]
each_text = pytest.mark.parametrize("bad", TEXTS, ids=[bad.name for bad in TEXTS])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "policies"
    folder.mkdir()
    (folder / "good.yaml").write_text(PURPOSE)
    return folder


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    # Validation keeps nothing: one database does, for all.
    folder = tmp_path_factory.mktemp("site")
    database = sqlite_record(folder / "record.db")
    with open_site(database, folder / "data", FixedClock()) as opened:
        yield opened
    database.close()


@each_bad
def test_the_command_tells_the_place_and_answers_1(
    bad: Bad, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "bad.yaml").write_bytes(bad.content)
    started = time.process_time()

    code = main(["policy", "lint", str(folder)])

    said = capsys.readouterr()
    place = f"{folder}/bad.yaml:{bad.line}:{bad.column}: error {bad.code}: "
    assert code == 1
    assert any(line.startswith(place) for line in said.out.splitlines()), said.out[:2_000]
    assert "valid:" not in said.out
    assert "Traceback" not in said.out + said.err
    assert time.process_time() - started < SECONDS_MAX


@each_text
def test_over_http_it_is_a_finding_or_a_refused_body(bad: Bad, site: Site) -> None:
    headers = site.headers(Role.POLICY_AUTHOR, subject="author-1")
    body = {"files": {"bad.yaml": bad.text, "good.yaml": PURPOSE}}
    started = time.process_time()

    answer = site.client.post("/v1/policies/validate", headers=headers, json=body)

    assert time.process_time() - started < SECONDS_MAX
    if bad.name in ("ten_megabytes", "nul"):
        # No body holds them at all.
        assert answer.status_code == {"ten_megabytes": 413, "nul": 422}[bad.name]
        return
    told = [(one["file"], one["code"], one["line"], one["column"]) for one in answer.json()["findings"]]
    assert (answer.status_code, answer.json()["valid"], answer.json()["version"]) == (200, False, None)
    assert ("bad.yaml", bad.code, bad.line, bad.column) in told


def test_over_http_bytes_that_are_no_text_are_refused(site: Site) -> None:
    headers = {**site.headers(Role.POLICY_AUTHOR, subject="a"), "Content-Type": "application/json"}

    answer = site.client.post(
        "/v1/policies/validate", headers=headers, content=b'{"files": {"bad.yaml": "\xff\xfe"}}'
    )

    assert answer.status_code == 422


def test_serve_is_told_the_place_and_no_word_of_it(folder: Path) -> None:
    for bad in BAD:
        (folder / "bad.yaml").write_bytes(bad.content)
        with capture_logs() as logs:
            warn_of_broken_policies(folder)

        (told,) = logs
        assert (told["event"], told["log_level"]) == ("policies_folder_broken", "warning"), bad.name
        assert f"bad.yaml:{bad.line}:{bad.column} {bad.code}" in told["places"], bad.name
        assert len(str(told)) < 1_500
    (folder / "bad.yaml").unlink()

    with capture_logs() as quiet:
        warn_of_broken_policies(folder)
    with capture_logs() as missing:
        warn_of_broken_policies(folder / "nowhere")
    assert quiet == []
    assert missing[0]["places"] == ["nowhere:1:1 no_folder"]


@pytest.mark.parametrize(
    "words", [["test"], ["set", "purposes.service.description", "Else."]], ids=["test", "set"]
)
def test_no_other_command_runs_on_it_or_writes_it(
    words: list[str], folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for bad in BAD:
        (folder / "bad.yaml").write_bytes(bad.content)

        code = main(["policy", words[0], str(folder), *words[1:]])

        said = capsys.readouterr()
        assert code == 1, bad.name
        assert f"{folder}/bad.yaml:{bad.line}:{bad.column}: " in said.out, bad.name
        assert "Traceback" not in said.out + said.err
        assert (folder / "bad.yaml").read_bytes() == bad.content
        assert (folder / "good.yaml").read_text() == PURPOSE


@pytest.mark.parametrize(
    ("path", "more", "expected"),
    [
        ("simulations", {}, 422),
        ("differences", {}, 422),
        ("edits", {"edits": [{"path": "purposes.service.description", "value": "Else."}]}, 200),
    ],
)
def test_over_http_no_other_call_takes_it(path: str, more: dict[str, Any], expected: int, site: Site) -> None:
    headers = site.headers(Role.POLICY_AUTHOR, subject="author-1")
    for bad in TEXTS:
        body = {"files": {"bad.yaml": bad.text, "good.yaml": PURPOSE}, **more}

        answer = site.client.post(f"/v1/policies/{path}", headers=headers, json=body)

        refused = {"ten_megabytes": 413, "nul": 422}.get(bad.name, expected)
        assert answer.status_code == refused, (bad.name, answer.text[:300])
        if refused == 200:
            assert answer.json()["files"] is None
        elif bad.name not in ("ten_megabytes", "nul"):
            assert answer.json()["code"] == "bundle_invalid"
            assert f"bad.yaml:{bad.line}:{bad.column}: " in answer.text


@each_bad
def test_no_tenant_is_founded_on_it(
    bad: Bad, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "bad.yaml").write_bytes(bad.content)
    monkeypatch.setenv("MUNIMENT_DATA_DIR", str(folder.parent / "data"))
    monkeypatch.setenv("MUNIMENT_POLICIES_DIR", str(folder))

    code = main(["tenants", "create", "acme"])

    said = capsys.readouterr()
    assert (code, said.out) == (2, "")
    assert f"bad.yaml:{bad.line}:{bad.column}: error {bad.code}: " in said.err
    assert "Traceback" not in said.err
    assert main(["tenants", "list", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"items": []}


@each_text
def test_it_is_refused_in_little_memory(bad: Bad) -> None:
    assert bad.text is not None
    tracemalloc.start()

    found = inspect_files({"bad.yaml": bad.text, "good.yaml": PURPOSE})

    _, peak_bytes = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert found.bundle is None
    assert peak_bytes < MEGABYTES_MAX * 1024 * 1024


@pytest.mark.parametrize("kind", ["link", "link_to_folder", "outside", "pipe", "folder_of_a_name", "loop"])
def test_what_is_no_file_of_the_folder_is_not_read(
    kind: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bad, secret = folder / "bad.yaml", folder.parent / "secret.yaml"
    secret.write_text("TOP-SECRET: 1\n")
    match kind:
        case "link":
            bad.symlink_to(secret)
        case "link_to_folder":
            bad.symlink_to(folder.parent)
        case "outside":
            bad.symlink_to(Path("..") / "secret.yaml")
        case "pipe":
            os.mkfifo(bad)
        case "folder_of_a_name":
            (bad / "x").mkdir(parents=True)
            (bad / "x" / "Y.txt").write_text("")
        case "loop":
            bad.symlink_to(bad)

    code = main(["policy", "lint", str(folder)])

    said = capsys.readouterr().out
    assert code == 1
    assert "bad.yaml" in said
    assert ":1:1: error " in said
    assert "TOP-SECRET" not in said


@pytest.mark.parametrize(
    "path", ["../a.yaml", "/etc/a.yaml", "a/../b.yaml", "A.yaml", "a.yml", "tests/.yaml", ""]
)
def test_over_http_a_name_outside_of_a_bundle_is_refused(path: str, site: Site) -> None:
    headers = site.headers(Role.POLICY_AUTHOR, subject="author-1")

    answer = site.client.post(
        "/v1/policies/validate", headers=headers, json={"files": {path: PURPOSE, "good.yaml": PURPOSE}}
    )

    assert answer.status_code == 422 or "unexpected_file" in answer.text


def test_lines_may_end_as_on_windows_and_the_version_is_the_same() -> None:
    windows = {path: text.replace("\n", "\r\n") for path, text in default_files().items()}

    assert load_bundle(windows).version == load_bundle(default_files()).version
    assert load_bundle(windows) == load_bundle(default_files())


def test_a_place_in_a_file_with_windows_lines_is_that_of_the_editor() -> None:
    (found,) = inspect_files({"a.yaml": "purposes:\r\n  other:\r\n    description: NO\r\n"}).findings

    assert (found.code, found.place.line, found.place.column) == ("ambiguous", 3, 18)
