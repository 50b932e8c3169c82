"""Whatever a policy file holds: a message with its place, soon, in little memory; no crash, no permission."""

import json
import os
import time
import tracemalloc
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import FixedClock, sqlite_record
from http_support import Site, open_site
from policies_bad_input import BAD, Bad
from policies_bundle import PURPOSE, default_files

from service.entry.cli import main
from service.identity.model import Role
from service.policies.findings import FINDINGS_MAX, Severity, at_most, nearest
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


def test_thousands_of_unknown_names_beside_thousands_of_known_ones_are_told_soon() -> None:
    # A minute and more, before the nearest name was looked for among the likeliest alone.
    purposes = "purposes:\n" + "".join(f"  purpose_long_name_{n}: {{description: d}}\n" for n in range(3_000))
    note = "  note_{}: {{because: x, scope: project, purposes: [{}], refuses: business_fact}}\n"
    unknown = [f"purpose_lang_name_{n}" for n in range(1_500)]
    classes = "classes:\n" + "".join(note.format(n, name) for n, name in enumerate(unknown))
    started = time.process_time()

    found = inspect_files({"a.yaml": purposes, "b.yaml": classes})

    assert time.process_time() - started < 2 * SECONDS_MAX
    assert {finding.code for finding in found.findings} == {"undeclared"}
    assert len(found.findings) == FINDINGS_MAX


def test_a_thousand_alike_sources_are_each_told_once() -> None:
    # Each with each were half a million findings.
    source = "  s{}: {{uri_prefix: a, trust: external_tool, ceiling: conversation}}\n"
    alike = "sources:\n" + "".join(source.format(n) for n in range(1_000))

    found = inspect_files({"a.yaml": alike})

    assert len(found.findings) == FINDINGS_MAX
    assert {finding.code for finding in found.findings} == {"ambiguous_source"}


def test_thousands_of_empty_lists_are_refused_soon() -> None:
    classes = "classes:\n" + "".join(f"  c{n}: {{purposes: [], writers: []}}\n" for n in range(3_000))
    started = time.process_time()

    assert inspect_files({"a.yaml": classes}).bundle is None
    assert time.process_time() - started < SECONDS_MAX


def test_no_number_of_warnings_hides_an_error() -> None:
    instructions = {f"instructions/n{n}.md": "Unused.\n" for n in range(150)}
    needs = "capability: nobody_has, approval: not_needed, approver: reviewer, longest_expiry_hours: 1"
    roles = "commands:\n" + "".join(f"  c.n{n}: {{{needs}}}\n" for n in range(600))
    bad = "classes:\n  note: {because: x, scope: project, purposes: [nowhere], refuses: business_fact}\n"

    found = inspect_files({**instructions, "a.yaml": PURPOSE, "b.yaml": roles, "c.yaml": bad})

    assert found.bundle is None
    assert [one.code for one in found.findings if one.severity is Severity.ERROR] == ["undeclared"]
    assert len(at_most(found.findings, 1)) == 2


def test_a_look_alike_letter_is_named() -> None:
    (found,) = inspect_files({"a.yaml": "cl\u0430sses: {}\n", "good.yaml": PURPOSE}).findings

    assert "did you mean `classes`?" in found.message
    assert "U+0430 CYRILLIC SMALL LETTER A" in found.message


def test_of_many_known_names_some_are_listed() -> None:
    hint = nearest("zzz", [f"name_{n}" for n in range(5_000)])

    assert hint.endswith(" and 4970 more")
    assert len(hint) < 1_000
