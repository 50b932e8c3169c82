"""A shadow as surfaces answer it: the same over HTTP and on the command line."""

from service.authoring.plan import shown_samples
from service.authoring.shadow import Shadowed
from service.identity.unit import Unit
from service.wire.policies_shadow import ShadowAnswer


def shadow_answer(found: Shadowed, unit: Unit) -> ShadowAnswer:
    """Answer a shadow for who asks: projects of samples by name where they are a member, else without."""
    shadow = found.shadow
    return ShadowAnswer(
        id=shadow.id,
        plan=shadow.plan_id,
        status=found.status.value,
        base_version=shadow.base_version,
        candidate_version=shadow.candidate_version,
        began_by=shadow.requester[:16],
        began_at=shadow.created_at,
        until=shadow.until,
        ended_at=shadow.ended_at,
        affected=dict(found.effect.affected),
        samples={part: list(each) for part, each in shown_samples(found.effect, unit=unit).items()},
    )
