"""Asking graders to check the present candidate."""

from collections.abc import Sequence

from service.audit.model import Action
from service.audit.record import record
from service.executions.acceptance.model import CheckRequest, CheckStatus
from service.executions.hold import hold
from service.executions.refusals import CandidateMissing, RequirementUnknown
from service.executions.standings import read_standings
from service.executions.store import ExecutionStore
from service.identity.unit import Unit
from service.policies.model import Bundle


def request_checks(
    execution_id: str, requirements: Sequence[str], *, unit: Unit, bundle: Bundle
) -> tuple[Sequence[CheckRequest], bool]:
    """Ask for checks of these requirements on the present candidate; of none: of all that have not passed.

    Answers the requests, and whether any is new: one that waits already is answered as it stands. A
    requirement that was checked may be asked for again. Raises `RequirementUnknown` and `CandidateMissing`.
    """
    store = ExecutionStore.of(unit)
    execution = hold(store, execution_id, unit=unit)
    for position, requirement in enumerate(requirements):
        if requirement not in execution.requirement_ids:
            raise RequirementUnknown(pointer=f"/requirements/{position}")
    candidates = store.candidates(execution_id)
    if not candidates:
        raise CandidateMissing
    artifact_hash = candidates[-1].artifact_hash
    waiting = {one.requirement: one for one in store.check_requests.of_run(execution_id)}
    sequence = store.check_requests.next_sequence(execution_id)
    asked: list[CheckRequest] = []
    new: list[str] = []
    for requirement in dict.fromkeys(requirements) or _unpassed(execution_id, unit=unit, bundle=bundle):
        request = waiting.get(requirement)
        if request is None:
            request = CheckRequest(
                id=unit.ids(),
                execution_id=execution.id,
                sequence=sequence + len(new),
                requirement=requirement,
                artifact_hash=artifact_hash,
                contract_hash=execution.contract_hash,
                by=unit.caller.subject,
                at=unit.now,
            )
            store.check_requests.add(request)
            new.append(requirement)
        asked.append(request)
    if new:
        record(
            unit,
            Action.CHECK_REQUESTED,
            kind="execution",
            ref=execution.id,
            requirements=new,
            artifact_hash=artifact_hash,
        )
    return asked, bool(new)


def _unpassed(execution_id: str, *, unit: Unit, bundle: Bundle) -> Sequence[str]:
    standings = read_standings(execution_id, unit=unit, bundle=bundle)
    return [one.requirement for one in standings if one.status is not CheckStatus.PASSED]
