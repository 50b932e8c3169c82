"""The authors' guide says what is true: its files are the examples, its outputs are what the tools print."""

import re
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import pytest

from service.entry.cli import main
from service.policies.coverage import uncovered
from service.policies.load import inspect_files
from service.policies.read_folder import read_folder
from service.policies.run_cases import run_cases

ROOT: Final = Path(__file__).parents[1]
EXAMPLES: Final = sorted((ROOT / "docs" / "examples" / "policies").iterdir())
GUIDE: Final = (ROOT / "docs" / "policy-authors.md").read_text()
INTRODUCTION, _, WORKED = GUIDE.partition("## Twelve worked examples")


def fenced(language: str, text: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def shown_files(text: str) -> Mapping[str, str]:
    """Answer what the guide shows as a file, by the path that stands above it."""
    blocks = re.findall(r"^`([\w/.-]+\.yaml)`:\n\n```yaml\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    return dict(blocks)


def commands_of(block: str) -> list[tuple[list[str], str]]:
    """Answer the commands of a console block, each with what the guide says that it prints."""
    parts = re.split(r"^\$ muniment ", block, flags=re.MULTILINE)[1:]
    return [(shlex.split(part.partition("\n")[0]), part.partition("\n")[2]) for part in parts]


@pytest.mark.parametrize("folder", EXAMPLES, ids=lambda folder: folder.name)
def test_each_example_is_a_bundle_without_findings_that_tests_all_of_its_rules(folder: Path) -> None:
    found = inspect_files(read_folder(folder))

    assert found.bundle is not None
    assert found.findings == ()
    assert [result for result in run_cases(found.bundle, found.cases) if not result.passed] == []
    assert uncovered(found.bundle, found.cases) == ()


def test_there_are_twelve_and_the_guide_shows_each() -> None:
    wanted = {
        str(folder.relative_to(ROOT) / name)
        for folder in EXAMPLES
        for name in ("rule.yaml", "tests/rule.yaml")
    }

    assert len(EXAMPLES) == 12
    assert set(shown_files(WORKED)) == wanted
    assert len(re.findall(r"^### \d+\. ", WORKED, re.MULTILINE)) == 12


def test_what_the_guide_shows_is_what_stands_in_the_files() -> None:
    for path, shown in shown_files(WORKED).items():
        schema, _, text = (ROOT / path).read_text().partition("\n")

        assert text == shown, path
        named = schema.removeprefix("# yaml-language-server: $schema=")
        assert ((ROOT / path).parent / named).resolve().is_file(), path


@pytest.mark.parametrize("block", fenced("console", WORKED), ids=range(12))
def test_the_tools_print_what_the_guide_says(
    block: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)

    for arguments, printed in commands_of(block):
        assert main(arguments) == 0
        assert capsys.readouterr().out == printed


def test_the_first_steps_of_the_guide_come_out_as_it_says(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    bundle, tests = fenced("yaml", INTRODUCTION)[:2]
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "preferences.yaml").write_text(tests)
    monkeypatch.chdir(tmp_path)
    (good,), (changed,) = (commands_of(block) for block in fenced("console", INTRODUCTION)[:2])

    for (arguments, printed), text, code in [(good, bundle, 0), (changed, bundle.replace("365", "30"), 1)]:
        (tmp_path / "preferences.yaml").write_text(text)

        assert main(arguments) == code
        assert capsys.readouterr().out == printed
