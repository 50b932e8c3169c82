"""`If-Match`, the version that a write was made against, and `Fencing-Token`, the lease it is made under."""

import re
from typing import Final

from service.core.errors import PreconditionNeeded

NO_VERSION: Final = 0
"""Never a current version, so that the verb answers 412 with the current one, or 404 if there is none."""
NO_TOKEN: Final = 0
"""Never a token that a run gave out."""
_TOKEN: Final = re.compile(r"[1-9][0-9]{0,17}")
_STRONG_TAG: Final = re.compile(r'"([1-9][0-9]{0,17})"')


def etag(version: int) -> str:
    """Answer the `ETag` of a version."""
    return f'"{version}"'


def read_version(header: str | None) -> int:
    """Answer the version in `If-Match`.

    Raises `PreconditionNeeded` without the header. A weak tag, a list, `*` or anything else that we never
    issued is `NO_VERSION`: it proves nothing about what the caller has read.
    """
    if header is None:
        raise PreconditionNeeded
    match = _STRONG_TAG.fullmatch(header.strip())
    return NO_VERSION if match is None else int(match[1])


def read_fencing_token(header: str | None) -> int | None:
    """Answer the token in `Fencing-Token`, `None` without the header; what we never issued is `NO_TOKEN`."""
    if header is None:
        return None
    return int(header) if _TOKEN.fullmatch(header.strip()) else NO_TOKEN
