"""Data keys, in a database apart from the record and its backups.

Each subject has a data key, and each tenant one for what is about nobody. At rest they are wrapped by the
master key. Destroying a key overwrites its only copy: what was sealed under it is then noise for everybody.
"""

import contextlib
import hmac
import secrets
import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from sqlalchemy import Connection, Table, bindparam, delete, insert, select, text, update
from sqlalchemy.dialects import postgresql, sqlite

from service.adapters.keystore_tables import CHECKS, DATA_KEYS, EPOCHS, METADATA, NAMES
from service.adapters.master_key import load_master_key
from service.core.cipher import TextErased
from service.core.clock import Clock, system_clock
from service.core.database import Database
from service.core.errors import Unavailable
from service.core.ids import IdSource, new_id

__all__ = ["DataKey", "KeyStore", "MasterKeyWrong", "derive", "load_master_key"]

KEY_BYTES: Final = 32
_NONCE_BYTES: Final = 12
_TENANT_SUBJECT: Final = ""
_CREATE_LOCK: Final = 0x6B657973
"""PostgreSQL advisory lock held while the tables are made ("keys")."""

_EPOCH: Final = select(EPOCHS.c.epoch).where(EPOCHS.c.tenant_id == bindparam("tenant_id"))
"""Asked in each unit of work, and so built once."""


class MasterKeyWrong(Unavailable):
    """The master key is not the one that this key store was made with."""

    code = "master_key_wrong"
    title = "The master key does not belong to this key store"


@dataclass(frozen=True, slots=True)
class DataKey:
    """One key and its public name. It shows only the name."""

    id: str
    key: bytes

    def __repr__(self) -> str:
        return f"DataKey({self.id})"


