"""Identifiers: UUIDv7 strings, handed in as a source so that tests may choose them."""

from collections.abc import Callable
from typing import Final

import uuid_utils

IdSource = Callable[[], str]
"""Answers a new identifier at each call."""

ID_LENGTH: Final = 36


def new_id() -> str:
    """Answer a new UUIDv7 (RFC 9562) in canonical lower-case form; later ids sort after earlier ones."""
    return str(uuid_utils.uuid7())


def is_id(text: str) -> bool:
    """Say whether `text` is a UUID in the canonical form that this service issues."""
    if len(text) != ID_LENGTH:
        return False
    try:
        return str(uuid_utils.UUID(text)) == text
    except ValueError:
        return False
