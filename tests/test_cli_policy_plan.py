"""At the command line a candidate is worked out as over HTTP, in plain words, and a broken one is told."""

import re
import sys
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from authoring_world import POLICIES, add_memories, add_package, files, project_id_of, unit_of
from cli_shell import Shell
from memories_world import MemoryWorld, memory_world

from service.authoring.tables import PolicyPlanRow
from service.core.clock import system_clock
from service.core.database import Database
from service.policies.read_folder import read_folder
from service.policies.tables import PolicyVersionRow

SHORTER = (
    "expiry: {days: 365, counted_from: confirmation}",
    "expiry: {days: 10, counted_from: confirmation}",
)
LONGER = (SHORTER[0], SHORTER[0].replace("365", "400"))


@pytest.fixture
def world(database: Database, tmp_path: Path) -> Iterator[MemoryWorld]:
    # By the clock of this machine, as the commands are.
    with memory_world(database, tmp_path, system_clock) as world:
        yield world


@pytest.fixture
def shell(
    world: MemoryWorld, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Shell:
    monkeypatch.setenv("MUNIMENT_DATA_DIR", str(tmp_path))
    monkeypatch.setenv("MUNIMENT_DATABASE_URL", world.site.runtime.settings.record_url)
    monkeypatch.setenv("COLUMNS", "200")
    with unit_of(world, writes=True) as unit:
        project = project_id_of(unit)
        old = add_memories(unit, project, 3, age=timedelta(days=50))
        add_memories(unit, project, 2)
        add_package(unit, project, [{"kind": "memory", "id": old[0], "trust": "first_party"}])
    return Shell(capsys, tmp_path)


def folder_of(place: Path, *changes: tuple[str, str]) -> str:
    """Write a candidate as a folder and answer its path."""
    for path, text in files(*changes).items():
        (place / path).parent.mkdir(parents=True, exist_ok=True)
        (place / path).write_text(text)
    return str(place)


def test_a_candidate_is_told_in_plain_words_and_kept_as_a_plan(
    world: MemoryWorld, shell: Shell, tmp_path: Path
) -> None:
    output, errors = shell.run("policy", "simulate", folder_of(tmp_path / "new", SHORTER), "--tenant", "acme")

    lines = [line.strip() for line in output.splitlines()]
    assert "stricter  classes.preference.expiry.days: 365 -> 10" in lines
    assert "Memories that live: 5" in lines
    assert "3  would end at once" in lines
    assert "2  would end sooner" in lines
    assert "1  would be other ones" in lines
    assert "Persons touched: 5" in lines
    [plan_id] = re.findall(r"^Plan  (\S+)$", output, re.MULTILINE)
    [plan_hash] = re.findall(r"^Hash  (\S+)$", output, re.MULTILINE)
    assert lines[-1] == f"muniment policy activate {plan_id} --tenant acme --hash {plan_hash}"
    kept = world.call("GET", f"/policies/simulations/{plan_id}", world.of("policy_author", "ann"))
    assert kept["hash"] == plan_hash
    # No bar where standard error is no terminal.
    assert errors == ""


def test_the_command_that_is_printed_activates(world: MemoryWorld, shell: Shell, tmp_path: Path) -> None:
    looser = folder_of(tmp_path / "new", LONGER)
    output, _ = shell.run("policy", "simulate", looser, "--tenant", "acme")
    token = world.site.token("policy_admin", subject="pat")
    words = output.splitlines()[-1].split()

    done = shell.json(*words[1:], "--as", token)

    assert (done["status"], done["direction"]) == ("pending_second_person", "looser")
    assert "another policy admin has to say yes" in output


def test_command_line_and_http_agree_on_the_same_data(
    world: MemoryWorld, shell: Shell, tmp_path: Path
) -> None:
    stranger = world.site.headers("policy_author", subject="sam", projects=("beta",))
    body = {"files": files(SHORTER), "days": 7}
    over_http = world.call("POST", "/policies/simulations", stranger, body, expect=201)
    folder = folder_of(tmp_path / "new", SHORTER)
    shell.capture.readouterr()  # what the service logged

    printed = shell.json("policy", "simulate", folder, "--tenant", "acme", "--days", "7")
    compared = shell.json("policy", "diff", folder, "--tenant", "acme", "--days", "7")

    # Ids only, as for one who is a member of no project.
    of_one = {"id", "made_at"}
    assert {sample["project"] for sample in printed["samples"]["memories"]} == {None}
    assert {k: v for k, v in printed.items() if k not in of_one} == {
        k: v for k, v in over_http.items() if k not in of_one
    }
    assert compared == {k: v for k, v in over_http.items() if k not in {*of_one, "hash"}}


def test_failing_tests_and_errors_of_lint_are_told_beside_the_plan(shell: Shell, tmp_path: Path) -> None:
    fine = folder_of(tmp_path / "fine", SHORTER)
    doubtful = folder_of(tmp_path / "doubtful", SHORTER)
    (tmp_path / "doubtful" / "tests").mkdir()
    (tmp_path / "doubtful" / "tests" / "one.yaml").write_text(
        """now: "2026-12-01T10:00:00Z"
cases:
  - name: What cites nothing is kept
    given: {proposal: {class: preference, purpose: personalisation, provenance: []}}
    expect: {decision: approved}
"""
    )
    classes = tmp_path / "doubtful" / "classes.yaml"
    never = "    rules: {never: {effect: deny, when: confidence < 0.0, because: a test.}}\n"
    classes.write_text(classes.read_text().replace("    quota: 200\n", f"    quota: 200\n{never}", 1))

    for command in ("simulate", "diff"):
        _, quiet = shell.run("policy", command, fine, "--tenant", "acme")
        _, told = shell.run("policy", command, doubtful, "--tenant", "acme")

        assert "fail" not in quiet
        assert "1 of 1 tests of this bundle fail: muniment policy test" in told
        assert "Errors that lint finds in this bundle: 1." in told


def test_a_difference_keeps_nothing(world: MemoryWorld, shell: Shell, tmp_path: Path) -> None:
    versions = world.site.count(PolicyVersionRow)

    output, _ = shell.run("policy", "diff", folder_of(tmp_path / "new", SHORTER), "--tenant", "acme")

    assert "classes.preference.expiry.days: 365 -> 10" in output
    assert "3  would end at once" in output
    assert "activate" not in output
    assert world.site.count(PolicyPlanRow) == 0
    assert world.site.count(PolicyVersionRow) == versions


@pytest.mark.parametrize("command", ["simulate", "diff"])
def test_a_broken_folder_is_told_with_its_places_and_keeps_nothing(
    world: MemoryWorld, shell: Shell, tmp_path: Path, command: str
) -> None:
    folder = folder_of(tmp_path / "new")
    (tmp_path / "new" / "more.yaml").write_text("classes:\n  odd: {becuase: x}\n")
    versions = world.site.count(PolicyVersionRow)

    output, _ = shell.run("policy", command, folder, "--tenant", "acme", code=1)
    answer = shell.json("policy", command, folder, "--tenant", "acme", code=1)

    assert f"{folder}/more.yaml:2:9: error unknown_key: " in output
    assert answer["valid"] is False
    assert ("more.yaml", 2, 9) in [(one["file"], one["line"], one["column"]) for one in answer["findings"]]
    assert world.site.count(PolicyPlanRow) == 0
    assert world.site.count(PolicyVersionRow) == versions


@pytest.mark.parametrize("command", ["simulate", "diff"])
def test_what_cannot_be_worked_out_exits_with_2(shell: Shell, tmp_path: Path, command: str) -> None:
    folder = folder_of(tmp_path / "new")

    _, errors = shell.run("policy", command, folder, "--tenant", "nobody", code=2)
    shell.run("policy", command, folder, "--tenant", "acme", "--days", "0", code=2)
    shell.run("policy", command, folder, "--tenant", "acme", "--days", "366", code=2)
    shell.run("policy", command, str(tmp_path / "nowhere"), "--tenant", "acme", code=2)

    assert errors == "There is no tenant of that name.\n"


def test_a_database_that_does_not_answer_exits_with_2(
    shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MUNIMENT_DATABASE_URL", "postgresql+psycopg://nobody@127.0.0.1:1/none")
    folder = folder_of(tmp_path / "new")

    _, errors = shell.run("policy", "simulate", folder, "--tenant", "acme", code=2)

    assert errors == "The database does not answer.\n"
    assert "127.0.0.1" not in errors


def test_what_counts_already_needs_no_activation(shell: Shell, tmp_path: Path) -> None:
    folder = Path(folder_of(tmp_path / "new"))
    # The version that counts has tests beside it, and they are a part of it.
    for path, text in read_folder(POLICIES).items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)

    output, _ = shell.run("policy", "simulate", str(folder), "--tenant", "acme")

    assert "Rules: nothing is said otherwise" in output
    assert "5  would stay as they are" in output
    assert output.endswith("This version counts already: there is nothing to activate.\n")


def test_what_an_author_wrote_does_not_reach_the_terminal_as_a_command(shell: Shell, tmp_path: Path) -> None:
    folder = folder_of(tmp_path / "new")
    said = "a person should not have to repeat how they want to be answered."
    classes = tmp_path / "new" / "classes.yaml"
    classes.write_text(classes.read_text().replace(said, '"\\x1b[2J \\x9b2J gone"'))

    output, _ = shell.run("policy", "diff", folder, "--tenant", "acme")

    assert r"\u001b[2J \x9b2J gone" in output
    assert not {"\x1b", "\x9b"} & set(output)


def test_a_bar_is_drawn_on_a_terminal_and_never_beside_json(
    shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TERM", "xterm")
    command = ("policy", "diff", folder_of(tmp_path / "new"), "--tenant", "acme")
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)

    output, drawn = shell.run(*command)
    _, beside_json = shell.run(*command, "--json")

    assert "looking at what is kept" in drawn
    assert "looking at what is kept" not in output
    assert beside_json == ""
