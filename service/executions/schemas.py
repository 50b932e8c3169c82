"""What a checkpoint's sealed payload looks like in each schema version, and the steps from one to the next.

Old payloads are never rewritten: they are upgraded when they are read.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final

from service.executions.model import SCHEMA_VERSION_OLDEST, STATE_SCHEMA_VERSION

Payload = Mapping[str, Any]
Upgrade = Callable[[Payload], Payload]


def _pin_sources(state: Payload) -> Payload:
    """1 to 2: version 1 was the bare state. Its references named no version, so none is known."""
    references = state.get("derived_from", [])
    return {"state": state, "sources": [[reference, None, None] for reference in references]}


UPGRADES: Final[Mapping[int, Upgrade]] = MappingProxyType({1: _pin_sources})
"""The step away from each version that this release can still read."""
assert set(UPGRADES) == set(range(SCHEMA_VERSION_OLDEST, STATE_SCHEMA_VERSION))


def upgrade(payload: Payload, version: int) -> Payload:
    """Answer the payload in the present form: `state`, and `sources` as `[reference, version, sha256]`.

    `version` is one that `is_readable` accepts.
    """
    assert is_readable(version)
    for step in range(version, STATE_SCHEMA_VERSION):
        payload = UPGRADES[step](payload)
    return payload


def is_readable(version: int) -> bool:
    """Say whether this release reads payloads of a version, by upgrading them or as they are."""
    return SCHEMA_VERSION_OLDEST <= version <= STATE_SCHEMA_VERSION
