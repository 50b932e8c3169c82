"""The report as one JSON document; `docs/rehearsal.md` describes it."""

from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any, Final

from service.entry.rehearse.model import Baseline, Call, Fault, Finding, Rehearsed, Trial
from service.entry.rehearse.summary import Share, Tally, all_passed, name_for, share, shares, slices, tally

SCHEMA_VERSION: Final = 1
_CALLS_MAX: Final = 1_000


def report_fields(rehearsed: Rehearsed) -> Mapping[str, Any]:
    """Answer the whole report as JSON can carry it."""
    tallies = tally(rehearsed.trials)
    return {
        "schema_version": SCHEMA_VERSION,
        "seed": rehearsed.seed,
        "trials_each": rehearsed.trials_each,
        "passed": all_passed(rehearsed),
        "total": _share(share("total", tallies)),
        "profiles": [
            _share(one) for one in shares(tallies, lambda one: [one.profile] if one.profile else [])
        ],
        "scenarios": [
            _share(one) for one in shares(tallies, lambda one: [name_for(one.scenario, one.profile)])
        ],
        "slices": [_share(one) for one in slices(rehearsed)],
        "uninterrupted": [_baseline(one) for one in rehearsed.baselines],
        "interruptions": [_tally(one) for one in tallies],
    }


def _baseline(one: Baseline) -> Mapping[str, Any]:
    return {
        "profile": one.profile,
        "scenario": one.scenario,
        "runs": len(one.runs),
        "calls": median(len(run.calls) for run in one.runs) if one.runs else None,
        "seconds": round(median(run.seconds for run in one.runs), 3) if one.runs else None,
        "cost": f"{median(run.cost for run in one.runs):f}" if one.runs else None,
        "findings": _findings(one.findings),
        "faults": _faults(one.faults),
        "said": [run.said for run in one.runs] if not one.is_fit else [],
    }


def _tally(one: Tally) -> Mapping[str, Any]:
    return {
        "profile": one.profile,
        "scenario": one.scenario,
        "interruption": str(one.interruption),
        "kills": [
            {
                "moment": kill.moment.value,
                "call": kill.pattern,
                "occurrence": kill.occurrence,
                "delay_seconds": kill.delay_seconds,
            }
            for kill in one.interruption.kills
        ],
        **_counts(one),
        "pass_all": [one.pass_all(k) for k in range(1, one.judged + 1)],
        "trials": [_trial(trial) for trial in one.trials],
    }


def _trial(trial: Trial) -> Mapping[str, Any]:
    return {
        "number": trial.number,
        "verdict": trial.verdict.value,
        "findings": _findings(trial.findings),
        "faults": _faults(trial.faults),
        "sessions": trial.sessions,
        "seconds": round(trial.seconds, 3),
        "added": trial.added
        and {
            "seconds": round(trial.added.seconds, 3),
            "calls": trial.added.calls,
            "cost": f"{trial.added.cost:f}",
        },
        "said": trial.said,
        "calls": [_call(call) for call in trial.calls[:_CALLS_MAX]],
    }


def _call(call: Call) -> Mapping[str, Any]:
    return {
        "number": call.number,
        "session": call.session,
        "call": call.pattern,
        "status": call.status,
        "fate": call.fate.value,
        "work": None if call.act is None else str(call.act),
        "at_seconds": round(call.started_seconds, 3),
    }


def _share(one: Share) -> Mapping[str, Any]:
    return {
        "name": one.name,
        "interruptions": one.interruptions,
        **_counts(one),
        "rate": one.rate,
        "pass_all": list(one.pass_all),
        "found": {code.value: count for code, count in sorted(one.codes.items())},
        "added": {
            "seconds": one.added_seconds,
            "calls": one.added_calls,
            "cost": None if one.added_cost is None else f"{one.added_cost:f}",
        },
    }


def _counts(one: Share | Tally) -> Mapping[str, int]:
    return {
        "passed": one.passed,
        "judged": one.judged,
        "not_reached": one.not_reached,
        "infrastructure": one.infrastructure,
    }


def _findings(findings: Sequence[Finding]) -> list[Mapping[str, str]]:
    return [{"code": one.code.value, "message": one.message} for one in findings]


def _faults(faults: Sequence[Fault]) -> list[Mapping[str, str]]:
    return [{"code": one.code, "message": one.message} for one in faults]
