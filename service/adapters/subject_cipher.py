"""The real cipher: AES-256-GCM under the data keys of everybody whom a text is about.

Sealed form: version (1 byte), number of keys (1), key ids (16 each, ascending), nonce (12), ciphertext with
its tag. Header, tenant and place are authenticated.
"""

import hmac
import secrets
import struct
import threading
import uuid
from collections.abc import Collection, Mapping, Sequence
from typing import Final, TypeVar

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from service.adapters.keystore import DataKey, KeyStore, derive
from service.adapters.keystore_names import find_names, keep_name
from service.core.cipher import TextErased
from service.core.errors import Invalid

SUBJECTS_MAX: Final = 255
"""Persons that one text can be about: their number is one byte of the sealed form."""

_VERSION: Final = 1
_ID_BYTES: Final = 16
_NONCE_BYTES: Final = 12
_TAG_BYTES: Final = 16
_HEADER_BYTES: Final = 2
_TENANTS_MAX: Final = 1_000
_ENTRIES_MAX: Final = 20_000
"""Keys, and subjects' names, that one process remembers for a tenant: some megabytes."""

_KeyIds = tuple[str, ...]
Name = TypeVar("Name")
Entry = TypeVar("Entry")


class TooManySubjects(Invalid):
    """A text is about more persons than can be provided for."""

    code = "too_many_subjects"
    title = f"A text can be about at most {SUBJECTS_MAX} persons"


class SubjectCiphers:
    """Answers tenants' ciphers. One for the process: what it remembers is dropped when a key is destroyed."""

    def __init__(self, keystore: KeyStore) -> None:
        self._keystore = keystore
        self._lock = threading.Lock()
        self._rings: dict[str, _KeyRing] = {}

    def for_tenant(self, tenant_id: str) -> "SubjectCipher":
        """Answer the tenant's cipher. Asks the key store once whether keys have died since."""
        self._keystore.epoch(tenant_id)
        return SubjectCipher(self, tenant_id)

    @property
    def keystore(self) -> KeyStore:
        """Where the keys come from."""
        return self._keystore

    def ring(self, tenant_id: str) -> "_KeyRing":
        """Answer the keys at hand of a tenant: a new ring whenever this process hears of a destroyed key."""
        epoch = self._keystore.known_epoch(tenant_id)
        ring = self._rings.get(tenant_id)
        if ring is not None and ring.epoch == epoch:
            return ring
        with self._lock:
            if len(self._rings) >= _TENANTS_MAX:
                self._rings.clear()
            # A thread that still fills the old ring fills nothing that anybody will read.
            ring = self._rings[tenant_id] = _KeyRing(self._keystore, tenant_id, epoch)
        return ring


class SubjectCipher:
    """One tenant's cipher, as `core.cipher.Cipher` promises."""

    def __init__(self, ciphers: SubjectCiphers, tenant_id: str) -> None:
        self._ciphers = ciphers
        self._tenant_id = tenant_id
        tenant = tenant_id.encode()
        self._bound_tenant = struct.pack(">H", len(tenant)) + tenant

    def seal(self, text: str, *, subjects: Sequence[str], place: str) -> bytes:
        """Answer ciphertext that opens only at `place` and only while every subject's key lives."""
        if len(subjects) > SUBJECTS_MAX:
            raise TooManySubjects
        ring = self._ciphers.ring(self._tenant_id)
        key_ids = ring.key_ids(frozenset(subjects))
        header = struct.pack("BB", _VERSION, len(key_ids)) + b"".join(uuid.UUID(key).bytes for key in key_ids)
        nonce = secrets.token_bytes(_NONCE_BYTES)
        sealed = ring.box(key_ids).encrypt(nonce, text.encode(), self._bound_to(header, place))
        return header + nonce + sealed

    def open(self, sealed: bytes, *, place: str) -> str:
        """Answer the text. Raises `TextErased` when a key is destroyed, `ValueError` when it was altered."""
        header = _header_of(sealed)
        ring = self._ciphers.ring(self._tenant_id)
        nonce_end = len(header) + _NONCE_BYTES
        try:
            content = ring.box_of(header).decrypt(
                sealed[len(header) : nonce_end], sealed[nonce_end:], self._bound_to(header, place)
            )
        except (InvalidTag, LookupError):
            raise ValueError("the sealed text was altered, or stands in another place") from None
        return content.decode()

    def can_open(self, sealed: bytes) -> bool:
        """Say whether every key that the text needs still lives, without opening it."""
        header = _header_of(sealed)
        try:
            self._ciphers.ring(self._tenant_id).box_of(header)
        except (TextErased, LookupError):
            return False
        return True

    def keyed_hash(self, text: str) -> str:
        """Answer a hex digest that equals for equal texts of this tenant and tells outsiders nothing."""
        return hmac.digest(self._ciphers.ring(self._tenant_id).hash_key, text.encode(), "sha256").hex()

    def pseudonym(self, subject: str) -> str:
        """Answer the id that stands for the subject: that of their key, with their name sealed beside it."""
        assert subject, "nobody needs no other name"
        ring = self._ciphers.ring(self._tenant_id)
        [key_id] = ring.key_ids(frozenset({subject}))
        if key_id not in ring.named:
            sealed = self.seal(subject, subjects=[subject], place=_name_place(key_id))
            keep_name(self._ciphers.keystore, self._tenant_id, key_id, sealed)
            _remember(ring.named, key_id, subject)
        return key_id

    def find_pseudonym(self, subject: str) -> str | None:
        """Answer the pseudonym of a subject that has a key, and give nobody one."""
        return self._ciphers.keystore.find_subject_key_id(self._tenant_id, subject)

    def names_of(self, pseudonyms: Collection[str]) -> Mapping[str, str]:
        """Answer whose these are, without those whose key has been destroyed."""
        ring = self._ciphers.ring(self._tenant_id)
        unknown = [key_id for key_id in set(pseudonyms) if key_id not in ring.named]
        for key_id, sealed in find_names(self._ciphers.keystore, self._tenant_id, unknown).items():
            try:
                _remember(ring.named, key_id, self.open(sealed, place=_name_place(key_id)))
            except TextErased:
                continue
        return {key_id: ring.named[key_id] for key_id in set(pseudonyms) if key_id in ring.named}

    def _bound_to(self, header: bytes, place: str) -> bytes:
        return header + self._bound_tenant + place.encode()


