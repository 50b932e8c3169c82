"""`rollback`: make a version that counted before count again, and say what that does not bring back."""

from dataclasses import dataclass

from service.authoring.activate import begin_rollback, expect_active
from service.authoring.activation import Activation, NothingToActivate
from service.authoring.store_activations import ActivationStore
from service.core.errors import NotFound
from service.identity.unit import Unit
from service.memories.store_losses import count_losses
from service.policies.active import active_bundle, kept_bundle
from service.policies.differences import direction_of, rule_changes
from service.policies.store import PolicyStore

_BACK_MAX = 1_000


@dataclass(frozen=True, slots=True)
class RolledBack:
    """The activation, and what stays as the version that goes has left it, in counts by name."""

    activation: Activation
    cannot_be_undone: dict[str, int]


def roll_back(to_version: str | None, *, expected_revision: int, unit: Unit) -> RolledBack:
    """Go back to a version that counted before, the one before the present one where none is named.

    It is an activation like any other: what is not provably stricter waits for a second person. Raises
    `NotFound` for a version that never counted here, `NothingToActivate`, and `Stale`.
    """
    store = ActivationStore.of(unit)
    store.lock()
    active = expect_active(expected_revision, unit)
    former = [version for version in store.last_versions(_BACK_MAX) if version != active.version]
    if to_version is None and not former:
        raise NothingToActivate("No other version has counted here.")
    target = former[0] if to_version is None else to_version
    if target == active.version:
        raise NothingToActivate("This version counts already.")
    if target not in former or PolicyStore.of(unit).find_files(target) is None:
        raise NotFound
    direction = direction_of(rule_changes(active_bundle(unit), kept_bundle(target, unit)))
    losses = count_losses(active.version, since=active.activated_at, unit=unit)
    return RolledBack(begin_rollback(target, direction, active=active, unit=unit), losses)
