"""The order of recovery: the first step that holds is the decision. Pure.

The steps are those of the contract; who may continue at all is settled before, since that is a refusal.
"""

from collections.abc import Callable, Iterator
from typing import Final

from service.executions.acceptance.model import CheckStatus
from service.executions.acceptance.rules import environment_matches
from service.executions.ledger.model import Effect, EffectStatus
from service.executions.model import STATE_SCHEMA_VERSION, Status
from service.executions.recovery.model import REASONS_MAX, Decision, Reason, ReasonCode, Standing, Verb
from service.executions.rules import ENDED
from service.executions.work.model import Standing as TaskStanding
from service.executions.work.model import Task

OBJECTIVE: Final = "objective"
"""What is gone on with where no task and no requirement says more."""
CONTRACT: Final = "contract"
"""What is to be confirmed where everything else holds."""

_MOVED: Final = "What the approval was given for no longer holds: ask again, or cancel it."

Step = Callable[[Standing], Decision | None]


def decide(standing: Standing) -> Decision:
    """Answer what has to be done first. Every step looks at the record and at what was found, at no claim."""
    decision = next(filter(None, (step(standing) for step in _STEPS)), Decision(Verb.COMPLETED))
    return Decision(decision.verb, decision.about, tuple(decision.reasons)[:REASONS_MAX])


def holds(standing: Standing) -> bool:
    """Say whether nothing is left to do. The steps are the same, so that completing agrees with resuming."""
    return decide(standing).verb is Verb.COMPLETED


def _ended(standing: Standing) -> Decision | None:
    status = standing.execution.status
    if status not in ENDED:
        return None
    return Decision(Verb.ENDED, status.value, (Reason(ReasonCode.EXECUTION_ENDED, f"The run is {status}."),))


def _mismatch(standing: Standing) -> Decision | None:
    reasons = [*_schema(standing), *_contract(standing), *_artifact(standing), *_environment(standing)]
    return Decision(Verb.REVALIDATE, reasons=reasons) if reasons else None


def _schema(standing: Standing) -> Iterator[Reason]:
    given = standing.found.schema_version
    if given is not None and given != STATE_SCHEMA_VERSION:
        yield Reason(ReasonCode.SCHEMA_DIFFERS, f"The record is of schema version {STATE_SCHEMA_VERSION}.")


def _contract(standing: Standing) -> Iterator[Reason]:
    given, recorded = standing.found.contract_hash, standing.execution.contract_hash
    if given == recorded:
        return
    if given is None:
        yield Reason(ReasonCode.CONTRACT_HASH_NOT_GIVEN, "Say the hash of the contract that you work by.")
        return
    yield Reason(ReasonCode.CONTRACT_DIFFERS, "The run has another contract than the one you found.")
    yield from _in_doubt(standing, "made under the run's contract, not the one you found")


def _artifact(standing: Standing) -> Iterator[Reason]:
    given, recorded = standing.found.artifact_hash, standing.artifact_hash
    if given == recorded:
        return
    if given is None:
        yield Reason(ReasonCode.ARTIFACT_HASH_NOT_GIVEN, "Say the hash of the artifact that you found.")
    elif recorded is None:
        yield Reason(ReasonCode.ARTIFACT_NOT_SUBMITTED, "The artifact that you found was never submitted.")
    else:
        yield Reason(ReasonCode.ARTIFACT_DIFFERS, "The artifact that you found is not the present candidate.")
        yield from _in_doubt(standing, "made on the present candidate, not on what you found")


def _environment(standing: Standing) -> Iterator[Reason]:
    found = standing.found.environment
    for check in standing.counted:
        if not check.environment or environment_matches(check.environment, found or {}):
            continue
        code, words = (
            (ReasonCode.ENVIRONMENT_NOT_GIVEN, "It was made in a recorded environment, and you gave none.")
            if found is None
            else (
                ReasonCode.ENVIRONMENT_DIFFERS,
                "It was made in another environment than you found.",
            )
        )
        yield Reason(code, words, f"check:{check.id}")


def _in_doubt(standing: Standing, why: str) -> Iterator[Reason]:
    for check in standing.counted:
        yield Reason(ReasonCode.CHECK_NO_LONGER_COUNTS, f"It was {why}.", f"check:{check.id}")
    for ref in standing.derived_from:
        if ref.startswith("observation:"):
            yield Reason(ReasonCode.OBSERVATION_NO_LONGER_COUNTS, "It was made before what you found.", ref)


