"""The bundle that counts for a caller's tenant, read in the transaction that relies on it."""

from collections import OrderedDict
from collections.abc import Mapping
from threading import Lock
from typing import Final

from service.core.errors import Unavailable
from service.identity.unit import Unit
from service.policies.findings import BundleInvalid
from service.policies.load import load_bundle
from service.policies.model import NO_BUNDLE, Bundle
from service.policies.store import PolicyStore

PARSED_BUNDLES_MAX: Final = 64


class PolicyUnreadable(Unavailable):
    """The tenant's active version cannot be read by this release: nothing is decided rather than guessed."""

    code = "policy_unreadable"
    title = "The active policy cannot be read"


class ParsedBundles:
    """Bundles by version, the least lately used forgotten first. A version is a digest: it never changes."""

    def __init__(self, bundles_max: int = PARSED_BUNDLES_MAX) -> None:
        self._bundles: OrderedDict[str, Bundle] = OrderedDict()
        self._bundles_max = bundles_max
        self._lock = Lock()

    def find(self, version: str) -> Bundle | None:
        """Answer the bundle of a version, where it was parsed lately."""
        with self._lock:
            bundle = self._bundles.get(version)
            if bundle is not None:
                self._bundles.move_to_end(version)
            return bundle

    def keep(self, bundle: Bundle) -> None:
        """Remember a bundle."""
        with self._lock:
            self._bundles[bundle.version] = bundle
            while len(self._bundles) > self._bundles_max:
                self._bundles.popitem(last=False)

    def __len__(self) -> int:
        return len(self._bundles)


# Shared by all tenants: what stands under a digest is the same for each that has it.
_parsed: Final = ParsedBundles()


def active_bundle(unit: Unit) -> Bundle:
    """Answer the active bundle of the caller's tenant; where there is none, one that allows nothing.

    Raises `PolicyUnreadable` when the kept files are not the version that they are kept under, or when this
    release finds an error in them: neither may become a permission.
    """
    active = PolicyStore.of(unit).find_active()
    if active is None:
        return NO_BUNDLE
    return kept_bundle(active.version, unit)


def kept_bundle(version: str, unit: Unit) -> Bundle:
    """Answer a version that the tenant has, active or not. Raises `PolicyUnreadable`."""
    if (bundle := _parsed.find(version)) is not None:
        return bundle
    bundle = _parse(PolicyStore.of(unit).find_files(version), version)
    _parsed.keep(bundle)
    return bundle


def _parse(files: Mapping[str, str] | None, version: str) -> Bundle:
    try:
        bundle = load_bundle(files or {})
    except BundleInvalid:
        raise PolicyUnreadable(
            "This release finds errors in it; activate a version that it can read."
        ) from None
    if bundle.version != version:
        raise PolicyUnreadable("Its files are not those of its version.")
    return bundle
