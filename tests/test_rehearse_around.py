"""What stands around a rehearsed agent: graders, files, constraints, verdicts, the command itself."""

import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path

import pytest
from rehearse_world import expectation_of, outcome_of

from service.core.hashing import hash_text
from service.entry.cli import main
from service.entry.rehearse.grading import Bench, GraderFailed
from service.entry.rehearse.inspect_work import hash_files, judge_constraints, missing_files
from service.entry.rehearse.manifest import Constraint, CountedOutputs, Grader
from service.entry.rehearse.model import (
    Baseline,
    Code,
    Fault,
    Interruption,
    KillPoint,
    Moment,
    Outcome,
    Trial,
    Verdict,
)
from service.entry.rehearse.rehearsal import judge_trial

POINT = KillPoint(Moment.BEFORE, "POST /x")


def judged(outcome: Outcome, kills: Sequence[KillPoint] = (POINT,)) -> Trial:
    baseline = Baseline(None, "order", (outcome_of(),), (), ())
    return judge_trial(outcome, expectation_of(), baseline, Interruption(tuple(kills)), 1)


def bench_in(folder: Path) -> Bench:
    (folder / "work").mkdir()
    return Bench(
        folder=folder / "work",
        commands=folder,
        environment={"PATH": "/usr/bin:/bin"},
        record_file=folder / "record.json",
        record=lambda: [{"a": 1}],
        stop=threading.Event(),
    )


def grader(*command: str, seconds_max: int = 10) -> Grader:
    return Grader(requirements=("note",), command=command, seconds_max=seconds_max)


def test_a_grader_sees_the_work_the_requirement_and_what_was_carried_out(tmp_path: Path) -> None:
    bench = bench_in(tmp_path)
    (bench.folder / "note.md").write_text("x")
    (tmp_path / "check.sh").write_text(
        'test -f note.md && test "$GRADED_REQUIREMENT $GRADED_ARTIFACT_HASH" = "note sha256:a"'
        ' && grep -q \'"a": 1\' "$DOWNSTREAM_RECORD"'
    )

    assert bench.holds(grader("sh", "./check.sh"), "note", "sha256:a")
    assert not bench.holds(grader("sh", "./check.sh"), "other", "sha256:a")


@pytest.mark.parametrize(
    ("command", "words"),
    [
        (("sh", "-c", "exit 3"), "exit code 3"),
        (("no-such-program",), "No such file"),
        (("sleep", "30"), "no verdict in 1 s"),
    ],
)
def test_a_grader_without_a_verdict_is_no_verdict(
    tmp_path: Path, command: tuple[str, ...], words: str
) -> None:
    with pytest.raises(GraderFailed, match=words):
        bench_in(tmp_path).holds(grader(*command, seconds_max=1), "note", None)


def test_a_grader_ends_when_the_rehearsal_is_stopped(tmp_path: Path) -> None:
    bench = bench_in(tmp_path)
    bench.stop.set()
    begun = time.monotonic()

    with pytest.raises(GraderFailed):
        bench.holds(grader("sh", "-c", "sleep 60 & sleep 60", seconds_max=60), "note", None)
    assert time.monotonic() - begun < 10


def test_files_are_compared_by_content_and_links_left_alone(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "a.md").write_text("a")
    (tmp_path / "b.md").symlink_to("/etc/hostname")
    outputs = CountedOutputs(files=("**/*.md", "*.csv"), present=("out/*", "*.pdf"))

    assert hash_files(tmp_path, outputs) == {"out/a.md": hash_text("a")}
    assert missing_files(tmp_path, outputs) == ("*.csv", "*.pdf")


def test_constraints_hold_in_every_file_that_they_are_about(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("Paper is low.\n-- Ann")
    (tmp_path / "b.md").write_text("Ordered from Northgate.\n")
    kept = judge_constraints(
        tmp_path,
        {
            "signed": Constraint(files="a.md", must_match="^-- Ann$"),
            "all_signed": Constraint(files="*.md", must_match="^-- Ann$"),
            "no_supplier": Constraint(files="*.md", must_not_match="Northgate"),
            "nothing": Constraint(files="*.txt", must_match="x"),
        },
    )

    assert kept == {"signed": True, "all_signed": False, "no_supplier": False, "nothing": None}


def test_an_expression_that_takes_for_ever_is_not_shown_to_hold(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("service.entry.rehearse.inspect_work._SEARCH_SECONDS_MAX", 0.2)
    (tmp_path / "a.md").write_text("a" * 60 + "!")
    slow = Constraint(files="*.md", must_not_match="^(a|aa)+$")

    assert judge_constraints(tmp_path, {"slow": slow}) == {"slow": False}


def test_a_trial_is_judged_by_what_it_left() -> None:
    assert judged(outcome_of()).verdict is Verdict.PASSED
    failed = judged(outcome_of(constraints={"short": False}, said="last words"))
    assert (failed.verdict, failed.said) == (Verdict.FAILED, "last words")
    assert [finding.code for finding in failed.findings] == [Code.LOST_CONSTRAINT]
    assert failed.calls


def test_a_fault_of_the_rehearsal_outweighs_what_was_found() -> None:
    trial = judged(outcome_of(constraints={"short": False}, faults=(Fault("service_failed", "x"),)))

    assert (trial.verdict, trial.findings) == (Verdict.INFRASTRUCTURE, ())


def test_a_kill_that_never_struck_tests_nothing_and_one_of_two_tests_something() -> None:
    assert judged(outcome_of(unreached=(POINT,))).verdict is Verdict.NOT_REACHED
    assert judged(outcome_of(unreached=(POINT,)), kills=(POINT, POINT)).verdict is Verdict.PASSED


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--manifest", "none.yaml", "--", "true"], "none.yaml:1:1: error unreadable"),
        (["--manifest", "bad.yaml", "--", "true"], "bad.yaml:1:1: error unknown_key: `scenario`"),
        (["--manifest", "good.yaml", "--json", "none/a.json", "--", "true"], "none/a.json: there is no"),
        (["--manifest", "bad.yaml"], "Missing argument"),
        (["--", "true"], "Missing option"),
        (["--manifest", "bad.yaml", "--trials", "0", "--", "true"], "Invalid value"),
    ],
)
def test_what_means_nothing_ends_with_2_and_says_why(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    words: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bad.yaml").write_text("scenario: {}\n")
    (tmp_path / "good.yaml").write_text("scenarios: {one: {run: {objective: Write.}}}\n")

    assert main(["rehearse", *arguments]) == 2
    assert words in " ".join(capsys.readouterr().err.split()), sys.argv


def test_every_code_is_explained() -> None:
    page = (Path(__file__).parents[1] / "docs" / "rehearsal.md").read_text()

    assert [code.value for code in Code if f"`{code.value}`" not in page] == []
    assert [verdict.value for verdict in Verdict if verdict.value not in page] == []
