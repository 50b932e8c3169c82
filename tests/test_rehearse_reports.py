"""What a rehearsal reports: shares and pass^k, a table of 80 columns, JSON, and JUnit for any names."""

import json
from collections.abc import Sequence
from dataclasses import replace
from io import StringIO
from xml.etree import ElementTree as ET

import pytest
from rehearse_world import outcome_of
from rich.console import Console

from service.entry.rehearse.compare import added
from service.entry.rehearse.model import (
    Baseline,
    Code,
    Fault,
    Finding,
    Interruption,
    KillPoint,
    Moment,
    Rehearsed,
    Trial,
    Verdict,
)
from service.entry.rehearse.report_json import report_fields
from service.entry.rehearse.report_junit import report_junit
from service.entry.rehearse.report_table import print_report
from service.entry.rehearse.summary import all_passed, share, slices, tally

CUT = Interruption((KillPoint(Moment.AFTER, "downstream POST /orders"),))
TWICE = Interruption((*CUT.kills, KillPoint(Moment.BEFORE, "POST /executions/*/candidates", 2)))
PASSED, FAILED = Verdict.PASSED, Verdict.FAILED
HOSTILE = "a<b>&\"'\x00\x1b[31m\ud800[bold]\u202e]]>"


def trials(
    verdicts: Sequence[Verdict],
    interruption: Interruption = CUT,
    *,
    scenario: str = "order",
    words: str = "x",
) -> list[Trial]:
    return [
        Trial(
            profile=None,
            scenario=scenario,
            interruption=interruption,
            number=number,
            verdict=verdict,
            findings=(Finding(Code.DUPLICATE_EFFECT, words),) if verdict is FAILED else (),
            faults=(Fault("service_not_started", words),) if verdict is Verdict.INFRASTRUCTURE else (),
            added=added(outcome_of(seconds=4.0), [outcome_of()]),
            sessions=2,
            seconds=4.0,
            said=words if verdict is FAILED else "",
        )
        for number, verdict in enumerate(verdicts, start=1)
    ]


def rehearsed(*played: Trial, scenario: str = "order", findings: Sequence[Finding] = ()) -> Rehearsed:
    baseline = Baseline(None, scenario, (outcome_of(), outcome_of()), tuple(findings), ())
    return Rehearsed(seed=7, trials_each=3, baselines=(baseline,), trials=played)


def parsed(report: Rehearsed) -> ET.Element:
    return ET.fromstring(report_junit(report))  # noqa: S314 - our own document


def test_an_agent_that_mostly_passes_is_not_one_that_passes() -> None:
    [one] = tally(trials([PASSED, PASSED, FAILED, PASSED]))

    assert (one.passed, one.judged) == (3, 4)
    assert [one.pass_all(k) for k in range(1, 6)] == [0.75, 0.5, 0.25, 0.0, None]


def test_failures_of_the_rehearsal_say_nothing_about_the_agent() -> None:
    [one] = tally(trials([PASSED, Verdict.INFRASTRUCTURE, Verdict.NOT_REACHED]))

    assert (one.passed, one.judged, one.infrastructure, one.not_reached) == (1, 1, 1, 1)
    assert share("all", [one]).rate == 1.0


@pytest.mark.parametrize(
    ("verdicts", "expected"),
    [
        ([PASSED, PASSED], True),
        ([PASSED, Verdict.NOT_REACHED], True),
        ([PASSED, FAILED], False),
        ([PASSED, Verdict.INFRASTRUCTURE], False),
        ([Verdict.NOT_REACHED], False),
        ([], False),
    ],
)
def test_all_passed_when_something_was_tested_and_nothing_went_wrong(
    verdicts: list[Verdict], expected: bool
) -> None:
    assert all_passed(rehearsed(*trials(verdicts))) is expected


def test_a_scenario_without_fit_uninterrupted_runs_has_not_passed() -> None:
    assert not all_passed(rehearsed(findings=[Finding(Code.UNSTABLE_BASELINE, "x")]))


def test_shares_are_sliced_by_length_writes_and_handoffs() -> None:
    found = slices(rehearsed(*trials([PASSED, FAILED]), *trials([PASSED], TWICE)))

    assert [(one.name, one.passed, one.judged) for one in found] == [
        ("length: up to 20 calls", 2, 3),
        ("external writes: one", 2, 3),
        ("handoffs: 1", 1, 2),
        ("handoffs: 2", 1, 1),
    ]


def test_numbers_of_two_profiles_are_told_apart() -> None:
    both = [replace(trial, profile=name) for name in ("a", "b") for trial in trials([PASSED])]
    baselines = tuple(replace(rehearsed().baselines[0], profile=name) for name in ("a", "b"))
    report = Rehearsed(seed=7, trials_each=1, baselines=baselines, trials=tuple(both))

    fields = report_fields(report)

    assert [one["name"] for one in fields["profiles"]] == ["a", "b"]
    assert [one["name"] for one in fields["scenarios"]] == ["order [a]", "order [b]"]
    assert "handoffs: 1 [b]" in {one["name"] for one in fields["slices"]}
    assert [suite.get("name") for suite in parsed(report)] == ["order [a]", "order [b]"]


def test_the_table_fits_80_columns_and_names_what_was_found() -> None:
    out = StringIO()
    played = [*trials([PASSED, FAILED], words="orders x was carried out 2 times"), *trials([PASSED], TWICE)]

    print_report(Console(file=out, width=80), rehearsed(*played))

    text = out.getvalue()
    assert max(map(len, text.splitlines())) <= 80
    assert "duplicate_effect" in text
    assert "1/2" in text
    assert "Seed 7" in text


def test_the_json_report_holds_every_trial() -> None:
    played = [*trials([PASSED, FAILED]), *trials([Verdict.NOT_REACHED], TWICE)]

    report = json.loads(json.dumps(report_fields(rehearsed(*played))))

    assert report["schema_version"] == 1
    assert report["passed"] is False
    assert report["total"]["found"] == {"duplicate_effect": 1}
    assert report["total"]["added"] == {"seconds": 2.0, "calls": 0, "cost": "0.00"}
    [cut, twice] = report["interruptions"]
    assert [trial["verdict"] for trial in cut["trials"]] == ["passed", "failed"]
    assert [kill["occurrence"] for kill in twice["kills"]] == [1, 2]


def test_junit_has_one_case_for_each_interruption_and_one_for_the_uninterrupted_runs() -> None:
    played = [
        *trials([PASSED, FAILED]),
        *trials([PASSED], TWICE),
        *trials([Verdict.INFRASTRUCTURE], Interruption((*CUT.kills, *CUT.kills))),
        *trials([Verdict.NOT_REACHED], Interruption(TWICE.kills[1:])),
    ]

    suite = parsed(rehearsed(*played))[0]

    assert [len(case) and case[0].tag for case in suite] == [0, "failure", 0, "error", "skipped"]
    assert {name: suite.get(name) for name in ("tests", "failures", "errors", "skipped")} == {
        "tests": "5",
        "failures": "1",
        "errors": "1",
        "skipped": "1",
    }


def test_hostile_names_keep_every_report_well_formed() -> None:
    cut = Interruption((KillPoint(Moment.BEFORE, f"GET /{HOSTILE}"),))
    report = rehearsed(*trials([FAILED], cut, scenario=HOSTILE, words=HOSTILE), scenario=HOSTILE)
    out = StringIO()

    root = parsed(report)
    print_report(Console(file=out, width=80), report)

    assert root[0].get("tests") == "2"
    assert "a<b>&\"'" in str(root[0].get("name"))
    assert "\x1b" not in out.getvalue()
