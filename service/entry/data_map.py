"""The whole data map: the record's, and that of what vendors and operators keep beside it."""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from types import MappingProxyType
from typing import Final

from sqlalchemy import Column

from service.adapters.keystore_tables import METADATA
from service.adapters.qdrant_points import DENSE, HIT_FIELDS, INTEGER_FIELDS, KEYWORD_FIELDS, SPARSE
from service.governance import handling, retention
from service.governance.columns import Described, Personal, SealedUnder
from service.governance.data_map import Beside, MappedField, Place, map_beside, map_record
from service.governance.handling import Handling
from service.governance.registry import INDEX, KEYS
from service.governance.retention import RetentionClass

_ID: Final = Described("ids of ours", Personal.PSEUDONYMOUS)
_HASH: Final = Described("a keyed hash", Personal.PSEUDONYMOUS)
_TIME: Final = Described("a time", Personal.NONE)
_NUMBER: Final = Described("a number", Personal.NONE)
_WORD: Final = Described("one of our own words", Personal.NONE)
_KEY: Final = Described("a key, as ciphertext under the master key", Personal.PSEUDONYMOUS)
_TENANT: Final = Described("the tenant's id", Personal.NONE)

_KEY_STORE_FIELDS: Final[Mapping[str, Described]] = MappingProxyType(
    {
        "at": _TIME,
        "backup_id": Described("a backup's id", Personal.NONE),
        "began_at": _TIME,
        "created_at": _TIME,
        "destroyed_at": _TIME,
        "document": Described("a signed note of where an audit trail ends: hashes", Personal.NONE),
        "epoch": _NUMBER,
        "expires_at": _TIME,
        "files": Described("the text of policy files", Personal.NONE),
        "finished_at": _TIME,
        "folder": Described("the folder of a backup", Personal.NONE),
        "id": Described("an id of ours", Personal.NONE),
        "key_id": Described("a key's id, which is the person's pseudonym", Personal.PSEUDONYMOUS),
        "kind": _WORD,
        "name": _WORD,
        "ref_hash": _HASH,
        "revision": _NUMBER,
        "sealed": Described("a person's name, as ciphertext", Personal.PERSONAL, SealedUnder.SUBJECT),
        "sequence": _NUMBER,
        "subject_hash": _HASH,
        "tenant_id": _TENANT,
        "version": _HASH,
        "value": Described("what shows whether the master key fits", Personal.NONE),
        "wrapped": _KEY,
    }
)
_OF_KEY_STORE: Final[Mapping[str, tuple[Handling, RetentionClass]]] = MappingProxyType(
    {
        "audit_checkpoints": (handling.TRAIL, retention.TRAIL),
        "backups": (handling.RECOVERY, retention.BACKUP),
        "checks": (handling.SECRECY, retention.ACCOUNT),
        "data_keys": (handling.SECRECY, retention.KEY),
        "epochs": (handling.SECRECY, retention.LEDGER),
        "names": (handling.TRAIL, retention.KEY),
        "policies": (handling.POLICY, retention.LEDGER),
        "restores": (handling.RECOVERY, retention.LEDGER),
        "signing_keys": (handling.TRAIL, retention.ACCOUNT),
        "tombstones": (handling.RIGHTS, retention.LEDGER),
    }
)
_DIES_WITH_THE_KEY: Final = frozenset({"data_keys", "names"})
_POINT_FIELDS: Final[Mapping[str, Described]] = MappingProxyType(
    {
        DENSE: Described("a vector of what the passage means", Personal.PERSONAL),
        SPARSE: Described("hashes of the passage's words, with weights", Personal.PERSONAL),
        "tenant": _TENANT,
        "kind": _WORD,
        "places": Described("hashes of who may find it", Personal.PSEUDONYMOUS),
        "item": _ID,
        "version": _NUMBER,
        "ordinal": _NUMBER,
    }
)
REQUEST_LINE: Final[Mapping[str, Described]] = MappingProxyType(
    {
        "event": _WORD,
        "level": _WORD,
        "timestamp": _TIME,
        "method": _WORD,
        "route": Described("the route's pattern: neither ids nor query strings", Personal.NONE),
        "status": _NUMBER,
        "duration_ms": _NUMBER,
        "request_id": Described("the request's id, which the trail names too", Personal.PSEUDONYMOUS),
    }
)
"""The fields of the line that each request logs; warnings name ids and codes of failures instead."""


@cache
def data_map() -> Sequence[MappedField]:
    """Answer every field of every store, the record's first.

    Raises `LookupError` for one that nobody has said anything about: no answer hides a field.
    """
    return (*map_record(), *map_beside(_beside()))


def _beside() -> Iterator[Beside]:
    for table in METADATA.sorted_tables:
        purpose, kept = _OF_KEY_STORE[table.name]
        fields = {column.name: _key_store_field(column) for column in table.columns}
        erased_by = (KEYS,) if table.name in _DIES_WITH_THE_KEY else ()
        yield Beside(Place.KEY_STORE, table.name, fields, purpose, kept, erased_by)
    names = dict.fromkeys((DENSE, SPARSE, *KEYWORD_FIELDS, *INTEGER_FIELDS, *HIT_FIELDS))
    points = {name: _POINT_FIELDS[name] for name in names}
    yield Beside(Place.INDEX, "points", points, handling.FINDING, retention.INDEX, (INDEX,))
    copied = {
        "record": Described(
            "a copy of the record, its words as ciphertext", Personal.PERSONAL, SealedUnder.SUBJECT
        )
    }
    yield Beside(Place.BACKUP, "backup", copied, handling.RECOVERY, retention.BACKUP, (KEYS,))
    yield Beside(Place.LOGS, "request", REQUEST_LINE, handling.OPERATION, retention.LOG)


def _key_store_field(column: Column[object]) -> Described:
    return _KEY_STORE_FIELDS[column.name]
