"""Who did it: principals as the trail keeps them, and as those who read it see them.

`role:subject` or `role:subject:for:user`, as `Caller.principal` says, with a pseudonym for each subject.
While the subject's key lives the key store tells the name; afterwards the pseudonym is all that is left.
"""

from collections.abc import Collection, Mapping

from service.core.cipher import Cipher
from service.core.ids import is_id
from service.identity.model import Caller, Role

_JOINT = ":for:"


def kept_principal(caller: Caller, cipher: Cipher) -> str:
    """Answer the caller as the trail keeps them. The service itself is nobody, and keeps its name."""
    if caller.role is Role.SYSTEM:
        return caller.principal
    user = "" if caller.on_behalf_of is None else _JOINT + cipher.pseudonym(caller.on_behalf_of)
    return f"{caller.role}:{cipher.pseudonym(caller.subject)}{user}"


def find_kept_principal(principal: str, cipher: Cipher) -> str | None:
    """Answer how the trail keeps a principal that is written with names; `None` when one has no pseudonym."""
    role, parts = _parts(principal)
    found = [part if is_id(part) else cipher.find_pseudonym(part) for part in parts]
    pseudonyms = [part for part in found if part is not None]
    return f"{role}:{_JOINT.join(pseudonyms)}" if len(pseudonyms) == len(parts) else None


def named_principals(principals: Collection[str], cipher: Cipher) -> Mapping[str, str]:
    """Answer each of the principals with the names of those whose key still lives."""
    pseudonyms = {part for principal in principals for part in _parts(principal)[1] if is_id(part)}
    names = cipher.names_of(pseudonyms) if pseudonyms else {}
    return {principal: _named(principal, names) for principal in set(principals)}


def _named(principal: str, names: Mapping[str, str]) -> str:
    role, parts = _parts(principal)
    return f"{role}:{_JOINT.join(names.get(part, part) for part in parts)}"


def _parts(principal: str) -> tuple[str, list[str]]:
    role, _, subjects = principal.partition(":")
    return role, subjects.split(_JOINT)
