"""`compare`: what a candidate says otherwise than the policy that counts, rule by rule."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from service.identity.unit import Unit
from service.policies.active import active_bundle
from service.policies.differences import direction_of, rule_changes
from service.policies.model import Bundle
from service.policies.store import PolicyStore


@dataclass(frozen=True, slots=True)
class RuleDifference:
    """A candidate beside what counts. Each change has a `path`, what stood and stands there, `direction`."""

    candidate: Bundle
    base: Bundle
    base_revision: int
    direction: str
    changes: Sequence[Mapping[str, Any]]


def compare(candidate: Bundle, *, unit: Unit) -> RuleDifference:
    """Answer how a candidate differs from the version that counts. Raises `PolicyUnreadable`."""
    active, base = PolicyStore.of(unit).find_active(), active_bundle(unit)
    changes = rule_changes(base, candidate)
    return RuleDifference(
        candidate=candidate,
        base=base,
        base_revision=0 if active is None else active.revision,
        direction=direction_of(changes).value,
        changes=[{**asdict(change), "direction": change.direction.value} for change in changes],
    )
