"""Builds what stands apart from the record: the key store, its ciphers, signatures and memory of heads."""

import os
from dataclasses import dataclass
from typing import Final

from service.adapters.keystore import KeyStore
from service.adapters.keystore_backups import KeyStoreBackups
from service.adapters.keystore_heads import KeyStoreHeads
from service.adapters.keystore_ledger import KeyStoreLedger
from service.adapters.master_key import load_master_key
from service.adapters.signer import KeyStoreSigner
from service.adapters.subject_cipher import SubjectCiphers
from service.audit.checkpoint import Witness
from service.core.cipher import Ciphers
from service.core.clock import Clock
from service.core.ids import IdSource
from service.core.tombstones import KeyLedger
from service.governance.backups.ports import BackupRegistry
from service.settings import Settings

_PRIVATE_FOLDER: Final = 0o700
_MASTER_KEY_FILE: Final = "master.key"


@dataclass(frozen=True, slots=True)
class Keys:
    """What is made from the one key store."""

    ciphers: Ciphers
    witness: Witness
    ledger: KeyLedger
    backups: BackupRegistry
    _keystore: KeyStore

    def close(self) -> None:
        """Give the key store's connections back."""
        self._keystore.close()


def build_keys(settings: Settings, *, clock: Clock, ids: IdSource) -> Keys:
    """Open the key store, making what the embedded default needs.

    Raises `MasterKeyError` or `MasterKeyWrong` when the master key does not open it.
    """
    key_folder = settings.data_dir / "keystore"
    if settings.keystore_url is None or settings.master_key is None:
        key_folder.mkdir(parents=True, exist_ok=True, mode=_PRIVATE_FOLDER)
        # Where it stood already, it may have been made by hand.
        os.chmod(key_folder, _PRIVATE_FOLDER)  # noqa: PTH101 - beside the mode of `mkdir`, which the umask cuts
    encoded = None if settings.master_key is None else settings.master_key.get_secret_value()
    master_key = load_master_key(encoded, file=key_folder / _MASTER_KEY_FILE)
    keys = KeyStore(settings.key_record_url, master_key, clock=clock, ids=ids)
    witness = Witness(KeyStoreSigner(keys, clock=clock), KeyStoreHeads(keys))
    ledger = KeyStoreLedger(keys, clock=clock)
    return Keys(SubjectCiphers(keys), witness, ledger, KeyStoreBackups(keys), keys)