class KeyStore:
    """Makes, keeps, answers and destroys data keys. Threads and processes may share one store."""

    def __init__(
        self, url: str, master_key: bytes, *, clock: Clock = system_clock, ids: IdSource = new_id
    ) -> None:
        if len(master_key) != KEY_BYTES:
            raise ValueError(f"the master key has {KEY_BYTES} bytes")
        self._database = Database(url)
        self._wrapper = AESGCM(derive(master_key, "muniment/wrap"))
        self._clock = clock
        self._ids = ids
        self._epochs: dict[str, int] = {}
        try:
            self._prepare(derive(master_key, "muniment/check").hex())
        except MasterKeyWrong:
            self.close()
            raise

    def tenant_key(self, tenant_id: str) -> DataKey:
        """Answer the tenant's own key, made at the first call."""
        return self._key_of(tenant_id, _TENANT_SUBJECT)

    def subject_key(self, tenant_id: str, subject: str) -> DataKey:
        """Answer the living key of a subject, made at the first call and anew after it was destroyed.

        A person may come back after an erasure; what was sealed before stays unreadable.
        """
        assert subject, "a key about nobody is the tenant's"
        return self._key_of(tenant_id, self._subject_hash(tenant_id, subject))

    def find_subject_key_id(self, tenant_id: str, subject: str) -> str | None:
        """Answer the name of the subject's living key, and make none where there is none."""
        query = select(DATA_KEYS.c.key_id).where(
            DATA_KEYS.c.tenant_id == tenant_id,
            DATA_KEYS.c.subject_hash == self._subject_hash(tenant_id, subject),
        )
        found: str | None = self._database.ask(query, {})
        return found

    def key(self, tenant_id: str, key_id: str) -> DataKey:
        """Answer a key by its name. Raises `TextErased` if it was destroyed, `LookupError` for another."""
        query = select(DATA_KEYS.c.wrapped).where(
            DATA_KEYS.c.tenant_id == tenant_id, DATA_KEYS.c.key_id == key_id
        )
        with self._database.read(None) as session:
            row = session.connection().execute(query).first()
        if row is None:
            raise LookupError("no key of that name")
        if row.wrapped is None:
            raise TextErased
        return self._unwrap(tenant_id, key_id, row.wrapped)

    def destroy(self, tenant_id: str, subject: str) -> int:
        """Destroy the subject's key beyond recovery; answer how many there were (0 or 1).

        From the return on nothing that was sealed under it opens, in any process that asks for a cipher.
        """
        subject_hash = self._subject_hash(tenant_id, subject)
        gone = (
            update(DATA_KEYS)
            .where(DATA_KEYS.c.tenant_id == tenant_id, DATA_KEYS.c.subject_hash == subject_hash)
            .values(wrapped=None, subject_hash=None, destroyed_at=self._clock())
        )
        doomed = select(DATA_KEYS.c.key_id).where(
            DATA_KEYS.c.tenant_id == tenant_id, DATA_KEYS.c.subject_hash == subject_hash
        )
        with self._database.write(None) as session:
            connection = session.connection()
            connection.execute(
                delete(NAMES).where(NAMES.c.tenant_id == tenant_id, NAMES.c.key_id.in_(doomed))
            )
            destroyed = connection.execute(gone).rowcount
            if destroyed:
                self.insert_once(connection, EPOCHS, {"tenant_id": tenant_id, "epoch": 0})
                connection.execute(
                    update(EPOCHS).where(EPOCHS.c.tenant_id == tenant_id).values(epoch=EPOCHS.c.epoch + 1)
                )
        if destroyed:
            self.epoch(tenant_id)
            self._rewrite()
        return destroyed

    def epoch(self, tenant_id: str) -> int:
        """Answer how many keys of the tenant have been destroyed, as the database knows it now."""
        epoch: int = self._database.ask(_EPOCH, {"tenant_id": tenant_id}) or 0
        # Two readers may finish in the other order; an epoch never falls.
        self._epochs[tenant_id] = max(epoch, self._epochs.get(tenant_id, 0))
        return self._epochs[tenant_id]

    def known_epoch(self, tenant_id: str) -> int:
        """Answer the newest epoch that this process has heard of, without asking the database."""
        return self._epochs.get(tenant_id, 0)

    def close(self) -> None:
        """Give all connections back."""
        self._database.close()

    @property
    def database(self) -> Database:
        """The key store's own database, for what else must stand apart from the record."""
        return self._database

    def wrap(self, secret: bytes, place: str) -> bytes:
        """Answer the secret under the master key, to be opened at `place` alone."""
        nonce = secrets.token_bytes(_NONCE_BYTES)
        return nonce + self._wrapper.encrypt(nonce, secret, place.encode())

    def unwrap(self, wrapped: bytes, place: str) -> bytes:
        """Answer what was wrapped. Raises `Unavailable` when it was altered or stood elsewhere."""
        nonce, sealed = wrapped[:_NONCE_BYTES], wrapped[_NONCE_BYTES:]
        try:
            return self._wrapper.decrypt(nonce, sealed, place.encode())
        except InvalidTag:
            raise Unavailable("A key in the key store has been altered.") from None

    def insert_once(self, connection: Connection, table: Table, row: dict[str, object]) -> None:
        """Insert the row unless its key is there already."""
        dialect = sqlite if self._database.is_sqlite else postgresql
        connection.execute(dialect.insert(table).values(row).on_conflict_do_nothing())

    def _key_of(self, tenant_id: str, subject_hash: str) -> DataKey:
        query = select(DATA_KEYS.c.key_id, DATA_KEYS.c.wrapped).where(
            DATA_KEYS.c.tenant_id == tenant_id, DATA_KEYS.c.subject_hash == subject_hash
        )
        with self._database.read(None) as session:
            row = session.connection().execute(query).first()
        if row is None:
            with self._database.write(None) as session:
                connection = session.connection()
                # Of two that make a key at once one inserts; both read what stands then.
                self.insert_once(connection, DATA_KEYS, self._new_key(tenant_id, subject_hash))
                row = connection.execute(query).one()
        return self._unwrap(tenant_id, row.key_id, row.wrapped)

    def _new_key(self, tenant_id: str, subject_hash: str) -> dict[str, object]:
        key_id = self._ids()
        wrapped = self.wrap(secrets.token_bytes(KEY_BYTES), _wrap_place(tenant_id, key_id))
        return {
            "tenant_id": tenant_id,
            "subject_hash": subject_hash,
            "key_id": key_id,
            "wrapped": wrapped,
            "created_at": self._clock(),
        }

    def _unwrap(self, tenant_id: str, key_id: str, wrapped: bytes) -> DataKey:
        return DataKey(key_id, self.unwrap(wrapped, _wrap_place(tenant_id, key_id)))

    def _subject_hash(self, tenant_id: str, subject: str) -> str:
        return self.lookup_hashes(tenant_id, [f"subject/{subject}"])[0]

    def lookup_hashes(self, tenant_id: str, names: Iterable[str]) -> Sequence[str]:
        """Answer what the key store calls these: keyed hashes, in order, that tell outsiders nothing."""
        key = derive(self.tenant_key(tenant_id).key, "muniment/lookup")
        return [hmac.digest(key, name.encode(), "sha256").hex() for name in names]

    def _prepare(self, check: str) -> None:
        with self._database.engine.begin() as connection:
            if not self._database.is_sqlite:
                connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": _CREATE_LOCK})
            METADATA.create_all(connection)
            known = connection.execute(select(CHECKS.c.value)).scalar()
            if known is None:
                connection.execute(insert(CHECKS).values(name="master_key", value=check))
            elif not hmac.compare_digest(known, check):
                raise MasterKeyWrong

    def _rewrite(self) -> None:
        """Leave no bytes of a destroyed key in the database's file.

        Beside others SQLite may not get the file to itself; then the next destroy or the last close does it.
        Accepted: until then a wrapped key can be dug out by who holds the file *and* the master key.
        """
        connection = self._database.engine.raw_connection()
        try:
            driver = connection.driver_connection
            assert driver is not None
            if self._database.is_sqlite:
                with contextlib.suppress(sqlite3.OperationalError):
                    driver.execute("VACUUM")
                    driver.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            else:
                driver.autocommit = True
                driver.execute("VACUUM FULL data_keys")
                driver.autocommit = False
        finally:
            connection.close()


def derive(key: bytes, purpose: str) -> bytes:
    """Answer a key of 32 bytes for one purpose (HKDF-SHA256, RFC 5869, without salt)."""
    return HKDF(algorithm=SHA256(), length=KEY_BYTES, salt=None, info=purpose.encode()).derive(key)


def _wrap_place(tenant_id: str, key_id: str) -> str:
    return f"{tenant_id}/{key_id}"
