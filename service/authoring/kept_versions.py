"""The bundles of versions that a tenant has or had, read once for as long as they are needed."""

from service.identity.unit import Unit
from service.policies.findings import BundleInvalid
from service.policies.load import load_bundle
from service.policies.model import NO_BUNDLE, Bundle
from service.policies.store import PolicyStore


class KeptVersions:
    """Answers bundles by version."""

    def __init__(self, unit: Unit, *known: Bundle) -> None:
        self._store = PolicyStore.of(unit)
        self._found: dict[str, Bundle | None] = {one.version: one for one in (NO_BUNDLE, *known)}

    def find(self, version: str) -> Bundle | None:
        """Answer the bundle; `None` for one that the tenant never had or this release cannot read."""
        if version not in self._found:
            try:
                bundle = load_bundle(self._store.find_files(version) or {})
            except BundleInvalid:
                self._found[version] = None
            else:
                self._found[version] = bundle if bundle.version == version else None
        return self._found[version]
