"""Signatures that hold without this service: Ed25519 (RFC 8032) over canonical JSON (RFC 8785)."""

import base64
import binascii
import hashlib
from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Final, Protocol

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat, load_pem_public_key

from service.core.errors import Invalid
from service.core.hashing import canonical_json

ALGORITHM: Final = "Ed25519"
_KEY_BYTES: Final = 32
_FIELDS: Final = frozenset({"algorithm", "key_id", "public_key", "value"})


class Signer(Protocol):
    """Signs in the deployment's name."""

    @property
    def public_key(self) -> bytes:
        """The 32 bytes that others check signatures with."""
        ...

    def sign(self, message: bytes) -> bytes:
        """Answer the signature of the message: 64 bytes."""
        ...


class SignatureFault(StrEnum):
    """Why a signature does not hold. Append only."""

    MALFORMED = "signature_malformed"
    INVALID = "signature_invalid"
    KEY_OTHER = "signed_by_another_key"


class PublicKeyMalformed(Invalid):
    """What was given is no public key of the kind that signatures are made with."""

    code = "public_key_malformed"
    title = "This is not an Ed25519 public key"


def signed(document: Mapping[str, Any], signer: Signer) -> dict[str, Any]:
    """Answer the document with its signature beside its other members."""
    assert "signature" not in document
    key = signer.public_key
    signature = {
        "algorithm": ALGORITHM,
        "key_id": key_id_of(key),
        "public_key": _written(key),
        "value": _written(signer.sign(canonical_json(document))),
    }
    return {**document, "signature": signature}


def signature_fault(document: Mapping[str, Any], *, trusted: bytes | None) -> SignatureFault | None:
    """Answer why the document's signature does not hold, or `None`.

    `trusted` is the public key that it must be of; without one, the key that the document names itself: that
    shows that nothing was changed since, and not who signed.
    """
    signature = document.get("signature")
    if not isinstance(signature, dict) or signature.keys() != _FIELDS or signature["algorithm"] != ALGORITHM:
        return SignatureFault.MALFORMED
    key, value = _read(signature["public_key"]), _read(signature["value"])
    if key is None or value is None or signature["key_id"] != key_id_of(key):
        return SignatureFault.MALFORMED
    if trusted is not None and key != trusted:
        return SignatureFault.KEY_OTHER
    body = {name: part for name, part in document.items() if name != "signature"}
    try:
        Ed25519PublicKey.from_public_bytes(key).verify(value, canonical_json(body))
    except (InvalidSignature, ValueError):
        return SignatureFault.INVALID
    return None


def key_id_of(public_key: bytes) -> str:
    """Answer a short name of a public key, made from the key itself."""
    return "ed25519:" + hashlib.sha256(public_key).hexdigest()[:32]


def pem_of(public_key: bytes) -> str:
    """Answer the key in the form that OpenSSL reads."""
    key = Ed25519PublicKey.from_public_bytes(public_key)
    return key.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode()


def read_public_key(text: str) -> bytes:
    """Read a public key: PEM, or the base64 that signatures carry. Raises `PublicKeyMalformed`."""
    text = text.strip()
    if not text.startswith("-----"):
        key = _read(text)
        if key is None or len(key) != _KEY_BYTES:
            raise PublicKeyMalformed
        return key
    try:
        loaded = load_pem_public_key(text.encode())
    except (ValueError, UnsupportedAlgorithm):
        raise PublicKeyMalformed from None
    if not isinstance(loaded, Ed25519PublicKey):
        raise PublicKeyMalformed
    return loaded.public_bytes(Encoding.Raw, PublicFormat.Raw)


def _written(content: bytes) -> str:
    return base64.b64encode(content).decode()


def _read(text: object) -> bytes | None:
    """Answer the bytes of base64 that is written in the one way that we write it."""
    try:
        content = base64.b64decode(text, validate=True) if isinstance(text, str) else None
    except (binascii.Error, ValueError):
        return None
    return content if content is not None and _written(content) == text else None
