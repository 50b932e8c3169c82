"""What a name, a key and a lifetime may be. Pure: texts in, values or refusals out."""

import re
from datetime import timedelta
from typing import Final

from service.core.errors import Invalid
from service.identity.model import NewKey, Role

_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:@/+-]{0,199}")
_LIFETIME: Final = re.compile(r"([1-9][0-9]{0,6})([smhdw])")
_UNITS: Final = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
_LIFETIME_MAX: Final = timedelta(days=3_650)
_SOURCES_MAX: Final = 50
# `Caller.principal` joins holder and user with this; a name that held it could pass for another pair.
_PRINCIPAL_JOINT: Final = ":for:"


def check_name(name: str, *, pointer: str) -> str:
    """Answer the name of a tenant, project or subject as it is. Raises `Invalid`, naming `pointer`."""
    if not _NAME.fullmatch(name) or _PRINCIPAL_JOINT in name:
        raise Invalid(
            "A name is 1 to 200 letters, digits and . _ : @ / + - and begins with a letter or digit.",
            pointer=pointer,
        )
    return name


def check_key(new: NewKey) -> None:
    """Raise `Invalid` for a key that cannot exist."""
    check_name(new.subject, pointer="/subject")
    if new.role is Role.SYSTEM:
        raise Invalid("No key can carry this role.", pointer="/role")
    if new.on_behalf_of is not None:
        check_name(new.on_behalf_of, pointer="/on_behalf_of")
        if new.role is not Role.AGENT:
            raise Invalid("Only an agent acts on behalf of a user.", pointer="/on_behalf_of")
    if len(new.sources) > _SOURCES_MAX:
        raise Invalid(f"A key has at most {_SOURCES_MAX} sources.", pointer="/sources")
    for source in new.sources:
        check_name(source, pointer="/sources")
    if new.lifetime is not None and not timedelta(0) < new.lifetime <= _LIFETIME_MAX:
        raise Invalid("A key lives for at most ten years.", pointer="/expires_in")


def parse_lifetime(text: str) -> timedelta:
    """Read `90s`, `45m`, `12h`, `30d` or `2w`. Raises `Invalid`."""
    found = _LIFETIME.fullmatch(text)
    if found is None:
        raise Invalid("A lifetime is a number and one of s, m, h, d, w, such as 30d.", pointer="/expires_in")
    return timedelta(**{_UNITS[found[2]]: int(found[1])})
