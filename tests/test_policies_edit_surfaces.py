"""Edits from the command line and over HTTP: a file is changed whole or not, a request keeps nothing."""

import json
import shutil
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import FixedClock, sqlite_record
from http_support import Site, open_site
from policies_bundle import FOLDER, PURPOSE, default_bundle, default_files

from service.entry.cli import main
from service.identity.model import Role
from service.policies.load import load_bundle
from service.policies.read_folder import read_folder
from service.policies.tables import PolicyVersionRow
from service.policies.write_folder import FileChanged, replace_file

ROLES = [role for role in Role if role is not Role.SYSTEM]
DAYS = "classes.preference.expiry.days"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return Path(shutil.copytree(FOLDER, tmp_path / "policies"))


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    folder = tmp_path_factory.mktemp("site")
    database = sqlite_record(folder / "record.db")
    with open_site(database, folder / "data", FixedClock()) as opened:
        yield opened
    database.close()


def _run(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str]:
    code = main(["policy", *words])
    return code, capsys.readouterr().out


def _post(site: Site, body: Any, role: Role = Role.POLICY_AUTHOR) -> Any:
    headers = site.headers(role, subject="author-1")
    return site.client.post("/v1/policies/edits", headers=headers, json=body)


def test_a_value_is_set_and_the_difference_printed(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "classes.yaml").chmod(0o640)

    code, out = _run(capsys, "set", str(folder), DAYS, "180")

    assert code == 0
    assert "-    expiry: {days: 365, counted_from: confirmation}\n+    expiry: {days: 180, counted" in out
    assert out.endswith("\nwritten\n")
    changed = read_folder(folder)
    assert changed["classes.yaml"] == default_files()["classes.yaml"].replace("days: 365", "days: 180", 1)
    assert {**changed, "classes.yaml": ""} == {**default_files(), "classes.yaml": ""}
    assert stat.S_IMODE((folder / "classes.yaml").stat().st_mode) == 0o640
    assert not [path for path in folder.iterdir() if path.name.startswith(".")]