def _effects(standing: Standing) -> Decision | None:
    unknown = [one for one in standing.effects if one.status is not EffectStatus.ESCALATED]
    first = next(iter([*unknown, *standing.effects]), None)
    if first is None:
        return None
    verb = Verb.RECONCILE if unknown else Verb.ESCALATED
    return Decision(verb, first.operation_id, [_unsettled(one) for one in (unknown or standing.effects)])


def _unsettled(effect: Effect) -> Reason:
    ref = f"effect:{effect.operation_id}"
    if effect.status is EffectStatus.ESCALATED:
        return Reason(ReasonCode.EFFECT_ESCALATED, "Nobody could establish its outcome.", ref)
    return Reason(ReasonCode.EFFECT_UNKNOWN, f"It is {effect.status}; nobody knows more.", ref)


def _undelivered(standing: Standing) -> Decision | None:
    """Everything holds but for a command that the service has not delivered yet: it is waited for."""
    if not standing.undelivered:
        return None
    words = "A connector has not delivered it yet: come again."
    reasons = [
        Reason(ReasonCode.EFFECT_UNDELIVERED, words, f"effect:{effect.operation_id}")
        for effect in standing.undelivered
    ]
    return Decision(Verb.RECONCILE, standing.undelivered[0].operation_id, reasons)


def _approvals(standing: Standing) -> Decision | None:
    if not standing.approvals:
        return None
    reasons = [
        Reason(f"approval_{code}", _MOVED, f"approval:{lapsed.approval_id}")
        for lapsed in standing.approvals
        for code in lapsed.moved
    ]
    return Decision(Verb.REAPPROVE, standing.approvals[0].approval_id, reasons)


def _sources(standing: Standing) -> Decision | None:
    if not standing.sources:
        return None
    reasons = [Reason(one.drift.value, one.drift.message, one.source.ref) for one in standing.sources]
    return Decision(Verb.REFRESH, standing.sources[0].source.id, reasons)


def _summary(standing: Standing) -> Decision | None:
    if standing.summary is None:
        return None
    reasons = [Reason(one.drift.value, one.drift.message, one.source.ref) for one in standing.summary.sources]
    return Decision(Verb.REFRESH, standing.summary.summary_id, reasons)


def _tasks(standing: Standing) -> Decision | None:
    undone = [task for task in standing.tasks if task.standing is not TaskStanding.COMPLETED]
    begun = [task for task in undone if task.standing is TaskStanding.STARTED]
    first = next(iter(begun or undone), None)
    if first is None:
        return None
    return Decision(Verb.CONTINUE, first.id, [_undone(task) for task in (begun or undone)])


def _undone(task: Task) -> Reason:
    words = {
        TaskStanding.STARTED: "It was started, and nothing says that it ended.",
        TaskStanding.REOPENED: "It was completed, and what it read has changed since.",
        TaskStanding.FAILED: "It failed.",
    }
    return Reason(
        ReasonCode(f"task_{task.standing}"), words.get(task.standing, "It is not done."), f"task:{task.id}"
    )


def _requirements(standing: Standing) -> Decision | None:
    undone = [one for one in standing.standings if one.status is not CheckStatus.PASSED]
    if not undone:
        return None
    verb = Verb.ESCALATE if undone[0].escalated else Verb.VERIFY
    reasons = [
        Reason(ReasonCode(f"check_{one.status}"), _unchecked(one.status), f"requirement:{one.requirement}")
        for one in undone
    ]
    return Decision(verb, undone[0].requirement, reasons)


def _unchecked(status: CheckStatus) -> str:
    return {
        CheckStatus.FAILED: "Its newest check of this candidate failed.",
        CheckStatus.STALE: "It was checked, but not this candidate in this environment.",
    }.get(status, "No check of this candidate says that it holds.")


def _unfinished(standing: Standing) -> Decision | None:
    """What keeps a run from being completed although every step before holds."""
    if standing.execution.status is Status.FAILED:
        reason = Reason(ReasonCode.RUN_FAILED, "The run is failed: retry it by a checkpoint.")
        return Decision(Verb.CONTINUE, OBJECTIVE, (reason,))
    if not standing.standings:
        reason = Reason(ReasonCode.CONTRACT_EMPTY, "The contract asks for nothing: nothing completes it.")
        return Decision(Verb.CONTINUE, OBJECTIVE, (reason,))
    if standing.confirmation_missing:
        reason = Reason(ReasonCode.CONTRACT_UNCONFIRMED, "A person has to confirm the contract.")
        return Decision(Verb.VERIFY, CONTRACT, (reason,))
    return None


_STEPS: Final[tuple[Step, ...]] = (
    _ended,
    _mismatch,
    _effects,
    _approvals,
    _sources,
    _summary,
    _tasks,
    _requirements,
    _unfinished,
    _undelivered,
)
