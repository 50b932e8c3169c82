"""The shape of a signed evidence bundle."""

from typing import Any, Literal

from service.wire.scalars import Answer


class ManifestEntry(Answer):
    """One part of a bundle, with the hash of its canonical JSON (RFC 8785)."""

    name: str
    sha256: str


class SignatureAnswer(Answer):
    """An Ed25519 signature over the canonical JSON of all other members. Key and value are base64."""

    algorithm: Literal["Ed25519"]
    key_id: str
    public_key: str
    value: str


class BundleAnswer(Answer):
    """What the record says of one run or memory, to be verified without this service."""

    format: Literal["muniment-bundle/1"]
    about: dict[str, str]
    tenant_id: str
    made_at: str
    manifest: list[ManifestEntry]
    contents: dict[str, Any]
    signature: SignatureAnswer
