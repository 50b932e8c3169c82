"""Runs a whole rehearsal: uninterrupted runs, a plan from them, every interruption as often as asked."""

import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from shutil import rmtree
from tempfile import TemporaryDirectory
from typing import Protocol

from service.entry.rehearse.compare import Expectation, added, compare, judge_alone, judge_baseline
from service.entry.rehearse.interruptions import plan_interruptions
from service.entry.rehearse.manifest import Interruptions, Limits, Manifest, Scenario
from service.entry.rehearse.model import (
    Baseline,
    Fault,
    Interruption,
    Outcome,
    Rehearsed,
    Trial,
    Verdict,
)
from service.entry.rehearse.snapshot import Snapshot, prepare
from service.entry.rehearse.trial import Stage, Stopped, TrialFailed, play

UNINTERRUPTED = Interruption(())


@dataclass(frozen=True, slots=True)
class Wish:
    """What is to be rehearsed. `folder` is the manifest's; `profiles` is empty where none is set."""

    manifest: Manifest
    folder: Path
    policies: Path
    command: tuple[str, ...]
    trials: int
    seed: int
    workers: int = 1
    profiles: tuple[str, ...] = ()


class Progress(Protocol):
    """Told how far a rehearsal is."""

    def planned(self, more: int) -> None:
        """So many more trials are to come."""
        ...

    def played(self) -> None:
        """One is done."""
        ...


def rehearse(wish: Wish, progress: Progress) -> Rehearsed:
    """Play everything and answer what came of it.

    Stopped by an exception (Ctrl-C among them) it kills every process and removes every folder before that
    goes on. Raises what `prepare` raises.
    """
    # The agent sees where it works, and is not to see what for.
    with TemporaryDirectory(prefix="muniment-") as name:
        snapshot = prepare(wish.manifest, Path(name) / "snapshot", wish.policies)
        return rehearse_on(snapshot, wish, Path(name), progress)


def rehearse_on(snapshot: Snapshot, wish: Wish, folder: Path, progress: Progress) -> Rehearsed:
    """Do the same over data that is prepared, in folders below `folder`."""
    with _Crew(wish, snapshot, folder, progress).at_work() as crew:
        baselines = crew.play_baselines()
        return Rehearsed(wish.seed, wish.trials, baselines, crew.play_interrupted(baselines))


