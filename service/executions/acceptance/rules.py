"""How requirements stand on the present candidate: which checks count, and which are carried over. Pure."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from service.executions.acceptance.model import (
    Candidate,
    Check,
    CheckStatus,
    FailureKind,
    FoundEnvironment,
    RequirementStanding,
)
from service.executions.model import Execution
from service.executions.sealed import stable_json
from service.policies.model import Stopping
from service.policies.words import Revalidation

_NO_REVISION: Final = frozenset({FailureKind.ENVIRONMENT, FailureKind.FLAKY})
"""Kinds of failure that no new candidate could mend: they are kept and named, and use up no revision."""


def stand(
    execution: Execution,
    *,
    candidates: Sequence[Candidate],
    checks: Sequence[Check],
    environment: FoundEnvironment | None,
    stopping: Stopping,
) -> Sequence[RequirementStanding]:
    """Answer how each requirement stands, in the contract's order.

    The newest check of the present candidate decides. Without one, the newest of an earlier candidate with
    the same declared inputs does, if it passed and the policy allows that. A check that was made in another
    environment than the one found does not count, and makes the requirement stale.
    """
    revisions_max = most_revisions(execution, stopping)
    by_requirement: dict[str, list[Check]] = {}
    for check in checks:
        if check.contract_hash == execution.contract_hash:
            by_requirement.setdefault(check.requirement, []).append(check)
    standings = []
    for requirement in execution.requirement_ids:
        mine = by_requirement.get(requirement, [])
        status, decisive = _judge(requirement, mine, candidates, environment, stopping.revalidation)
        failures = sum(uses_revision(one) for one in mine)
        standings.append(
            RequirementStanding(
                requirement=requirement,
                status=status,
                check_id=None if decisive is None else decisive.id,
                evidence=None if decisive is None else decisive.output_ref,
                failure_kind=None if decisive is None else decisive.failure_kind,
                carried_from=_carried_from(status, decisive, candidates),
                failures=failures,
                escalated=failures > revisions_max and status is not CheckStatus.PASSED,
            )
        )
    return standings


def most_revisions(execution: Execution, stopping: Stopping) -> int:
    """Answer how many failed checks a requirement may have before it is escalated: the stricter limit."""
    asked = execution.budgets.revisions
    return stopping.revisions_max if asked is None else min(asked, stopping.revisions_max)


def uses_revision(check: Check) -> bool:
    """Say whether a check failed for a reason that another candidate could mend."""
    return not check.passed and check.failure_kind not in _NO_REVISION


def environment_matches(recorded: Mapping[str, Any], found: Mapping[str, Any]) -> bool:
    """Say whether everything that was recorded of an environment is found with an equal value."""
    return all(
        name in found and stable_json(found[name]) == stable_json(value) for name, value in recorded.items()
    )


def counts_in(environment: FoundEnvironment | None, check: Check) -> bool:
    """Say whether a check still counts where the run was found; those written after that do as they are."""
    return (
        environment is None
        or check.sequence > environment.checks
        or environment_matches(check.environment, environment.values)
    )


def _judge(
    requirement: str,
    mine: Sequence[Check],
    candidates: Sequence[Candidate],
    environment: FoundEnvironment | None,
    revalidation: Revalidation,
) -> tuple[CheckStatus, Check | None]:
    if not mine:
        return CheckStatus.MISSING, None
    present = candidates[-1].artifact_hash if candidates else None
    check = next((one for one in reversed(mine) if one.artifact_hash == present), None)
    if check is None and revalidation is Revalidation.AFFECTED:
        check = _carried(requirement, mine, candidates)
    if check is None or not counts_in(environment, check):
        return CheckStatus.STALE, check or mine[-1]
    return (CheckStatus.PASSED if check.passed else CheckStatus.FAILED), check


def _carried_from(status: CheckStatus, decisive: Check | None, candidates: Sequence[Candidate]) -> str | None:
    if decisive is None or status is not CheckStatus.PASSED:
        return None
    checked = decisive.artifact_hash
    return None if checked == candidates[-1].artifact_hash else checked


def _carried(requirement: str, mine: Sequence[Check], candidates: Sequence[Candidate]) -> Check | None:
    """Answer the passing check that speaks for the present candidate too, or `None`.

    A failed check is never carried; newer than the passing one, it stands in its way unless its inputs are
    known to be others. An artifact that was submitted with different inputs speaks for none of them.
    """
    inputs = candidates[-1].inputs.get(requirement) if candidates else None
    if inputs is None:
        return None
    for check in reversed(mine):
        found = {
            candidate.inputs.get(requirement)
            for candidate in candidates
            if candidate.artifact_hash == check.artifact_hash
        }
        if check.passed and found == {inputs}:
            return check
        if not check.passed and (None in found or inputs in found):
            return None
    return None
