"""How requirements stand on the present candidate. Pure."""

from collections.abc import Sequence

from service.executions.acceptance.model import (
    Candidate,
    Check,
    CheckStatus,
    RequirementStanding,
)


def stand(
    requirement_ids: Sequence[str],
    *,
    contract_hash: str,
    candidates: Sequence[Candidate],
    checks: Sequence[Check],
) -> Sequence[RequirementStanding]:
    """Answer how each requirement stands: by the newest check of this candidate under this contract.

    One that was only checked on another candidate is stale, with that check named.
    """
    artifact_hash = candidates[-1].artifact_hash if candidates else None
    standings = []
    for requirement in requirement_ids:
        mine = [check for check in checks if check.requirement == requirement]
        now = [
            check
            for check in mine
            if check.artifact_hash == artifact_hash and check.contract_hash == contract_hash
        ]
        if now:
            status = CheckStatus.PASSED if now[-1].passed else CheckStatus.FAILED
        else:
            status = CheckStatus.STALE if mine else CheckStatus.MISSING
        newest = next(reversed(now or mine), None)
        standings.append(
            RequirementStanding(
                requirement=requirement,
                status=status,
                check_id=None if newest is None else newest.id,
                evidence=None if newest is None else newest.output_ref,
            )
        )
    return standings
