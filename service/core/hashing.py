"""Hashes in the one form that leaves this service: `sha256:<hex>`."""

import hashlib

import rfc8785

Json = None | bool | int | float | str | list["Json"] | dict[str, "Json"]
"""A JSON value."""


def hash_bytes(content: bytes) -> str:
    """Answer `sha256:<hex>` of the bytes."""
    return f"sha256:{hashlib.sha256(content).hexdigest()}"


def hash_text(text: str) -> str:
    """Answer `sha256:<hex>` of the text's UTF-8 bytes."""
    return hash_bytes(text.encode())


def canonical_json(value: object) -> bytes:
    """Answer the canonical bytes of a JSON value (RFC 8785), the same on every machine.

    Raises `ValueError` for what JSON cannot carry exactly: NaN, infinities, integers beyond 2**53.
    """
    return rfc8785.dumps(value)  # type: ignore[arg-type]  # the library's own alias is recursive and private


def hash_json(value: object) -> str:
    """Answer `sha256:<hex>` of the value's canonical JSON."""
    return hash_bytes(canonical_json(value))
