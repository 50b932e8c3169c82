"""A bundle is whole or it is not loaded; its version says what it decides, not how it is laid out."""

from pathlib import Path

import pytest
from policies_bundle import FOLDER, PURPOSE, default_bundle, default_files, findings_of, only_finding

from service.identity.model import Role
from service.policies.findings import BundleInvalid, Severity
from service.policies.load import inspect_files, load_bundle
from service.policies.model import NO_BUNDLE
from service.policies.read_folder import read_folder
from service.policies.words import SectionName, ToolEffect


def with_text(path: str, old: str, new: str) -> dict[str, str]:
    files = dict(default_files())
    assert old in files[path]
    files[path] = files[path].replace(old, new, 1)
    return files


def findings_after(path: str, old: str, new: str) -> list[str]:
    return [str(finding) for finding in inspect_files(with_text(path, old, new)).findings]


def test_an_unknown_key_is_named_with_the_nearest_that_is_known() -> None:
    finding = only_finding("purposes:\n  service:\n    description: Work.\n    descripton: Work.\n")

    assert str(finding) == (
        "purposes.yaml:4:5: error unknown_key: `descripton` is not known here: did you mean `description`?"
    )


@pytest.mark.parametrize(
    ("path", "old", "new", "expected"),
    [
        ("classes.yaml", "consent_needed: true", "consent_neded: true", "did you mean `consent_needed`?"),
        ("classes.yaml", "consent_needed: true", "consent_needed: false", "the lawful basis is consent"),
        ("classes.yaml", "scope: user", "scope: usr", "did you mean `user`?"),
        ("classes.yaml", "scope: user", "scope: 1", "this should be 'user' or 'project'"),
        ("classes.yaml", "quota: 200", 'quota: "200"', "valid integer"),
        ("classes.yaml", "quota: 200", "quota: 200\n    name: other", "the name is the key above"),
        ("classes.yaml", "    quota: 200\n", "", "needs: quota"),
        ("classes.yaml", "days: 365", "days: 0", "say after how many days, 1 to 36500"),
        ("classes.yaml", "purposes: [contact]", "purposes: [contcat]", "did you mean `contact`?"),
        ("classes.yaml", "lowest_trust: internal_tool", "lowest_trust: any", "this should be 'first_party'"),
        ("classes.yaml", "[conversation, tool, register]", "[chat]", "source `chat` is not declared"),
        ("classes.yaml", "preference:", "Preference:", "it should match pattern"),
        ("classes.yaml", "refuses: business_fact", "refuses: nothing", "this should be 'business_fact'"),
        ("profiles.yaml", "instructions/acting.md", "instructions/actng.md", "did you mean"),
        ("profiles.yaml", "overflow: error, required", "overflow: drop, required", "required section"),
        ("profiles.yaml", "      limits:", "      limit:", "did you mean `limits`?"),
        ("sources.yaml", 'uri_prefix: "doc://"', 'uri_prefix: "tool://"', "covers the same addresses"),
        ("access.yaml", "approver: reviewer", "approver: agent", "name one of user, reviewer, operator"),
        ("retention.yaml", "text: none", "text: some", "this should be 'full' or 'none'"),
        ("tests/preference.yaml", "decision: approved", "decision: aproved", "did you mean `approved`?"),
        ("tests/preference.yaml", "T10:00:00Z", "T10:00:00", "timezone"),
    ],
)  # fmt: skip
def test_each_fault_says_what_would_be_right(path: str, old: str, new: str, expected: str) -> None:
    found = findings_after(path, old, new)

    assert any(expected in line for line in found), found
    assert all(line.startswith(f"{path}:") for line in found)


def test_a_missing_key_is_told_at_its_mapping_with_what_it_is_for() -> None:
    finding = only_finding("purposes:\n  service: {}\n")

    assert (finding.place.line, finding.code) == (2, "missing_key")
    assert "What a person reads who is asked for consent." in finding.message


def test_a_name_stands_in_one_file_only() -> None:
    found = inspect_files({"a.yaml": PURPOSE, "b.yaml": PURPOSE})

    assert found.bundle is None
    assert [str(finding) for finding in found.findings] == [
        "b.yaml:2:3: error defined_twice: `service` stands in a.yaml already: keep one"
    ]


def test_findings_of_all_files_are_told_at_once() -> None:
    found = inspect_files({"a.yaml": "purposes: NO\n", "b.yaml": "nothing: {}\n", "C.yml": ""})

    assert {finding.file for finding in found.findings} == {"a.yaml", "b.yaml", "C.yml"}


