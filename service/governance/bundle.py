"""A signed evidence bundle: what the record says of one run or memory, to be believed without this service.

It holds ids, codes, times, hashes and who did what; no text that anybody wrote but the policies that counted.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime
from decimal import Decimal
from enum import Enum
from typing import Any, Final

from service.core.clock import format_time
from service.core.hashing import canonical_json, hash_json
from service.core.signing import Signer, signed
from service.governance.bundle_check import FORMAT
from service.governance.bundle_proof import BundleTooLarge
from service.identity.unit import Unit
from service.policies.store import PolicyStore

BUNDLE_BYTES_MAX: Final = 16 * 2**20
_INTEGER_MAX: Final = 2**53


def write_bundle(about: Mapping[str, str], contents: Mapping[str, Any], *, unit: Unit, signer: Signer) -> str:
    """Answer the signed file: canonical JSON, so that each of its bytes counts. Raises `BundleTooLarge`."""
    plain = {name: as_json(part) for name, part in contents.items()}
    document = {
        "format": FORMAT,
        "about": dict(about),
        "tenant_id": unit.tenant_id,
        "made_at": format_time(unit.now),
        "manifest": [{"name": name, "sha256": hash_json(plain[name])} for name in sorted(plain)],
        "contents": plain,
    }
    written = canonical_json(signed(document, signer))
    if len(written) > BUNDLE_BYTES_MAX:
        raise BundleTooLarge
    return written.decode()


def policies_of(versions: Iterable[str | None], unit: Unit) -> dict[str, Mapping[str, str]]:
    """Answer the files of each of the policy versions, by version."""
    store = PolicyStore.of(unit)
    found = {version: store.find_files(version) for version in sorted(filter(None, set(versions)))}
    return {version: files for version, files in found.items() if files is not None}


def as_json(value: Any) -> Any:  # noqa: ANN401 - whatever the record holds, as JSON
    """Answer a value as JSON that all programs write alike: no fractions, no number beyond 2**53."""
    if isinstance(value, Mapping):
        return {str(name): as_json(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [as_json(part) for part in value]
    if isinstance(value, Enum):
        return as_json(value.value)
    if isinstance(value, datetime):
        return format_time(value)
    if isinstance(value, float | Decimal) or (isinstance(value, int) and abs(value) >= _INTEGER_MAX):
        return str(value)
    assert value is None or isinstance(value, str | int), "a bundle holds JSON"
    return value
