"""All that is known of a run at one moment, read once for whoever describes it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from service.executions.acceptance.model import Candidate, Check, RequirementStanding
from service.executions.approvals.model import Approval
from service.executions.conversation.model import Pin
from service.executions.leases.model import Lease
from service.executions.ledger.model import Effect
from service.executions.model import Execution
from service.executions.standings import read_standings
from service.executions.store import ExecutionStore
from service.executions.work.model import ExitStatus, Step, Task
from service.executions.work.rules import derive_all
from service.identity.unit import Unit
from service.policies.model import Bundle


@dataclass(frozen=True, slots=True)
class Facts:
    """One run with its ledgers. `undeclared` are tasks that stand in the log and in no manifest.

    `log` is without its summaries; `last_completed` is its newest completed line, with its own.
    `environment` is what the checks that stand were made in, `lease` the one that lives, whoever holds it.
    """

    execution: Execution
    state: Mapping[str, Any]
    tasks: Sequence[Task]
    undeclared: Sequence[Task]
    log: Sequence[Step]
    last_completed: Step | None
    pins: Sequence[Pin]
    effects: Sequence[Effect]
    approvals: Sequence[Approval]
    candidates: Sequence[Candidate]
    standings: Sequence[RequirementStanding]
    environment: Mapping[str, Any]
    lease: Lease | None


def gather(execution_id: str, *, unit: Unit, bundle: Bundle) -> Facts:
    """Answer the facts of a run under a policy. Raises `NotFound` for one that the caller may not read."""
    store = ExecutionStore.of(unit)
    execution = store.get(execution_id)
    log = store.work.outline(execution_id)
    tasks, undeclared = derive_all(store.work.declared(execution_id), log)
    standings = read_standings(execution_id, unit=unit, bundle=bundle)
    return Facts(
        execution=execution,
        state=store.latest_state(execution_id),
        tasks=tasks,
        undeclared=undeclared,
        log=log,
        last_completed=_last_completed(execution_id, log, store),
        pins=store.pins(execution_id),
        effects=store.effects(execution_id),
        approvals=store.approvals_of(execution_id),
        candidates=store.candidates(execution_id),
        standings=standings,
        environment=_environment(standings, store.checks(execution_id)),
        lease=store.leases.find_living(execution_id, now=unit.now),
    )


def _last_completed(execution_id: str, log: Sequence[Step], store: ExecutionStore) -> Step | None:
    done = (step for step in reversed(log) if step.exit_status is ExitStatus.COMPLETED)
    newest = next(done, None)
    return None if newest is None else store.work.find_step(execution_id, newest.id)


def _environment(standings: Sequence[RequirementStanding], checks: Sequence[Check]) -> Mapping[str, Any]:
    """Answer what a fresh session compares with where it works; of two values the newer check's counts."""
    standing = {one.check_id for one in standings if one.check_id is not None}
    merged: dict[str, Any] = {}
    for check in checks:
        if check.passed and check.id in standing:
            merged |= check.environment
    return merged
