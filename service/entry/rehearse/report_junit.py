"""The report as JUnit XML: a test case for each scenario and interruption, well-formed with any names."""

import re
from collections.abc import Iterable, Sequence
from typing import Final
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from service.entry.rehearse.model import Baseline, Fault, Finding, Rehearsed, Verdict
from service.entry.rehearse.summary import Tally, name_for, tally

_NOT_XML: Final = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def report_junit(rehearsed: Rehearsed) -> bytes:
    """Answer the document: failures are the agent's, errors the rehearsal's, the rest is skipped."""
    tallies = tally(rehearsed.trials)
    root = Element("testsuites", name="muniment rehearse")
    for baseline in rehearsed.baselines:
        name = name_for(baseline.scenario, baseline.profile)
        own = [one for one in tallies if (one.profile, one.scenario) == (baseline.profile, baseline.scenario)]
        suite = SubElement(root, "testsuite", name=_clean(name))
        _uninterrupted(suite, name, baseline)
        for one in own:
            _interrupted(suite, name, one)
        for kind, element in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
            suite.set(kind, str(sum(case.find(element) is not None for case in suite.iter("testcase"))))
        suite.set("tests", str(len(own) + 1))
    indent(root)
    document: bytes = tostring(root, encoding="utf-8", xml_declaration=True)
    return document


def _uninterrupted(suite: Element, name: str, baseline: Baseline) -> None:
    case = _case(suite, name, "uninterrupted", sum(run.seconds for run in baseline.runs))
    _say(case, "error", map(_fault_line, baseline.faults))
    if not baseline.faults:
        _say(case, "failure", map(_finding_line, baseline.findings))


def _interrupted(suite: Element, name: str, one: Tally) -> None:
    case = _case(suite, name, str(one.interruption), sum(trial.seconds for trial in one.trials))
    failed = [trial for trial in one.trials if trial.verdict is Verdict.FAILED]
    _say(
        case,
        "failure",
        (f"trial {trial.number}: {_finding_line(each)}" for trial in failed for each in trial.findings),
        message=f"{one.passed} of {one.judged} trials passed",
    )
    if not failed:
        _say(
            case,
            "error",
            (f"trial {trial.number}: {_fault_line(each)}" for trial in one.trials for each in trial.faults),
        )
    if one.judged == 0 and one.infrastructure == 0:
        SubElement(case, "skipped", message="the agent ended before the place of the kill")
    said = "\n".join(f"trial {trial.number}: {trial.said}" for trial in failed if trial.said)
    if said:
        SubElement(case, "system-out").text = _clean(said)


def _case(suite: Element, classname: str, name: str, seconds: float) -> Element:
    return SubElement(
        suite, "testcase", classname=_clean(classname), name=_clean(name), time=f"{seconds:.3f}"
    )


def _say(case: Element, kind: str, lines: Iterable[str], *, message: str | None = None) -> None:
    known: Sequence[str] = [_clean(line) for line in lines]
    if known:
        SubElement(case, kind, message=_clean(message or known[0]), type=kind).text = "\n".join(known)


def _finding_line(finding: Finding) -> str:
    return f"{finding.code}: {finding.message}"


def _fault_line(fault: Fault) -> str:
    return f"{fault.code}: {fault.message}"


def _clean(text: str) -> str:
    # XML 1.0 has no way to write most control characters.
    return _NOT_XML.sub("\ufffd", text)
