"""What a candidate policy would do: its effect in counts and samples, and the plan that holds both."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from service.core.hashing import Json, hash_json

DAYS_MAX: Final = 365
"""How far back a simulation looks at most."""
SAMPLES_MAX: Final = 20
"""How many samples of a kind a plan keeps."""

Counts = Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Effect:
    """What a candidate would do to a tenant's data: counts by part, and samples by part without words.

    `affected` has the parts `memories`, `proposals`, `packages`, `approvals` and `executions`, each with
    its counts, and `subjects`, the number of persons whose memories or proposals are touched.
    """

    affected: Mapping[str, Any]
    samples: Mapping[str, Sequence[Mapping[str, Any]]]


@dataclass(frozen=True, slots=True)
class Plan:
    """A simulation as it is kept. `hash` covers all that decides; `made_by` is the maker's keyed hash."""

    id: str
    hash: str
    candidate_version: str
    base_version: str
    base_revision: int
    days: int
    made_by: str
    made_at: datetime
    direction: str
    changes: Sequence[Mapping[str, Any]]
    effect: Effect


def hash_plan(
    *,
    candidate_version: str,
    base_version: str,
    base_revision: int,
    days: int,
    direction: str,
    changes: Sequence[Mapping[str, Any]],
    effect: Effect,
) -> str:
    """Answer `sha256:<hex>` over everything of a plan that an activation relies on."""
    content: dict[str, Json] = {
        "candidate_version": candidate_version,
        "base_version": base_version,
        "base_revision": base_revision,
        "days": days,
        "direction": direction,
        "changes": [dict(change) for change in changes],
        "affected": dict(effect.affected),
        "samples": {part: [dict(one) for one in found] for part, found in effect.samples.items()},
    }
    return hash_json(content)
