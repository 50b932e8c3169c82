"""`plan`: simulate a candidate and keep what was found, so that an activation can name exactly that."""

from collections.abc import Mapping
from dataclasses import dataclass

from service.authoring.compare import compare
from service.authoring.model import Effect, Plan, hash_plan
from service.authoring.simulate import Progress, simulate
from service.authoring.store_plans import PlanStore
from service.core.failpoints import hit
from service.identity.store import IdentityStore
from service.identity.unit import Unit
from service.policies.model import Bundle
from service.policies.store import PolicyStore


@dataclass(frozen=True, slots=True)
class Drafted:
    """A plan that is not kept yet, and its candidate's files."""

    plan: Plan
    files: Mapping[str, str]


def draft_plan(
    candidate: Bundle, files: Mapping[str, str], *, unit: Unit, days: int, progress: Progress
) -> Drafted:
    """Answer what `candidate`, whose text is `files`, would do; reads only, and may take seconds.

    Raises `Invalid` for days outside 1 to 365 and `PolicyUnreadable`.
    """
    found = compare(candidate, unit=unit)
    effect = simulate(candidate, found.base, unit=unit, days=days, progress=progress)
    plan_hash = hash_plan(
        candidate_version=candidate.version,
        base_version=found.base.version,
        base_revision=found.base_revision,
        days=days,
        direction=found.direction,
        changes=found.changes,
        effect=effect,
    )
    plan = Plan(
        id=unit.ids(),
        hash=plan_hash,
        candidate_version=candidate.version,
        base_version=found.base.version,
        base_revision=found.base_revision,
        days=days,
        made_by=unit.cipher.keyed_hash(unit.caller.principal),
        made_at=unit.now,
        direction=found.direction,
        changes=found.changes,
        effect=effect,
    )
    return Drafted(plan, files)


def keep_plan(drafted: Drafted, *, unit: Unit) -> None:
    """Keep a plan and its candidate's files. Nothing becomes active by that."""
    plan = drafted.plan
    PolicyStore.of(unit).add_version(plan.candidate_version, drafted.files, now=unit.now)
    hit("simulate.before_plan")
    PlanStore.of(unit).add(plan)


def shown_samples(effect: Effect, *, unit: Unit) -> Mapping[str, list[dict[str, object]]]:
    """Answer the samples for a reader: a project by its name where they are a member, else without."""
    # Authors stand beside the projects and may enter each; what one is called they need not know for that.
    mine = IdentityStore(unit.session, unit.tenant_id).projects_of([unit.caller.subject], project_id=None)
    names = {project.id: project.name for project in mine}
    return {
        part: [
            {
                **{name: value for name, value in sample.items() if name != "project_id"},
                "project": names.get(str(sample["project_id"])),
            }
            for sample in found
        ]
        for part, found in effect.samples.items()
    }
