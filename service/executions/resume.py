"""Going on with a run: everything is read anew, one decision is taken, and one worker gets the lease."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from service.audit.model import Action
from service.audit.record import record
from service.core.errors import NotFound, Refusal
from service.core.ids import is_id
from service.executions.acceptance.model import FoundEnvironment
from service.executions.complete import complete
from service.executions.expire import expire
from service.executions.facts import Facts, gather
from service.executions.leases.model import Lease
from service.executions.leases.rules import grant
from service.executions.let_go import let_go, release_lease
from service.executions.model import STATE_SCHEMA_VERSION, EndedReason, Execution, Status
from service.executions.ports import References
from service.executions.recovery.model import Decision, Found, Verb
from service.executions.recovery.rules import decide
from service.executions.refusals import AccessGone, ActingUserOnly, ReviewRequired, SchemaNewer
from service.executions.review import require_review
from service.executions.rules import ENDED
from service.executions.sources import Drift
from service.executions.stand_anew import stand_anew
from service.executions.store import ExecutionStore
from service.identity.standing import is_member
from service.identity.unit import Unit
from service.policies.model import Bundle


@dataclass(frozen=True, slots=True)
class Resumption:
    """What a fresh session is told.

    `lease` is the caller's own; `None` where the decision gives none or another worker holds the run, until
    `leased_until`. `facts` are what the handoff is written from.
    """

    decision: Decision
    facts: Facts
    lease: Lease | None
    leased_until: datetime | None


def resume(
    execution_id: str,
    found: Found,
    *,
    unit: Unit,
    bundle: Bundle,
    references: References,
    at_source: Mapping[str, Drift],
    lease_lifetime: timedelta,
) -> Resumption | Refusal:
    """Decide what has to be done first in a run, and give the caller its lease where work may go on.

    `at_source` says of references what reading their sources again has shown. Nothing is cached: permission,
    consent, policy, approvals and evidence are read in this transaction. Raises `NotFound`, `ActingUserOnly`,
    `ReviewRequired` and `SchemaNewer`. Answers `AccessGone`, to be refused after the commit, where the acting
    user may no longer enter the project: the run then waits for a person.
    """
    store = ExecutionStore.of(unit)
    execution = _claim(execution_id, store, unit)
    if isinstance(execution, Refusal):
        return execution
    _end_if_over(execution, store, unit)
    _keep_environment(execution, found, store, unit)
    facts = gather(execution_id, unit=unit, bundle=bundle)
    standing = stand_anew(facts, found, unit=unit, bundle=bundle, references=references, at_source=at_source)
    decision = decide(standing)
    if decision.verb is Verb.COMPLETED:
        complete(store, execution, unit=unit)
    lease, leased_until = _lease(execution, decision, store, unit, lease_lifetime)
    record(
        unit,
        Action.EXECUTION_RESUMED,
        kind="execution",
        ref=execution.id,
        decision=str(decision),
        fencing_token=None if lease is None else lease.fencing_token,
        mode=None if lease is None else lease.mode.value,
    )
    if decision.verb is Verb.COMPLETED:
        facts = gather(execution_id, unit=unit, bundle=bundle)
    facts = replace(facts, lease=store.leases.find_living(execution_id, now=unit.now))
    return Resumption(decision, facts, lease, leased_until)


def _claim(execution_id: str, store: ExecutionStore, unit: Unit) -> Execution | Refusal:
    """Answer the run, locked, if the caller may go on with it."""
    caller = unit.caller
    execution = store.runs.find(execution_id, lock=True) if is_id(execution_id) else None
    if execution is None:
        raise NotFound
    is_theirs = execution.acting_user == caller.sub
    if execution.project_id not in caller.project_ids:
        # Only who opened it may learn that it is there; and only their own lost access stops the run.
        if not is_theirs or is_member(execution.acting_user, project_id=execution.project_id, unit=unit):
            raise NotFound
        _leave_alone_if_newer(execution)
        require_review(execution, unit=unit)
        return AccessGone()
    _leave_alone_if_newer(execution)
    if not is_theirs:
        raise ActingUserOnly
    if execution.status is Status.REVIEW_REQUIRED:
        raise ReviewRequired
    return store.get(execution_id)


def _leave_alone_if_newer(execution: Execution) -> None:
    if execution.schema_version > STATE_SCHEMA_VERSION:
        raise SchemaNewer


def _end_if_over(execution: Execution, store: ExecutionStore, unit: Unit) -> None:
    """Write down what holds by itself: the deadline has passed, or the state is too old to be read."""
    if execution.status is Status.EXPIRED:
        expire(execution, unit=unit)
    elif execution.status is Status.UNSUPPORTED_SCHEMA and execution.ended_reason is None:
        let_go(store, execution, unit=unit)
        store.runs.save(replace(execution, ended_reason=EndedReason.SCHEMA, updated_at=unit.now))
        record(
            unit,
            Action.EXECUTION_UNSUPPORTED,
            kind="execution",
            ref=execution.id,
            schema_version=execution.schema_version,
        )


def _keep_environment(execution: Execution, found: Found, store: ExecutionStore, unit: Unit) -> None:
    """Keep what was found around the run: checks that were made elsewhere count no longer until it changes.

    Only of who will hold the run: a passer-by must not devalue the checks of somebody else's work.
    """
    if found.environment is None or execution.status in ENDED:
        return
    lease = store.leases.find(execution.id)
    if lease is not None and lease.lives(unit.now) and unit.fencing_token != lease.fencing_token:
        return
    if any(check.environment for check in store.checks(execution.id)):
        highest = store.acceptance.next_check(execution.id) - 1
        store.acceptance.keep_environment(execution, FoundEnvironment(found.environment, highest))


def _lease(
    execution: Execution, decision: Decision, store: ExecutionStore, unit: Unit, lifetime: timedelta
) -> tuple[Lease | None, datetime | None]:
    """Answer the caller's own lease, and until when some lease lives."""
    before = store.leases.find(execution.id)
    if decision.mode is None:
        # Nothing is left to hold the run for; another worker's lease lapses by itself.
        if before is None or not before.lives(unit.now):
            return None, None
        if unit.fencing_token != before.fencing_token:
            return None, before.expires_at
        release_lease(store, execution)
        return None, None
    granted = grant(
        before,
        execution_id=execution.id,
        mode=decision.mode,
        holder=unit.caller.principal,
        token=unit.fencing_token,
        now=unit.now,
        lifetime=lifetime,
    ).lease
    if granted is not None:
        store.leases.keep(granted)
    held = granted or before
    return granted, None if held is None else held.expires_at
