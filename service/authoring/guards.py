"""How much one activation may affect, as the policy that counts says. Pure but for what it is handed."""

from service.authoring.activation import BlastRadiusExceeded
from service.authoring.model import Plan
from service.policies.model import Guards

_LOSES = ("sooner", "now", "hidden")
"""What happens to memories that somebody may miss."""


def refuse_too_much(plan: Plan, guards: Guards) -> None:
    """Raise `BlastRadiusExceeded` where more memories would be lost sooner or hidden than the guards allow.

    The guards are those of the policy that counts: a candidate cannot widen what it is held to.
    """
    memories = plan.effect.affected.get("memories", {})
    affected = sum(int(memories.get(name, 0)) for name in _LOSES)
    total = int(memories.get("total", 0))
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
