"""Keyset pages: complete under equal keys, with cursors bound to their tenant and filter."""

import base64
import binascii
import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

from service.core.errors import Invalid

PAGE_ITEMS_MAX: Final = 100
PAGE_ITEMS_DEFAULT: Final = 50
_CURSOR_LENGTH_MAX: Final = 1_000

Item = TypeVar("Item")


class CursorInvalid(Invalid):
    """The cursor was not made by this service for this list and filter."""

    code = "cursor_invalid"
    title = "This cursor does not belong to this list"


@dataclass(frozen=True, slots=True)
class Page(Generic[Item]):
    """Some items of a list, and where the next ones begin (`None` at the end)."""

    items: Sequence[Item]
    next_cursor: str | None


@dataclass(frozen=True, slots=True)
class PageRequest:
    """How many items are wanted and after which key. `after` is the last seen sort key, or `None`.

    `binding` says which list of which tenant this is; cursors are sealed with it and never show it.
    """

    limit: int
    binding: str
    after: tuple[str | int, ...] | None = None

    def __post_init__(self) -> None:
        if not 1 <= self.limit <= PAGE_ITEMS_MAX:
            raise Invalid(f"limit is 1 to {PAGE_ITEMS_MAX}", pointer="/limit")

    def page(self, rows: Sequence[Item], keys: Sequence[tuple[str | int, ...]]) -> Page[Item]:
        """Cut `rows` (up to `limit` + 1 of them, with their sort keys) into a page with its cursor."""
        assert len(rows) == len(keys) <= self.limit + 1
        if len(rows) <= self.limit:
            return Page(rows, None)
        return Page(rows[: self.limit], _encode(keys[self.limit - 1], self.binding))


def page_request(limit: int, cursor: str | None, *, tenant_id: str, filters: Sequence[object]) -> PageRequest:
    """Read a cursor for the list that `filters` describes. Raises `CursorInvalid` for any other's."""
    binding = hashlib.blake2b(
        json.dumps([tenant_id, [str(value) for value in filters]]).encode(), digest_size=9
    ).hexdigest()
    return PageRequest(limit, binding, None if cursor is None else _decode(cursor, binding))


def _seal(key: Sequence[object], binding: str) -> str:
    # Over the key too: a key that this service did not write (of another shape, with NUL) never reaches SQL.
    return hashlib.blake2b(json.dumps(key).encode(), key=binding.encode(), digest_size=9).hexdigest()


def _encode(key: tuple[str | int, ...], binding: str) -> str:
    text = json.dumps([_seal(key, binding), *key], separators=(",", ":"))
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def _decode(cursor: str, binding: str) -> tuple[str | int, ...]:
    if len(cursor) > _CURSOR_LENGTH_MAX:
        raise CursorInvalid
    try:
        raw = json.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
    except (binascii.Error, ValueError, RecursionError):
        raise CursorInvalid from None
    match raw:
        case [str(found), *key] if found == _seal(key, binding):
            return tuple(key)
    raise CursorInvalid
