"""Two real agents under the kill: the careful one passes, and each fault of the careless one is named."""

import os
import signal
import sys
import threading
import time
from pathlib import Path

import pytest

from service.entry.rehearse.compare import Expectation, compare
from service.entry.rehearse.manifest import ChosenInterruption, Interruptions, KillRule, Manifest
from service.entry.rehearse.model import Code, Moment, Rehearsed, Verdict
from service.entry.rehearse.read_manifest import read_manifest
from service.entry.rehearse.rehearsal import Wish, rehearse_on
from service.entry.rehearse.snapshot import Snapshot, prepare
from service.entry.rehearse.trial import Stage, play

ROOT = Path(__file__).parents[1]
AGENTS = ROOT / "examples" / "agents"
KILLS = ("POST /context-packages", "downstream POST /orders")
"""In the model's first call, then when an order is placed and its answer is on the way."""

pytestmark = pytest.mark.timeout(600)


class Silent:
    """Progress that nobody watches."""

    def planned(self, more: int) -> None: ...

    def played(self) -> None: ...


@pytest.fixture(scope="module")
def manifest() -> Manifest:
    whole = read_manifest(AGENTS / "shop.yaml")
    kills = tuple(KillRule(moment=Moment.AFTER, call=call) for call in KILLS)
    return whole.model_copy(
        update={
            "scenarios": {"restock": whole.scenarios["restock"]},
            "uninterrupted": 1,
            "interruptions": Interruptions(
                calls="none", thinking=0, random=0, chosen=(ChosenInterruption(kills=kills),)
            ),
        }
    )


@pytest.fixture(scope="module")
def snapshot(manifest: Manifest, tmp_path_factory: pytest.TempPathFactory) -> Snapshot:
    return prepare(manifest, tmp_path_factory.mktemp("rehearsal"), ROOT / "policies")


@pytest.fixture(scope="module")
def careful(manifest: Manifest, snapshot: Snapshot, tmp_path_factory: pytest.TempPathFactory) -> Rehearsed:
    wish = wish_for(manifest, (sys.executable, str(AGENTS / "careful.py")))
    return rehearse_on(snapshot, wish, tmp_path_factory.mktemp("careful"), Silent())


def wish_for(manifest: Manifest, command: tuple[str, ...]) -> Wish:
    return Wish(manifest, AGENTS, ROOT / "policies", command, trials=1, seed=0)


def test_the_careful_agent_finishes_the_same_work_once(careful: Rehearsed) -> None:
    [baseline] = careful.baselines
    [trial] = careful.trials

    assert baseline.is_fit, (baseline.findings, baseline.faults, [run.said for run in baseline.runs])
    assert trial.verdict is Verdict.PASSED, (trial.findings, trial.faults, trial.said)
    assert trial.sessions == 3
    assert trial.added is not None
    assert trial.added.calls > 0


def test_every_fault_of_the_careless_agent_is_named(
    manifest: Manifest, snapshot: Snapshot, careful: Rehearsed, tmp_path: Path
) -> None:
    stage = Stage(
        snapshot=snapshot,
        scenario=manifest.scenarios["restock"],
        run=snapshot.runs["restock"],
        limits=manifest.limits,
        command=(sys.executable, str(AGENTS / "careless.py"), "--fault", "all"),
        folder=AGENTS,
        stop=threading.Event(),
    )
    [baseline], kills = careful.baselines, careful.trials[0].interruption.kills

    outcome = play(stage, kills, tmp_path / "trial")

    found = compare(outcome, Expectation("completed", 0, baseline.runs))
    assert (outcome.unreached, outcome.faults) == ((), ())
    assert snapshot.keys.agent not in repr((outcome, careful, snapshot))
    assert {finding.code for finding in found} >= {
        Code.REDONE_WORK,
        Code.SKIPPED_WORK,
        Code.OUTPUT_DIFFERS,
        Code.DUPLICATE_EFFECT,
        Code.FALSE_COMPLETION,
        Code.LOST_CONSTRAINT,
    }, found


def test_being_stopped_leaves_no_process_and_no_folder(
    manifest: Manifest, snapshot: Snapshot, tmp_path: Path
) -> None:
    mark = tmp_path / "agent"
    code = f"import os, time; open({str(mark)!r}, 'w').write(str(os.getpid())); time.sleep(600)"
    trials = tmp_path / "trials"

    def interrupt() -> None:
        deadline = time.monotonic() + 120
        while not (mark.exists() and mark.read_text()) and time.monotonic() < deadline:
            time.sleep(0.05)
        os.kill(os.getpid(), signal.SIGINT)

    # Whatever was started in the background of a shell ignores the signal, these tests too.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    threading.Thread(target=interrupt, daemon=True).start()
    try:
        with pytest.raises(KeyboardInterrupt):
            rehearse_on(snapshot, wish_for(manifest, (sys.executable, "-c", code)), trials, Silent())
    finally:
        signal.signal(signal.SIGINT, before)

    assert not Path(f"/proc/{mark.read_text()}").exists()
    assert list(trials.glob("*")) == []
    assert not [line for line in processes() if str(trials) in line]


def processes() -> list[str]:
    found = []
    for environment in Path("/proc").glob("[0-9]*/environ"):
        try:
            found.append(environment.read_bytes().decode(errors="replace"))
        except OSError:
            continue
    return found
