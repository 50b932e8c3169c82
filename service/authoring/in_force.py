"""What times still hold after an activation: a shortened one ends nothing before its effective date."""

from service.authoring.store_activations import ActivationStore
from service.identity.unit import Unit
from service.policies.active import active_bundle, kept_bundle
from service.policies.lengthen import lengthen
from service.policies.model import Bundle


def bundle_for_ending(unit: Unit) -> Bundle:
    """Answer what counts, with no time shorter than in versions replaced lately.

    For jobs that end or destroy, and for nothing else. Raises `PolicyUnreadable`, and then nothing ends.
    """
    former = ActivationStore.of(unit).in_grace(unit.now)
    return lengthen(active_bundle(unit), [kept_bundle(version, unit) for version in former])
