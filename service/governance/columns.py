"""What a column of the record holds and how far it is about a person: from type, name and registry.

A column that none of the rules knows is no guess: `describe` raises, and a test fails.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from sqlalchemy import JSON, Boolean, Column, DateTime, Float, Integer, LargeBinary, TypeDecorator
from sqlalchemy.types import TypeEngine

from service.governance.registry import PLAIN, STORES
from service.governance.stores.store_people import ACCESS, DEEDS


class Personal(StrEnum):
    """How far what stands there is about a person by itself."""

    NONE = "none"
    PSEUDONYMOUS = "pseudonymous"
    """An id, hash or reference: it tells something to who holds more than it."""
    PERSONAL = "personal"


class SealedUnder(StrEnum):
    """Whose key it rests under."""

    SUBJECT = "subject"
    """The keys of all persons whom it is about; the tenant's where it is about nobody."""
    TENANT = "tenant"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Described:
    """What a column holds."""

    what: str
    personal: Personal
    sealed_under: SealedUnder = SealedUnder.NONE


WHO: Final = frozenset((str(column.table.__tablename__), column.name) for column in (*DEEDS, *ACCESS))
"""Columns that name a person, an agent or a program."""
SEALED_FOR_TENANT: Final = frozenset({"erasures.subject", "holds.basis", "quarantines.reason"})
"""Ciphertexts that must outlive the keys of the persons whom they may name."""
_ABOUT_PERSONS: Final = frozenset().union(*(store.tables for store in STORES)) | {
    "audit_events", "erasure_items", "erasures", "idempotency_refs", "memory_refusals",
}  # fmt: skip

_WORD: Final = "one of our own words"
_POLICY: Final = "a name or version of the policy"
_ID: Final = "ids of ours"
_HASH: Final = "a hash, keyed where words could be guessed from it"
_NAMED: Final = "a short name or reference from a program, in plain"

_OF_NO_PERSON: Final[Mapping[str, str]] = MappingProxyType(
    {
        **dict.fromkeys(
            (
                "act", "action", "approver", "authority", "exit_status", "failure", "kind", "lawful_basis",
                "mode", "outcome", "ref_kind", "role", "scope", "status", "topic", "trust",
            ),
            _WORD,
        ),
        **dict.fromkeys(
            (
                "base_version", "candidate_version", "class_name", "from_version", "policy_version",
                "purpose", "to_version", "version",
            ),
            _POLICY,
        ),
        "approvals": "who has approved so far, by role",
        "codes": "reason codes",
        "affected": "counts",
        "changes": "what policy authors wrote",
        "direction": _WORD,
        "files": "what policy authors wrote",
        "headers": "headers of the answer",
        "limited": "why less is believed than was claimed, by code",
        "media_type": "a media type",
        "model": "the name of the model that wrote it",
        "name": "a name that an administrator gave",
        "stores": "counts of rows by store",
    }
)  # fmt: skip
"""Texts and lists by the name of their column, that say nothing about anybody."""

_ABOUT_SOMEBODY: Final[Mapping[str, str]] = MappingProxyType(
    {
        **dict.fromkeys(
            ("conflict_group", "ref", "supersedes", "superseded_by", "derived_from", "evidence"), _ID
        ),
        **dict.fromkeys(
            ("completed_key", "digest", "group_key", "readers_key", "scope_key", "seal", "sha256",
             "statement_key", "uri_key"),
            _HASH,
        ),
        **dict.fromkeys(
            ("downstream_ref", "external_ref", "inputs", "output_ref", "outputs", "requirement"), _NAMED
        ),
        "detections": "kind, start and end of what detectors found: no words",
        "details": "ids, codes and keyed hashes",
        "manifest": "ids, versions, hashes and scores of what was shown: no text",
        "payload": "ids and versions",
        "principal": "a pseudonym that dies with the person's key, or a program's name",
        "provenance": "kind, id, version and span of each source: no words",
        "requester": "the keyed hash of who asked",
        "second_person": "the keyed hash of who approved or refused it",
        "samples": "ids, classes, times and codes: no words",
    }
)  # fmt: skip
"""The same, for what leads to a person who is known otherwise."""

_OF_ONE_TABLE: Final[Mapping[str, str]] = MappingProxyType(
    {
        "evidence_versions.kind": _NAMED,
        "observations.source_kind": _NAMED,
        "derivations.source_kind": _WORD,
        "erasures.failure": "the code of what stopped the last attempt",
        "outbox.failure": "the class of what went wrong",
    }
)


class ColumnUnknown(LookupError):
    """A column of the record that no rule describes: say in `columns` what it holds."""


def describe(table: str, column: Column[object]) -> Described:
    """Answer what a column of the record holds. Raises `ColumnUnknown`."""
    for rule in (_ciphertext, _by_registry, _by_type, _id_or_hash, _by_name):
        found = rule(table, column)
        if found is not None:
            return found
    raise ColumnUnknown(f"{table}.{column.name}")


def _ciphertext(table: str, column: Column[object]) -> Described | None:
    if not isinstance(_plain_type(column.type), LargeBinary):
        return None
    is_tenants = f"{table}.{column.name}" in SEALED_FOR_TENANT
    under = SealedUnder.TENANT if is_tenants else SealedUnder.SUBJECT
    return Described("words, as ciphertext", Personal.PERSONAL, under)


def _by_registry(table: str, column: Column[object]) -> Described | None:
    name = f"{table}.{column.name}"
    if (table, column.name) in WHO:
        return Described("who: the name of a person, an agent or a program", Personal.PERSONAL)
    told = PLAIN.get(name) or _OF_ONE_TABLE.get(name)
    return None if told is None else Described(told, Personal.NONE)


def _by_type(table: str, column: Column[object]) -> Described | None:
    del table
    kind = _plain_type(column.type)
    if isinstance(kind, DateTime):
        return Described("a time", Personal.NONE)
    if isinstance(kind, Boolean):
        return Described("yes or no", Personal.NONE)
    return Described("a number", Personal.NONE) if isinstance(kind, Integer | Float) else None


def _id_or_hash(table: str, column: Column[object]) -> Described | None:
    name, about = column.name, _about(table)
    if name in {"tool_call_id", "task_id"} or (table, name) == ("tasks", "id"):
        return Described(_NAMED, about)
    if name in {"tenant_id", "project_id"}:
        return Described(_ID, Personal.NONE)
    if name == "id" or name.endswith(("_id", "_ids")):
        return Described(_ID, about)
    return Described(_HASH, about) if name == "hash" or name.endswith("_hash") else None


def _by_name(table: str, column: Column[object]) -> Described | None:
    name = column.name
    if name in _OF_NO_PERSON:
        return Described(_OF_NO_PERSON[name], Personal.NONE)
    return Described(_ABOUT_SOMEBODY[name], _about(table)) if name in _ABOUT_SOMEBODY else None


def _about(table: str) -> Personal:
    return Personal.PSEUDONYMOUS if table in _ABOUT_PERSONS else Personal.NONE


def may_hold_words(column: Column[object]) -> bool:
    """Say whether an erasure that leaves the row must empty the column, unless `PLAIN` says why not."""
    kind = _plain_type(column.type)
    if isinstance(kind, DateTime | Boolean | Integer | Float):
        return False
    is_id = column.name == "id" or column.name.endswith(("_id", "_ids"))
    return isinstance(kind, LargeBinary | JSON) or not is_id


def _plain_type(kind: TypeEngine[object]) -> TypeEngine[object]:
    return kind.impl_instance if isinstance(kind, TypeDecorator) else kind
