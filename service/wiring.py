"""The only place that builds concrete things: settings in, a runtime out.

Vendors are imported where they are built: commands that touch the record alone (`build_record`) start without
loading an index, a model or a vocabulary.
"""

import os
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from sqlmodel import Session

from service.core.cipher import Ciphers
from service.core.clock import Clock, system_clock
from service.core.database import Database
from service.core.failpoints import Action, arm
from service.core.ids import IdSource, new_id
from service.core.tokens import TokenCounter
from service.evidence.ports import Chunker, FileReader
from service.identity.model import Caller
from service.identity.unit import Unit
from service.migrations.migrate import migrate
from service.retrieval.ports import Embedder, SparseEncoder, VectorIndex
from service.settings import Settings

if TYPE_CHECKING:
    from service.jobs.relay import Relay
    from service.retrieval.search import Retriever

_PRIVATE_FOLDER: Final = 0o700
_MASTER_KEY_FILE: Final = "master.key"


@dataclass(frozen=True, slots=True)
class Record:
    """The record and the ciphers of its text: all that commands without a search need."""

    settings: Settings
    database: Database
    ciphers: Ciphers
    _closing: ExitStack = field(repr=False, compare=False)

    def close(self) -> None:
        """Release everything, last built first."""
        self._closing.close()


@dataclass(frozen=True, slots=True)
class Runtime:
    """Everything that a process serves with. Shared by its threads; nothing in it belongs to one request."""

    settings: Settings
    database: Database
    ciphers: Ciphers
    tokens: TokenCounter
    chunker: Chunker
    files: FileReader
    embedder: Embedder
    sparse: SparseEncoder
    index: VectorIndex
    retriever: "Retriever"
    relay: "Relay"
    clock: Clock
    ids: IdSource
    _closing: ExitStack = field(default_factory=ExitStack, repr=False, compare=False)

    def unit(self, session: Session, caller: Caller, request_id: str = "") -> Unit:
        """Answer a unit of work over an open transaction, with the tenant's cipher and the present moment."""
        return Unit(
            session=session,
            caller=caller,
            now=self.clock(),
            ids=self.ids,
            cipher=self.ciphers.for_tenant(caller.tenant_id),
            tokens=self.tokens,
            request_id=request_id,
        )

    def close(self) -> None:
        """Release everything, last built first."""
        self._closing.close()


def build_record(settings: Settings, *, clock: Clock = system_clock, ids: IdSource = new_id) -> Record:
    """Open the record, at its newest schema, and the key store; make what the embedded default needs.

    Raises `MasterKeyUnusable` or `MasterKeyWrong` when the master key does not open the key store.
    """
    # The vendor's package is loaded here, as the module says.
    from service.adapters.keystore import KeyStore  # noqa: PLC0415
    from service.adapters.master_key import load_master_key  # noqa: PLC0415
    from service.adapters.subject_cipher import SubjectCiphers  # noqa: PLC0415

    arm({name: Action(action) for name, action in settings.failpoints.items()})
    key_folder = settings.data_dir / "keystore"
    if settings.keystore_url is None or settings.master_key is None:
        key_folder.mkdir(parents=True, exist_ok=True, mode=_PRIVATE_FOLDER)
        # Where it stood already, it may have been made by hand.
        os.chmod(key_folder, _PRIVATE_FOLDER)  # noqa: PTH101 - beside the mode of `mkdir`, which the umask cuts
    encoded = None if settings.master_key is None else settings.master_key.get_secret_value()
    master_key = load_master_key(encoded, file=key_folder / _MASTER_KEY_FILE)
    with ExitStack() as building:
        database = Database(settings.record_url)
        building.callback(database.close)
        migrate(database)
        keys = KeyStore(settings.key_record_url, master_key, clock=clock, ids=ids)
        building.callback(keys.close)
        return Record(settings, database, SubjectCiphers(keys), building.pop_all())
