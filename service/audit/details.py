"""What an event may hold: every name of a detail, with the kind of value that stands under it.

The trail outlives every erasure. So nothing that anybody wrote may reach it, not even a name without white
space: what a caller chose is kept as a keyed hash, a person as a pseudonym that dies with their key.
"""

import re
from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from service.core.cipher import Cipher
from service.core.ids import is_id

Detail = str | int | bool | list[str] | None
"""A value beside an event."""

HASHED_PREFIX: Final = "hmac:"
"""What a keyed hash begins with, where it stands in place of what a caller chose."""
LIST_LENGTH_MAX: Final = 200
_INTEGER_MAX: Final = 2**53
"""Beyond this canonical JSON (RFC 8785) is not exact."""
_CODE: Final = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,63}")
_KEY_ID: Final = re.compile(r"[a-z2-7]{16}")
_HASH: Final = re.compile(r"(sha256:)?[0-9a-f]{64}|none")
_ROUTE: Final = re.compile(r"[A-Z]{3,7}:/[a-z0-9_{}./-]{0,150}")
_TRACE: Final = re.compile(r"[0-9a-f]{32}")


class Kind(StrEnum):
    """What stands under a detail's name."""

    CODE = "code"
    """A word of our own or of an operator's or policy author's file, never of a request."""
    ID = "id"
    """An id that this service issued, or a number that it counted."""
    HASH = "hash"
    """The hash of something long, a keyed hash, or `none`: the version of the policy where there is none."""
    NUMBER = "number"
    """A whole number, or yes or no."""
    CHOSEN = "chosen"
    """What a caller chose: a keyed hash stands in its place."""
    PERSON = "person"
    """A subject's name: the pseudonym stands in its place."""
    VERB = "verb"
    """A code, and after a colon what it is about: an id, or a keyed hash of what a caller chose."""


DETAILS: Final[Mapping[str, Kind]] = MappingProxyType(
    {
        name: kind
        for kind, names in {
            Kind.CODE: (
                "approver_role authority basis before by class_name code codes connector contract_origin"
                " exit_status failure item_kind lawful_basis limited memory_mode mode moved outcome pin_kind"
                " purpose role scope source_kind status step_name store target transition trust"
            ),
            Kind.ID: (
                "approval candidate check conflict_group correction erasure evidence evidence_id execution_id"
                " hold ids memory observation package pin project project_id proposal quarantine step summary"
                " supersedes turn"
            ),
            Kind.HASH: "artifact_hash digest head_hash plan policy_version subject_hash",
            Kind.NUMBER: (
                "affected attempt attempts count evidence_count executions fencing_token granted"
                " memories packages passed refused removed restored schema_version sequence summaries"
                " tasks version versions"
            ),
            # Hashes of a person's words that nothing random was mixed into could be found by trying.
            Kind.CHOSEN: "command_hash contract_hash effect_kind operation requirement requirements sources",
            Kind.PERSON: "acting_user on_behalf_of subject",
            Kind.VERB: "decision",
        }.items()
        for name in names.split()
    }
)
"""Append only, as actions are. The same name means the same kind in every event."""

_REF_KINDS: Final[Mapping[str, tuple[Kind, ...]]] = MappingProxyType(
    {
        "audit": (Kind.CODE,),
        "consent": (Kind.CODE,),
        "operation": (Kind.CODE,),
        "refusal": (Kind.CODE,),
        "policy": (Kind.HASH, Kind.ID),
        "subject": (Kind.HASH,),
    }
)
"""What events of these kinds are about; of all others it is an id."""


def kept_details(details: Mapping[str, Detail], cipher: Cipher, *, names: bool) -> dict[str, Detail]:
    """Answer the details as the trail keeps them. `names` says that persons are to get a pseudonym.

    Without, a person who has none stands as a keyed hash: nobody who was erased is given a name again.
    Raises `ValueError` for a name that is not declared above, and for a value that is not of its kind.
    """
    return {name: _kept(name, value, cipher, names=names) for name, value in details.items()}


def check_ref(kind: str, ref: str) -> None:
    """Raise `ValueError` for what an event of this kind cannot be about."""
    kinds = _REF_KINDS.get(kind, (Kind.ID,))
    if not _CODE.fullmatch(kind) or not (
        any(_is(each, ref) for each in kinds) or (kind == "operation" and _ROUTE.fullmatch(ref))
    ):
        raise ValueError(f"what an event of kind {kind} is about is an id or a code")


def kept_request_id(request_id: str, cipher: Cipher) -> str:
    """Answer a request's id as the trail keeps it: one that a caller made up as a keyed hash."""
    if not request_id or is_id(request_id) or _TRACE.fullmatch(request_id):
        return request_id
    return hashed(request_id, cipher)


def hashed(text: str, cipher: Cipher) -> str:
    """Answer what stands in the trail in place of a text that a caller chose."""
    return HASHED_PREFIX + cipher.keyed_hash(f"audit/{text}")


def _kept(name: str, value: Detail, cipher: Cipher, *, names: bool) -> Detail:
    kind = DETAILS.get(name)
    if kind is None:
        raise ValueError(f"{name} is not declared as a detail of events")
    if value is None:
        return None
    if not isinstance(value, list):
        return _kept_part(name, kind, value, cipher, names=names)
    if len(value) > LIST_LENGTH_MAX:
        raise ValueError(f"{name} holds more than {LIST_LENGTH_MAX} values")
    return [str(_kept_part(name, kind, part, cipher, names=names)) for part in value]


def _kept_part(name: str, kind: Kind, value: object, cipher: Cipher, *, names: bool) -> str | int:
    if isinstance(value, int):
        if kind in (Kind.NUMBER, Kind.ID) and abs(value) <= _INTEGER_MAX:
            return value
    elif isinstance(value, str):
        match kind:
            case Kind.CHOSEN:
                return hashed(value, cipher)
            case Kind.PERSON:
                pseudonym = cipher.pseudonym(value) if names else cipher.find_pseudonym(value)
                return pseudonym or hashed(value, cipher)
            case Kind.VERB:
                verb, colon, about = value.partition(":")
                if _CODE.fullmatch(verb):
                    return verb + colon + (about if not about or is_id(about) else hashed(about, cipher))
            case _ if _is(kind, value):
                return value
    raise ValueError(f"{name} is neither an id nor a code nor a number")


def _is(kind: Kind, value: str) -> bool:
    match kind:
        case Kind.ID:
            return is_id(value) or _KEY_ID.fullmatch(value) is not None
        case Kind.HASH:
            return _HASH.fullmatch(value) is not None
        case Kind.CODE:
            return _CODE.fullmatch(value) is not None
        case _:
            return False
