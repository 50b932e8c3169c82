"""A manifest is read strictly; each fault is told with its line and column."""

import json
from pathlib import Path

import pytest

from service.entry.rehearse.manifest import Manifest
from service.entry.rehearse.read_manifest import ManifestInvalid, read_manifest

EXAMPLE = Path(__file__).parents[1] / "examples" / "agents" / "shop.yaml"
SMALL = """\
scenarios:
  one:
    run:
      objective: Write a note.
      requirements: [{id: note, text: There is a note.}]
      tasks: [{id: write, outputs: [note]}]
    graders:
      reader: {requirements: [note], command: [test, -f, note.md]}
    constraints:
      short: {files: "*.md", must_match: "^.{1,80}$"}
"""


def read(folder: Path, text: str, *, name: str = "manifest.yaml") -> Manifest:
    path = folder / name
    path.write_text(text)
    return read_manifest(path)


def faults(folder: Path, old: str, new: str) -> list[str]:
    assert old in SMALL
    with pytest.raises(ManifestInvalid) as fault:
        read(folder, SMALL.replace(old, new, 1))
    return [str(finding).removeprefix(f"{folder}/") for finding in fault.value.findings]


def test_the_example_is_read() -> None:
    manifest = read_manifest(EXAMPLE)

    assert list(manifest.scenarios) == ["restock", "survey"]
    assert manifest.scenarios["restock"].run.turns[0].pin is not None


def test_what_is_left_out_has_a_useful_value(tmp_path: Path) -> None:
    manifest = read(tmp_path, SMALL)

    assert (manifest.trials, manifest.uninterrupted, manifest.limits.lease_seconds) == (1, 2, 5)
    assert manifest.scenarios["one"].reaches == "completed"


@pytest.mark.parametrize(
    ("old", "new", "place", "words"),
    [
        ("objective", "objektive", "4:7", "did you mean `objective`?"),
        ("command: [test, -f, note.md]", "command: []", "8:47", "at least 1 item"),
        (
            "reader: {requirements: [note]",
            "reader: {requirements: [nota]",
            "3:5",
            "`nota`, which the run does not require",
        ),
        ('must_match: "^.{1,80}$"', 'must_match: "("', "10:42", "not a regular expression"),
        ('must_match: "^.{1,80}$"', "must_nt: a", "10:30", "is not known here"),
        (', must_match: "^.{1,80}$"', "", "10:14", "either must_match or must_not_match"),
        ('files: "*.md"', 'files: "../*.md"', "10:22", "without `..`"),
        ('files: "*.md"', 'files: "a/**b"', "10:22", "not a pattern of files"),
        ("outputs: [note]", 'inputs: ["evidence:case"]', "4:7", "no evidence has that name"),
        ("objective: Write a note.", "objective: no", "4:18", "boolean to some readers"),
        ("  one:", "  One:", "2:3", "match pattern"),
        ("    run:", "    reaches: done\n    run:", "3:14", "this should be 'completed'"),
        ("    run:", "    work: fixtures\n    run:", "3:11", "there is no such folder"),
        ("scenarios:", "policies: elsewhere\nscenarios:", "1:11", "there is no such folder"),
        ("scenarios:", "trials: 0\nscenarios:", "1:9", "greater than or equal to 1"),
        ("scenarios:", "limits: {lease_seconds: 1}\nscenarios:", "1:25", "greater than or equal to 5"),
    ],
)
def test_each_fault_is_told_with_its_place(
    tmp_path: Path, old: str, new: str, place: str, words: str
) -> None:
    found = faults(tmp_path, old, new)

    assert [fault for fault in found if words in fault and f".yaml:{place}: " in fault], found


def test_json_is_read_too_with_characters_beyond_16_bits(tmp_path: Path) -> None:
    document = {
        "scenarios": {"one": {"run": {"objective": 'Smile \U0001f600, and keep \\ud83d " as it is.'}}}
    }

    manifest = read(tmp_path, json.dumps(document), name="manifest.json")

    assert manifest.scenarios["one"].run.objective == document["scenarios"]["one"]["run"]["objective"]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"\xff\xfe", "not UTF-8"),
        (b"a" * 300_000, "a file has at most"),
        (b"", "an empty file"),
        (b"[1, 2]", "a file begins with one of these keys"),
        (b"scenarios: {}", "at least 1 item"),
        (b"scenarios: &a {b: *a}", "an anchor"),
    ],
)
def test_what_is_no_manifest_at_all_is_told_too(tmp_path: Path, content: bytes, words: str) -> None:
    path = tmp_path / "manifest.yaml"
    path.write_bytes(content)

    with pytest.raises(ManifestInvalid, match=words):
        read_manifest(path)


def test_a_file_that_is_not_there_is_told_without_a_trace(tmp_path: Path) -> None:
    with pytest.raises(ManifestInvalid, match="cannot be read"):
        read_manifest(tmp_path / "none.yaml")