def test_a_dry_run_and_what_would_not_load_write_nothing(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    dry, told = _run(capsys, "set", str(folder), DAYS, "180", "--dry-run")
    bad, said = _run(capsys, "set", str(folder), DAYS, "many")
    unset, _ = _run(capsys, "unset", str(folder), "classes.preference.because")
    same, nothing = _run(capsys, "set", str(folder), DAYS, "365")
    vague, why = _run(capsys, "set", str(folder), DAYS, "NO")

    assert (dry, bad, unset, same, vague) == (0, 1, 1, 0, 1)
    assert "+    expiry: {days: 180" in told
    assert f"{folder}/classes.yaml:" in said
    assert "bad_value" in said
    assert nothing == "it says so already: nothing is written\n"
    assert why.startswith("VALUE:1:1: error ambiguous: `NO` is a boolean")
    assert read_folder(folder) == default_files()


def test_values_are_read_as_files_are_or_as_text(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["set", str(folder), "classes.preference.because"]

    refused, _ = _run(capsys, *words, "people said: no")
    done, _ = _run(capsys, *words, "people said: no", "--text")
    lists, _ = _run(capsys, "set", str(folder), "classes.preference.writers", "[agent]")

    assert (refused, done, lists) == (1, 0, 0)
    preference = load_bundle(read_folder(folder)).classes["preference"]
    assert preference.because == "people said: no"
    assert [role.value for role in preference.writers] == ["agent"]


def test_json_tells_the_same(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out = _run(capsys, "unset", str(folder), "classes.preference.value", "--json")

    answer = json.loads(out)
    assert (code, answer["valid"], answer["written"], answer["findings"]) == (0, True, True, [])
    assert answer["version"] == load_bundle(read_folder(folder)).version
    assert [change["file"] for change in answer["changes"]] == ["classes.yaml"]


def test_a_folder_with_windows_lines_keeps_them(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    classes = folder / "classes.yaml"
    before = classes.read_bytes().replace(b"\n", b"\r\n")
    classes.write_bytes(before)

    code, _ = _run(capsys, "set", str(folder), DAYS, "180")

    assert code == 0
    assert classes.read_bytes() == before.replace(b"days: 365", b"days: 180", 1)


def test_what_somebody_else_wrote_meanwhile_is_not_overwritten(folder: Path) -> None:
    target = folder / "purposes.yaml"
    before = target.read_text()
    target.write_text(PURPOSE)

    with pytest.raises(FileChanged):
        replace_file(folder, "purposes.yaml", before, "purposes: {}\n")

    assert target.read_text() == PURPOSE
    assert [path.name for path in folder.iterdir() if path.name.startswith(".")] == []


def test_what_a_crash_left_is_in_nobodys_way(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / ".classes.yaml.new").write_text("half")

    assert _run(capsys, "set", str(folder), DAYS, "180")[0] == 0
    assert _run(capsys, "lint", str(folder))[0] == 0


def test_a_link_is_not_written_through(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    outside = folder.parent / "outside.yaml"
    (folder / "classes.yaml").rename(outside)
    (folder / "classes.yaml").symlink_to(outside)
    before = outside.read_bytes()

    code, out = _run(capsys, "set", str(folder), DAYS, "180")

    assert code == 1
    assert "not_a_file" in out
    assert outside.read_bytes() == before


def test_over_http_edits_answer_files_and_keep_nothing(site: Site) -> None:
    edits = [{"path": DAYS, "value": 180}, {"path": "classes.preference.value", "remove": True}]

    answer = _post(site, {"files": dict(default_files()), "edits": edits})

    assert answer.status_code == 200
    body = answer.json()
    assert (body["valid"], body["findings"]) == (True, [])
    bundle = load_bundle(body["files"])
    assert bundle.version == body["version"] != default_bundle().version
    assert [change["file"] for change in body["changes"]] == ["classes.yaml"]
    assert "+    expiry: {days: 180" in body["changes"][0]["diff"]
    assert site.count(PolicyVersionRow) == 0


def test_over_http_what_would_not_load_is_a_finding_with_its_place(site: Site) -> None:
    answer = _post(
        site, {"files": {"a.yaml": PURPOSE}, "edits": [{"path": "purposes.service.x", "value": 1}]}
    )

    body = answer.json()
    assert (answer.status_code, body["valid"], body["files"], body["version"]) == (200, False, None, None)
    (found,) = body["findings"]
    assert (found["file"], found["line"], found["column"], found["code"]) == ("a.yaml", 4, 5, "unknown_key")
    assert body["changes"][0]["diff"].endswith("+    x: 1\n")


@pytest.mark.parametrize("path", ["../a.yaml", "/etc/passwd", "a/../b.yaml", "A.yaml"])
def test_over_http_no_name_leads_out_of_the_bundle(site: Site, path: str) -> None:
    edits = [{"path": "purposes.service.description", "value": "x", "file": path}]

    unknown = _post(site, {"files": {"a.yaml": PURPOSE}, "edits": edits}).json()
    named = _post(site, {"files": {"a.yaml": PURPOSE, path: PURPOSE}, "edits": edits}).json()

    assert unknown["files"] is named["files"] is None
    assert [one["code"] for one in unknown["findings"]] == ["bad_edit"]
    assert {one["code"] for one in named["findings"]} <= {"unexpected_file", "bad_edit"}


@pytest.mark.parametrize(
    "edit",
    [
        {}, {"path": DAYS}, {"path": DAYS, "value": 1, "remove": True}, {"path": "", "value": 1},
        {"path": 1, "value": 1},
        {"path": "a" * 501, "value": 1}, {"path": DAYS, "value": 1, "exec": "x"},
        {"path": DAYS, "remove": "yes"},
    ],
)  # fmt: skip
def test_over_http_an_edit_of_another_shape_is_422(site: Site, edit: dict[str, Any]) -> None:
    assert _post(site, {"files": {"a.yaml": PURPOSE}, "edits": [edit]}).status_code == 422
    assert _post(site, {"files": {"a.yaml": PURPOSE}, "edits": []}).status_code == 422


@pytest.mark.parametrize("role", ROLES)
def test_only_authors_and_admins_of_policy_edit(site: Site, role: Role) -> None:
    allowed = role in (Role.POLICY_AUTHOR, Role.POLICY_ADMIN)
    body = {"files": {"a.yaml": PURPOSE}, "edits": [{"path": "purposes.service.description", "value": "x"}]}

    assert _post(site, body, role).status_code == (200 if allowed else 403)
