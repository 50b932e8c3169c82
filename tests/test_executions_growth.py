"""A write to a run costs the same however long the run is: counted in statements and rows, not in time."""

import shutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest
from conftest import FixedClock
from executions_world import AGENT, SEEN, World, open_world
from meter import Reading, metered
from resume_world import take

from service.adapters.chunker import SemanticChunker
from service.context.references import RecordReferences
from service.core.database import Database
from service.core.hashing import hash_text
from service.executions.act import intend, settle
from service.executions.checkpoint import checkpoint
from service.executions.conversation.model import NewTurn, TurnRole
from service.executions.ledger.model import EffectStatus, NewEffect, NewObservation, ObservedSource
from service.executions.log_step import log_step
from service.executions.model import Execution, NewCheckpoint, Transition
from service.executions.observe import observe
from service.executions.say import say
from service.executions.sealed import stable_json
from service.executions.work.model import DeclaredTask, ExitStatus, Input, NewStep
from service.identity.unit import Unit

EARLY, LATE = 10, 300
REPLY = "Each claim stands beside its source. " * 222
"""About 8 KB."""


@dataclass
class LongRun:
    """A run that grows by a turn, a step, an observation, a settled effect and a checkpoint at a time."""

    world: World
    run: Execution
    number: int = 0

    def grow(self, turns: int, *names: str) -> None:
        """Make the calls of these names, or all, until so many turns are reached."""
        with self.world.unit() as unit:
            while self.number < turns:
                self.number += 1
                for name in names or self.calls:
                    self.calls[name](unit)

    @property
    def calls(self) -> Mapping[str, Callable[[Unit], object]]:
        return {
            "turn": self._say,
            "step": self._step,
            "observation": self._observe,
            "intent": self._intend,
            "dispatch": lambda unit: self._settle(unit, EffectStatus.DISPATCHED),
            "outcome": lambda unit: self._settle(unit, EffectStatus.COMMITTED),
            "checkpoint": self._move,
        }

    def _say(self, unit: Unit) -> None:
        say(self.run.id, NewTurn(TurnRole.USER, f"Turn {self.number}."), unit=unit, bundle=self.world.bundle)

    def _step(self, unit: Unit) -> None:
        read = Input("file:plan", hash_text(str(self.number)))
        new = NewStep("build", ExitStatus.COMPLETED, (read,))
        log_step(self.run.id, new, unit=unit, bundle=self.world.bundle, references=RecordReferences)

    def _observe(self, unit: Unit) -> None:
        new = NewObservation(ObservedSource("tool://register", "tool", SEEN), f"Result {self.number}.")
        chunker = SemanticChunker(self.world.tokens)
        observe(self.run.id, new, unit=unit, bundle=self.world.bundle, chunker=chunker)

    def _intend(self, unit: Unit) -> None:
        new = NewEffect(f"order-{self.number}", "orders.create", {"plot": self.number})
        intend(self.run.id, new, unit=unit, bundle=self.world.bundle)

    def _settle(self, unit: Unit, status: EffectStatus) -> None:
        settle(
            self.run.id,
            f"order-{self.number}",
            status=status,
            downstream_ref=None,
            unit=unit,
            bundle=self.world.bundle,
        )

    def _move(self, unit: Unit) -> None:
        self.run = checkpoint(
            self.run.id,
            NewCheckpoint(Transition.ADVANCE, {"next_action": f"Turn {self.number + 1}."}, self.number),
            expected_version=self.run.version,
            unit=unit,
            bundle=self.world.bundle,
            references=RecordReferences,
        )


@pytest.fixture
def long_run(database: Database, tmp_path: Path, clock: FixedClock) -> Iterator[LongRun]:
    with open_world(database, tmp_path, clock) as world:
        run = world.open(AGENT)
        tasks = [DeclaredTask(f"task-{number}") for number in range(20)]
        yield LongRun(world, world.plan(run, DeclaredTask("build"), *tasks, version=run.version))


def _cost_of_each_call(long_run: LongRun) -> Mapping[str, Reading]:
    """Make each call once, in a transaction of its own, and answer what it asked of the database."""
    long_run.number += 1
    costs = {}
    for name, call in long_run.calls.items():
        with metered(long_run.world.database) as reading, long_run.world.unit() as unit:
            call(unit)
        costs[name] = reading
    return costs


def test_every_write_asks_as_much_of_the_database_at_turn_300_as_at_turn_10(long_run: LongRun) -> None:
    long_run.grow(EARLY - 1)
    early = _cost_of_each_call(long_run)
    long_run.grow(LATE - 1)

    late = _cost_of_each_call(long_run)

    assert late == early


def test_a_check_that_completes_nothing_reads_no_log(long_run: LongRun) -> None:
    other = LongRun(long_run.world, long_run.world.open(AGENT))
    long_run.grow(100)
    other.grow(EARLY)

    long, short = (_cost_of_a_check(one) for one in (long_run, other))

    assert long == short


def _cost_of_a_check(long_run: LongRun) -> Reading:
    long_run.world.submit(long_run.run)
    with metered(long_run.world.database) as reading:
        long_run.world.grade(long_run.run)
    return reading


def test_resuming_reads_as_much_after_300_turns_as_after_10(long_run: LongRun) -> None:
    long, short = (LongRun(long_run.world, long_run.world.open(AGENT)) for _ in range(2))
    long.grow(LATE, "turn", "observation", "checkpoint")
    short.grow(EARLY, "turn", "observation", "checkpoint")

    late, early = (_cost_of_resuming(one) for one in (long, short))

    assert late == early


def _cost_of_resuming(long_run: LongRun) -> Reading:
    with metered(long_run.world.database) as reading:
        take(long_run.world, long_run.run)
    return reading


def test_the_record_grows_by_less_than_twice_the_bytes_given_and_no_faster_later(
    sqlite_template: Path, tmp_path: Path, clock: FixedClock
) -> None:
    database = Database(f"sqlite:///{shutil.copy(sqlite_template, tmp_path / 'record.db')}")
    with open_world(database, tmp_path, clock) as world:
        run = world.open(AGENT)
        sizes = [_bytes_of(database)]
        for _ in range(2):
            given = sum(_exchange(world, run, number) for number in range(40))
            sizes.append(_bytes_of(database))
    database.close()

    first, second = sizes[1] - sizes[0], sizes[2] - sizes[1]
    assert second <= 2 * given
    assert second <= 1.1 * first


def _exchange(world: World, run: Execution, number: int) -> int:
    """Keep a reply and a checkpoint; answer the bytes that were given."""
    state = {"next_action": f"Answer question {number + 1}."}
    world.say(run, REPLY, TurnRole.ASSISTANT)
    world.move(run, Transition.ADVANCE, version=world.get(run).version, state=state)
    return len(REPLY) + len(stable_json(state))


def _bytes_of(database: Database) -> int:
    with database.engine.connect() as connection:
        pages, size = (
            connection.exec_driver_sql(f"PRAGMA page_{name}").scalar_one() for name in ("count", "size")
        )
    return int(pages * size)
