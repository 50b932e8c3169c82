"""How much one activation may affect, and how far the data may have moved since its plan was made. Pure."""

from collections.abc import Mapping
from typing import Final

from service.authoring.activation import BlastRadiusExceeded, PlanOutdated
from service.authoring.model import Plan
from service.policies.model import Guards

_LOSSES: Final = ("sooner", "now", "hidden")
"""What happens to memories that somebody may miss. From one to the next of these time alone moves them."""
_GAINS: Final = ("later", "revealed")


def refuse_moved(plan: Plan, memories: Mapping[str, int], guards: Guards) -> None:
    """Raise `PlanOutdated` where other numbers of memories are affected than the plan says.

    `memories` is what the plan would do now. What is tolerated is a share of all that lived when it was made.
    """
    planned = plan.effect.affected.get("memories", {})
    tolerated = guards.tolerance_percent * int(planned.get("total", 0))
    for kinds in (_LOSSES, _GAINS):
        moved = abs(_sum(memories, kinds) - _sum(planned, kinds))
        if moved * 100 > tolerated:
            raise PlanOutdated(
                f"The data have moved: by {moved} memories, more than guards.tolerance_percent,"
                f" {guards.tolerance_percent}, allows. Simulate again."
            )


def refuse_too_much(memories: Mapping[str, int], guards: Guards) -> None:
    """Raise `BlastRadiusExceeded` where more memories would be lost sooner or hidden than the guards allow.

    The guards are those of the policy that counts: a candidate cannot widen what it is held to.
    """
    affected, total = _sum(memories, _LOSSES), int(memories.get("total", 0))
    if affected > guards.max_affected:
        raise BlastRadiusExceeded(
            f"{affected} memories would be affected, and guards.max_affected is {guards.max_affected}.",
            affected=affected,
        )
    if total and affected * 100 > guards.max_affected_percent * total:
        raise BlastRadiusExceeded(
            f"{affected} of {total} memories would be affected, and guards.max_affected_percent is"
            f" {guards.max_affected_percent}.",
            affected=affected,
        )


def _sum(counts: Mapping[str, int], kinds: tuple[str, ...]) -> int:
    return sum(int(counts.get(kind, 0)) for kind in kinds)
