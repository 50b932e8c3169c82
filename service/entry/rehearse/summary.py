"""Adds trials up, by interruption, scenario, profile and slice: the share that passed, and pass^k. Pure."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from math import comb
from statistics import median
from typing import Final

from service.entry.rehearse.model import Baseline, Code, Interruption, Rehearsed, Trial, Verdict

_SHORT: Final = 20
_MEDIUM: Final = 100
_SAID: Final = (Verdict.PASSED, Verdict.FAILED)


@dataclass(frozen=True, slots=True)
class Tally:
    """Trials of one interruption, added up. `judged` are those that say something about the agent."""

    profile: str | None
    scenario: str
    interruption: Interruption
    passed: int
    judged: int
    not_reached: int
    infrastructure: int
    trials: tuple[Trial, ...]

    @property
    def codes(self) -> Counter[Code]:
        """In how many trials each kind of fault was found."""
        return Counter(code for trial in self.trials for code in {finding.code for finding in trial.findings})

    def pass_all(self, k: int) -> float | None:
        """Answer pass^k: the chance that `k` trials drawn from these all pass; `None` with fewer than `k`.

        Yao et al., tau-bench (2024): an average hides an agent that does the same thing right only mostly.
        """
        return comb(self.passed, k) / comb(self.judged, k) if self.judged >= k else None


@dataclass(frozen=True, slots=True)
class Share:
    """Several interruptions together. `pass_all` holds pass^k for k from 1: means over the interruptions."""

    name: str
    interruptions: int
    passed: int
    judged: int
    not_reached: int
    infrastructure: int
    pass_all: tuple[float, ...]
    codes: Counter[Code]
    added_seconds: float | None
    added_calls: float | None
    added_cost: Decimal | None

    @property
    def rate(self) -> float | None:
        """The share of judged trials that passed."""
        return self.passed / self.judged if self.judged else None


def tally(trials: Sequence[Trial]) -> tuple[Tally, ...]:
    """Answer each interruption's trials added up, in the order in which they were planned."""
    groups: dict[tuple[str | None, str, Interruption], list[Trial]] = {}
    for trial in trials:
        groups.setdefault((trial.profile, trial.scenario, trial.interruption), []).append(trial)
    return tuple(
        Tally(
            profile=profile,
            scenario=scenario,
            interruption=interruption,
            passed=_count(group, Verdict.PASSED),
            judged=sum(_count(group, verdict) for verdict in _SAID),
            not_reached=_count(group, Verdict.NOT_REACHED),
            infrastructure=_count(group, Verdict.INFRASTRUCTURE),
            trials=tuple(group),
        )
        for (profile, scenario, interruption), group in groups.items()
    )


def share(name: str, tallies: Sequence[Tally]) -> Share:
    """Answer several interruptions together."""
    trials = [trial for one in tallies for trial in one.trials if trial.verdict in _SAID]
    costs = [trial.added for trial in trials if trial.added is not None]
    return Share(
        name=name,
        interruptions=len(tallies),
        passed=sum(one.passed for one in tallies),
        judged=sum(one.judged for one in tallies),
        not_reached=sum(one.not_reached for one in tallies),
        infrastructure=sum(one.infrastructure for one in tallies),
        pass_all=_pass_all(tallies),
        codes=sum((one.codes for one in tallies), Counter()),
        added_seconds=round(median(one.seconds for one in costs), 3) if costs else None,
        added_calls=median(one.calls for one in costs) if costs else None,
        added_cost=median(one.cost for one in costs) if costs else None,
    )


def shares(
    tallies: Sequence[Tally], read: Callable[[Tally], Iterable[str]], *, prefix: str = ""
) -> tuple[Share, ...]:
    """Answer one share for each name that `read` gives the interruptions, in order of name."""
    groups: dict[str, list[Tally]] = {}
    for one in tallies:
        for name in read(one):
            groups.setdefault(name, []).append(one)
    return tuple(share(f"{prefix}{name}", groups[name]) for name in sorted(groups))


def name_for(name: str, profile: str | None) -> str:
    """Answer a name that tells profiles apart: numbers of two profiles are never mixed under one."""
    return name if profile is None else f"{name} [{profile}]"


def slices(rehearsed: Rehearsed) -> tuple[Share, ...]:
    """Answer the interruptions by the run's length, its external writes, and how often it changed hands."""
    baselines = {(one.profile, one.scenario): one for one in rehearsed.baselines}

    def of(one: Tally) -> Baseline:
        return baselines[one.profile, one.scenario]

    tallies = tally(rehearsed.trials)
    return (
        *shares(tallies, lambda one: [name_for(_length(of(one)), one.profile)], prefix="length: "),
        *shares(tallies, lambda one: [name_for(_writes(of(one)), one.profile)], prefix="external writes: "),
        *shares(tallies, lambda one: [name_for(_handoffs(one), one.profile)], prefix="handoffs: "),
    )


def all_passed(rehearsed: Rehearsed) -> bool:
    """Say whether every scenario was compared, at least one trial of it passed, and none went wrong.

    A kill whose place was never reached counts neither way.
    """
    good = {(trial.profile, trial.scenario) for trial in rehearsed.trials if trial.verdict is Verdict.PASSED}
    wrong = any(trial.verdict in (Verdict.FAILED, Verdict.INFRASTRUCTURE) for trial in rehearsed.trials)
    return not wrong and all(
        one.is_fit and (one.profile, one.scenario) in good for one in rehearsed.baselines
    )


def _count(trials: Iterable[Trial], verdict: Verdict) -> int:
    return sum(trial.verdict is verdict for trial in trials)


def _pass_all(tallies: Sequence[Tally]) -> tuple[float, ...]:
    most = max((one.judged for one in tallies), default=0)
    found = []
    for k in range(1, most + 1):
        known = [chance for one in tallies if (chance := one.pass_all(k)) is not None]
        found.append(sum(known) / len(known))
    return tuple(found)


def _length(baseline: Baseline) -> str:
    calls = median(len(run.calls) for run in baseline.runs)
    if calls <= _SHORT:
        return f"up to {_SHORT} calls"
    return f"up to {_MEDIUM} calls" if calls <= _MEDIUM else f"over {_MEDIUM} calls"


def _handoffs(one: Tally) -> str:
    return str(len(one.interruption.kills))


def _writes(baseline: Baseline) -> str:
    writes = max(len(run.orders) for run in baseline.runs)
    return "none" if writes == 0 else "one" if writes == 1 else "several"
