"""The form of an API key: `mun_<id>_<secret>`. The id is public; of the secret only a hash is kept."""

import base64
import hashlib
import hmac
import re
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

RandomBytes = Callable[[int], bytes]
"""Answers so many random bytes; handed in, so that a test may choose them."""

_ID_BYTES: Final = 10
_SECRET_BYTES: Final = 32
# Base32 without padding: 16 and 52 characters of one case, which survive any form field and mail programme.
_FORM: Final = re.compile(r"mun_([a-z2-7]{16})_([a-z2-7]{52})")


@dataclass(frozen=True, slots=True)
class Token:
    """A key's two parts. Its representation shows the public one only."""

    id: str
    secret: str

    def __str__(self) -> str:
        return f"mun_{self.id}_{self.secret}"

    def __repr__(self) -> str:
        return f"Token({self.id})"


def new_token(random: RandomBytes = secrets.token_bytes) -> Token:
    """Draw a token: 80 random bits to find it by, 256 to prove it."""
    return Token(_base32(random(_ID_BYTES)), _base32(random(_SECRET_BYTES)))


def parse_token(text: str) -> Token | None:
    """Answer the token's parts, or `None` for anything that this service cannot have issued."""
    found = _FORM.fullmatch(text)
    return None if found is None else Token(found[1], found[2])


def hash_secret(secret: str) -> str:
    """Answer the hex SHA-256 of a secret. It is random and long, so no slow hash is needed."""
    return hashlib.sha256(secret.encode()).hexdigest()


def proves(token: Token, secret_hash: str) -> bool:
    """Say, in time that depends on neither, whether the token's secret is the one that was hashed."""
    return hmac.compare_digest(hash_secret(token.secret), secret_hash)


def _base32(content: bytes) -> str:
    return base64.b32encode(content).decode().rstrip("=").lower()