class _Crew:
    """Workers that play trials, each in a folder of its own that goes when it is done."""

    def __init__(self, wish: Wish, snapshot: Snapshot, folder: Path, progress: Progress) -> None:
        self._wish, self._snapshot, self._folder, self._progress = wish, snapshot, folder, progress
        self._stop = threading.Event()
        self._numbers = count(1)
        self._pool = ThreadPoolExecutor(max_workers=wish.workers)

    @contextmanager
    def at_work(self) -> Iterator["_Crew"]:
        try:
            yield self
        finally:
            # Reached with work under way only when something stopped the rehearsal.
            self._stop.set()
            self._pool.shutdown(wait=True, cancel_futures=True)

    def play_baselines(self) -> tuple[Baseline, ...]:
        """Play each scenario uninterrupted, under each profile."""
        begun = {
            (profile, name): [
                self._submit(self._stage(name, profile), UNINTERRUPTED)
                for _ in range(self._wish.manifest.uninterrupted)
            ]
            for profile in self._wish.profiles or (None,)
            for name in self._wish.manifest.scenarios
        }
        return tuple(self._baseline(profile, name, futures) for (profile, name), futures in begun.items())

    def play_interrupted(self, baselines: Sequence[Baseline]) -> tuple[Trial, ...]:
        """Play every interruption of every scenario whose uninterrupted runs can be compared with."""
        begun: list[tuple[Future[Outcome], Baseline, Interruption, int]] = []
        for baseline in baselines:
            if not baseline.is_fit:
                continue
            stage = self._stage(baseline.scenario, baseline.profile)
            for interruption in self._plan(baseline):
                begun += [
                    (self._submit(stage, interruption), baseline, interruption, number)
                    for number in range(1, self._wish.trials + 1)
                ]
        return tuple(
            self._judge(future, baseline, interruption, number)
            for future, baseline, interruption, number in begun
        )

    def _stage(self, name: str, profile: str | None) -> Stage:
        scenario = self._wish.manifest.scenarios[name]
        return Stage(
            snapshot=self._snapshot,
            scenario=scenario,
            run=self._snapshot.runs[name],
            limits=self._limits(scenario),
            command=self._wish.command,
            folder=self._wish.folder,
            stop=self._stop,
            profile=profile,
        )

    def _limits(self, scenario: Scenario) -> Limits:
        return scenario.limits or self._wish.manifest.limits

    def _submit(self, stage: Stage, interruption: Interruption) -> Future[Outcome]:
        self._progress.planned(1)
        return self._pool.submit(self._play, stage, interruption, self._folder / f"{next(self._numbers):04d}")

    def _play(self, stage: Stage, interruption: Interruption, folder: Path) -> Outcome:
        if self._stop.is_set():
            raise Stopped
        try:
            return play(stage, interruption.kills, folder)
        finally:
            rmtree(folder, ignore_errors=True)
            self._progress.played()

    def _baseline(self, profile: str | None, name: str, futures: Sequence[Future[Outcome]]) -> Baseline:
        runs: list[Outcome] = []
        faults: list[Fault] = []
        for future in futures:
            try:
                runs.append(future.result())
                faults += runs[-1].faults
            except TrialFailed as failure:
                faults.append(failure.fault)
        reaches = self._wish.manifest.scenarios[name].reaches
        findings = {finding for run in runs for finding in judge_alone(run, reaches)}
        return Baseline(
            profile=profile,
            scenario=name,
            runs=tuple(runs),
            findings=tuple(sorted(findings | set(judge_baseline(runs)))),
            faults=tuple(dict.fromkeys(faults)),
        )

    def _plan(self, baseline: Baseline) -> tuple[Interruption, ...]:
        scenario = self._wish.manifest.scenarios[baseline.scenario]
        rule: Interruptions = scenario.interruptions or self._wish.manifest.interruptions
        # The shortest: what an agent that waits asks once more is not there in every run.
        shortest = min(baseline.runs, key=lambda run: len(run.calls))
        return plan_interruptions(shortest.calls, rule, seed=self._wish.seed, scenario=baseline.scenario)

    def _judge(
        self, future: Future[Outcome], baseline: Baseline, interruption: Interruption, number: int
    ) -> Trial:
        scenario = self._wish.manifest.scenarios[baseline.scenario]
        expectation = Expectation(scenario.reaches, self._limits(scenario).repeated_calls, baseline.runs)
        try:
            outcome = future.result()
        except TrialFailed as failure:
            return Trial(
                baseline.profile,
                baseline.scenario,
                interruption,
                number,
                Verdict.INFRASTRUCTURE,
                (),
                (failure.fault,),
            )
        return judge_trial(outcome, expectation, baseline, interruption, number)


def judge_trial(
    outcome: Outcome, expectation: Expectation, baseline: Baseline, interruption: Interruption, number: int
) -> Trial:
    """Answer what an interrupted run says: nothing, where the rehearsal failed or never struck."""
    findings = compare(outcome, expectation)
    verdict = Verdict.FAILED if findings else Verdict.PASSED
    if outcome.faults:
        verdict = Verdict.INFRASTRUCTURE
    elif len(outcome.unreached) == len(interruption.kills):
        verdict = Verdict.NOT_REACHED
    return Trial(
        profile=baseline.profile,
        scenario=baseline.scenario,
        interruption=interruption,
        number=number,
        verdict=verdict,
        findings=findings if verdict is Verdict.FAILED else (),
        faults=outcome.faults,
        added=added(outcome, baseline.runs),
        sessions=outcome.sessions,
        seconds=outcome.seconds,
        said="" if verdict is Verdict.PASSED else outcome.said,
        calls=() if verdict is Verdict.PASSED else outcome.calls,
    )
