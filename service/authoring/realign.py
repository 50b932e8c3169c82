"""Bringing what is kept in line with the policy that counts, after an activation."""

from typing import Final

from service.authoring.store_activations import ActivationStore
from service.identity.unit import Unit
from service.memories.realign import realign
from service.policies.active import active_bundle

ACTIVATED_TOPIC: Final = "policy.activated"
"""The message after which ends are brought in line. It holds nothing: what counts is read."""
_MEMORIES_AT_ONCE: Final = 500


def realign_next(after: str, *, unit: Unit) -> str | None:
    """Bring the next memories in line with what counts; answer after which to go on, `None` at the end."""
    activation = ActivationStore.of(unit).find_active()
    if activation is None or activation.effective_at is None:
        return None
    return realign(
        active_bundle(unit),
        effective_at=activation.effective_at,
        after=after,
        limit=_MEMORIES_AT_ONCE,
        unit=unit,
    )