class _KeyRing:
    """The unwrapped keys of one tenant in one epoch, and what was derived from them."""

    def __init__(self, keystore: KeyStore, tenant_id: str, epoch: int) -> None:
        self.epoch = epoch
        self._keystore = keystore
        self._tenant_id = tenant_id
        self._hash_key: bytes | None = None
        self.named: dict[str, str] = {}
        """Names by the ids of their keys, as far as the key store is known to hold them."""
        self._keys: dict[str, DataKey] = {}
        self._subjects: dict[str, str] = {}
        self._boxes: dict[_KeyIds, AESGCM] = {}
        self._boxes_of_headers: dict[bytes, AESGCM] = {}

    @property
    def hash_key(self) -> bytes:
        """The key of the tenant's keyed hashes."""
        if self._hash_key is None:
            self._hash_key = derive(self._keystore.tenant_key(self._tenant_id).key, "muniment/keyed-hash")
        return self._hash_key

    def key_ids(self, subjects: frozenset[str]) -> _KeyIds:
        """Answer the ids of the subjects' keys, ascending; of the tenant's when there are no subjects."""
        return tuple(sorted(self._key_id_of(subject) for subject in subjects or {""}))

    def box(self, key_ids: _KeyIds) -> AESGCM:
        """Answer the box that needs all of these keys. Raises `TextErased` or `LookupError`."""
        box = self._boxes.get(key_ids)
        if box is None:
            joined = b"".join(self._key(key_id).key for key_id in key_ids)
            box = AESGCM(derive(joined, "muniment/seal"))
            _remember(self._boxes, key_ids, box)
        return box

    def box_of(self, header: bytes) -> AESGCM:
        """Answer the box that a sealed text's header asks for. Raises `TextErased` or `LookupError`."""
        box = self._boxes_of_headers.get(header)
        if box is None:
            box = self.box(_key_ids_of(header))
            _remember(self._boxes_of_headers, header, box)
        return box

    def _key(self, key_id: str) -> DataKey:
        key = self._keys.get(key_id)
        if key is None:
            key = self._keystore.key(self._tenant_id, key_id)
            _remember(self._keys, key_id, key)
        return key

    def _key_id_of(self, subject: str) -> str:
        key_id = self._subjects.get(subject)
        if key_id is None:
            store = self._keystore
            key = (
                store.subject_key(self._tenant_id, subject) if subject else store.tenant_key(self._tenant_id)
            )
            key_id = key.id
            _remember(self._keys, key_id, key)
            _remember(self._subjects, subject, key_id)
        return key_id


def _name_place(key_id: str) -> str:
    return f"names/{key_id}"


def _remember(entries: dict[Name, Entry], name: Name, entry: Entry) -> None:
    if len(entries) >= _ENTRIES_MAX:
        entries.clear()
    entries[name] = entry


def _header_of(sealed: bytes) -> bytes:
    if len(sealed) < _HEADER_BYTES or sealed[0] != _VERSION or sealed[1] == 0:
        raise ValueError("this is not a text that was sealed here")
    end = _HEADER_BYTES + sealed[1] * _ID_BYTES
    if len(sealed) < end + _NONCE_BYTES + _TAG_BYTES:
        raise ValueError("the sealed text is cut off")
    return sealed[:end]


def _key_ids_of(header: bytes) -> _KeyIds:
    ids = (header[start : start + _ID_BYTES] for start in range(_HEADER_BYTES, len(header), _ID_BYTES))
    return tuple(str(uuid.UUID(bytes=content)) for content in ids)
