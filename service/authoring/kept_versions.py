"""The bundles of versions that a tenant has or had, those last asked for read once."""

from collections import OrderedDict
from typing import Final

from service.identity.unit import Unit
from service.policies.findings import BundleInvalid
from service.policies.load import load_bundle
from service.policies.model import NO_BUNDLE, Bundle
from service.policies.store import PolicyStore

REMEMBERED_MAX: Final = 16
"""Proposals come in the order in which they were made, so that few versions alternate."""


class KeptVersions:
    """Answers bundles by version, in bounded memory however many versions there were."""

    def __init__(self, unit: Unit, *known: Bundle) -> None:
        self._store = PolicyStore.of(unit)
        self._known = {one.version: one for one in (NO_BUNDLE, *known)}
        self._found: OrderedDict[str, Bundle | None] = OrderedDict()

    def find(self, version: str) -> Bundle | None:
        """Answer the bundle; `None` for one that the tenant never had or this release cannot read."""
        if version in self._known:
            return self._known[version]
        if version not in self._found:
            self._found[version] = self._read(version)
            if len(self._found) > REMEMBERED_MAX:
                self._found.popitem(last=False)
        self._found.move_to_end(version)
        return self._found[version]

    def _read(self, version: str) -> Bundle | None:
        try:
            bundle = load_bundle(self._store.find_files(version) or {})
        except BundleInvalid:
            return None
        return bundle if bundle.version == version else None