@pytest.mark.parametrize(
    "path", ["../a.yaml", "/a.yaml", "a.yml", "A.yaml", "a b.yaml", "instructions/a.txt", ""]
)
def test_a_path_that_is_no_bundle_file_is_a_finding(path: str) -> None:
    found = inspect_files({"a.yaml": PURPOSE, path: PURPOSE})

    assert found.bundle is None
    assert [finding.code for finding in found.findings] == ["unexpected_file"]


def test_no_file_is_no_bundle() -> None:
    with pytest.raises(BundleInvalid):
        load_bundle({})
    assert findings_of("Read this.", "instructions/a.md")[0].code == "no_files"


def test_a_warning_does_not_keep_a_bundle_from_loading() -> None:
    files = {**default_files(), "instructions/spare.md": "Unused."}

    found = inspect_files(files)

    assert found.bundle is not None
    assert [(finding.file, finding.severity) for finding in found.findings] == [
        ("instructions/spare.md", Severity.WARNING)
    ]


def test_comments_and_layout_make_no_new_version() -> None:
    files = {
        path: f"# A comment.\n{text}" if path.endswith(".yaml") else text
        for path, text in default_files().items()
    }
    files["purposes.yaml"] = files["purposes.yaml"].replace("service:", '"service":')

    assert load_bundle(files).version == default_bundle().version


@pytest.mark.parametrize("path", ["classes.yaml", "instructions/reading.md", "tests/preference.yaml"])
def test_what_is_said_makes_a_new_version(path: str) -> None:
    old = {"classes.yaml": "quota: 200", "tests/preference.yaml": "confidence: 0.6"}.get(path, "Cite")
    new = {"classes.yaml": "quota: 201", "tests/preference.yaml": "confidence: 0.61"}.get(path, "Name")

    assert load_bundle(with_text(path, old, new)).version != default_bundle().version


def test_a_folder_with_bytes_that_are_no_text_is_refused_with_the_place(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_bytes(b"# ok\n# \xc3\xa9\xff\n")

    with pytest.raises(BundleInvalid) as caught:
        read_folder(tmp_path)

    assert str(caught.value).startswith("a.yaml:2:4: error encoding: byte 0xff")


def test_a_folder_is_read_without_dot_files_and_never_through_links(tmp_path: Path) -> None:
    (tmp_path / ".hidden").mkdir()
    (tmp_path / ".hidden" / "b.yaml").write_text(PURPOSE)
    (tmp_path / "a.yaml").write_text(PURPOSE)

    assert dict(read_folder(tmp_path)) == {"a.yaml": PURPOSE}

    (tmp_path / "link.yaml").symlink_to(FOLDER / "purposes.yaml")
    with pytest.raises(BundleInvalid, match="not_a_file"):
        read_folder(tmp_path)


def test_a_missing_folder_is_said_to_be_missing(tmp_path: Path) -> None:
    with pytest.raises(BundleInvalid, match="there is no such folder"):
        read_folder(tmp_path / "nowhere")


def test_nothing_in_a_loaded_bundle_can_be_changed() -> None:
    with pytest.raises(TypeError):
        default_bundle().classes["new"] = default_bundle().classes["preference"]  # type: ignore[index]
    with pytest.raises(TypeError):
        NO_BUNDLE.classes["new"] = default_bundle().classes["preference"]  # type: ignore[index]


def test_sections_keep_the_order_of_packages_however_they_are_written() -> None:
    for profile in default_bundle().profiles.values():
        assert list(profile.sections) == list(SectionName)


def test_the_most_specific_command_and_tool_count() -> None:
    bundle = default_bundle()

    assert bundle.find_command("payments.refund") == bundle.commands["payments.*"]
    assert bundle.find_command("payments") == bundle.commands["*"]
    assert bundle.find_tool_capability("orders.create", ToolEffect.WRITE) == "effects"
    assert NO_BUNDLE.find_command("orders.create") is None
    assert NO_BUNDLE.find_tool_capability("orders.read", ToolEffect.READ) is None


def test_a_delegated_credential_has_what_agent_and_user_share() -> None:
    bundle = default_bundle()

    assert bundle.capabilities_of(Role.AGENT, delegated=True) == {"tools", "effects"}
    assert bundle.capabilities_of(Role.REVIEWER, delegated=False) == {"tools"}
    assert bundle.capabilities_of(Role.GRADER, delegated=False) == frozenset()
