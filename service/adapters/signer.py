"""The deployment's signing key: made once, kept under the master key in the key store, used from memory."""

import threading
from typing import Final

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from sqlalchemy import select

from service.adapters.keystore import KeyStore
from service.adapters.keystore_tables import SIGNING_KEYS
from service.core.clock import Clock, system_clock

_NAME: Final = "deployment"
_PLACE: Final = f"signing-keys/{_NAME}"


class KeyStoreSigner:
    """Signs as `core.signing.Signer` promises. Every process of a deployment has the same key."""

    def __init__(self, keystore: KeyStore, *, clock: Clock = system_clock) -> None:
        self._keystore = keystore
        self._clock = clock
        self._guard = threading.Lock()
        self._key: Ed25519PrivateKey | None = None

    @property
    def public_key(self) -> bytes:
        """The 32 bytes that others check signatures with."""
        return self._private_key().public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)

    def sign(self, message: bytes) -> bytes:
        """Answer the signature of the message: 64 bytes."""
        return self._private_key().sign(message)

    def _private_key(self) -> Ed25519PrivateKey:
        with self._guard:
            if self._key is None:
                wrapped = self._find() or self._make()
                self._key = Ed25519PrivateKey.from_private_bytes(self._keystore.unwrap(wrapped, _PLACE))
            return self._key

    def _find(self) -> bytes | None:
        query = select(SIGNING_KEYS.c.wrapped).where(SIGNING_KEYS.c.name == _NAME)
        found: bytes | None = self._keystore.database.ask(query, {})
        return found

    def _make(self) -> bytes:
        secret = Ed25519PrivateKey.generate().private_bytes_raw()
        row: dict[str, object] = {
            "name": _NAME,
            "wrapped": self._keystore.wrap(secret, _PLACE),
            "created_at": self._clock(),
        }
        with self._keystore.database.write(None) as session:
            # Of two processes that make it at once one inserts; both use what stands then.
            self._keystore.insert_once(session.connection(), SIGNING_KEYS, row)
        found = self._find()
        assert found is not None
        return found
