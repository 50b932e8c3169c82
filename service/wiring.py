"""The only place that builds concrete things: settings in, a runtime out.

Vendors are imported where they are built: commands that touch the record alone (`build_record`) start without
loading an index, a model or a vocabulary.
"""

import ctypes
import gc
from collections.abc import Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from functools import partial
from itertools import product
from typing import TYPE_CHECKING, Final

from sqlmodel import Session

from service.audit.checkpoint import Witness
from service.core.cipher import Ciphers
from service.core.clock import Clock, system_clock
from service.core.database import Database
from service.core.failpoints import arm
from service.core.ids import IdSource, new_id
from service.core.tokens import TokenCounter
from service.core.tombstones import KeyLedger
from service.evidence.ports import Chunker, FileReader
from service.executions.expire import EXPIRE_TOPIC
from service.executions.lapse import LAPSE_TOPIC
from service.executions.ports import (
    NO_CONNECTORS,
    NO_SOURCE_READERS,
    Compactor,
    Connectors,
    SourceReaders,
)
from service.governance.backups.model import RestoreUnfinished
from service.governance.backups.ports import BackupRegistry
from service.identity.directory import TenantDirectory
from service.identity.model import Caller
from service.identity.projects import MEMBER_REMOVED_TOPIC
from service.identity.unit import Unit
from service.jobs.checkpoint_audit import AuditCheckpoints
from service.jobs.delivery_workers import DeliveryWorkers
from service.jobs.expire_executions import ExpireExecutions
from service.jobs.index_evidence import EVIDENCE_TOPICS, EvidenceSource
from service.jobs.index_memory import MEMORY_TOPICS, MemorySource
from service.jobs.indexer import Indexer, Source
from service.jobs.lapse_approvals import LapseApprovals
from service.jobs.reindex import repair
from service.jobs.relay import Chore, Handler, Relay
from service.jobs.review_executions import ReviewExecutions
from service.jobs.system_unit import SystemUnits
from service.memories.store import MemoryStore
from service.migrations.migrate import migrate
from service.policies.model import NO_BUNDLE
from service.retrieval.ports import Embedder, SparseEncoder, VectorIndex
from service.settings import Settings
from service.wiring_erasure import Erasing, build_erasing
from service.wiring_index import Texts, build_index, build_texts
from service.wiring_outside import build_compactor, build_outside

if TYPE_CHECKING:
    from service.retrieval.search import Retriever


@dataclass(frozen=True, slots=True)
class Record:
    """The record and the ciphers of its text: all that commands without a search need."""

    settings: Settings
    database: Database
    ciphers: Ciphers
    witness: Witness
    ledger: KeyLedger
    backups: BackupRegistry
    _closing: ExitStack = field(repr=False, compare=False)

    def close(self) -> None:
        """Release everything, last built first."""
        self._closing.close()


_OF_EVERY_VOCABULARY: Final = "a \u4e2d \u017f"
"""Latin, Chinese, and the long s, which only the slower counter counts rightly."""


@dataclass(frozen=True, slots=True)
class Runtime:
    """Everything that a process serves with. Shared by its threads; nothing in it belongs to one request."""

    settings: Settings
    database: Database
    ciphers: Ciphers
    witness: Witness
    tokens: TokenCounter
    chunker: Chunker
    files: FileReader
    embedder: Embedder
    sparse: SparseEncoder
    index: VectorIndex
    retriever: "Retriever"
    relay: Relay
    erasing: Erasing
    backups: BackupRegistry
    clock: Clock
    ids: IdSource
    indexers: tuple[Indexer, ...] = ()
    connectors: Connectors = NO_CONNECTORS
    readers: SourceReaders = NO_SOURCE_READERS
    deliveries: DeliveryWorkers | None = None
    compactor: Compactor | None = None
    """The model that an operator chose to write summaries; without one they are chosen sentences."""
    _closing: ExitStack = field(default_factory=ExitStack, repr=False, compare=False)

    def unit(
        self, session: Session, caller: Caller, request_id: str = "", *, fencing_token: int | None = None
    ) -> Unit:
        """Answer a unit of work over an open transaction, with the tenant's cipher and the present moment."""
        return Unit(
            session=session,
            caller=caller,
            now=self.clock(),
            ids=self.ids,
            cipher=self.ciphers.for_tenant(caller.tenant_id),
            tokens=self.tokens,
            request_id=request_id,
            fencing_token=fencing_token,
            ledger=self.erasing.ledger,
        )

    def warm_up(self) -> None:
        """Load what texts commonly need: the first that needs it would hold up all others for a second.

        The default encoding with its slower counter, and the dictionary of Chinese. Other encodings wait for
        the first package that names one: that takes a quarter of a second once, and 70 MB in every process.
        What stands then stands for good: it is taken out of the collector's sight, and what loading left over
        is given back.
        """
        self.tokens.count(_OF_EVERY_VOCABULARY)
        self.sparse.encode_documents([_OF_EVERY_VOCABULARY])
        gc.collect()
        gc.freeze()
        _give_memory_back()

    def close(self) -> None:
        """Release everything, last built first."""
        self._closing.close()


def _give_memory_back() -> None:
    with suppress(OSError, AttributeError):  # another C library than GNU's has no such call
        ctypes.CDLL("libc.so.6").malloc_trim(0)


def build_record(
    settings: Settings,
    *,
    clock: Clock = system_clock,
    ids: IdSource = new_id,
    is_restoring: bool = False,
) -> Record:
    """Open the record, at its newest schema, and the key store; make what the embedded default needs.

    Raises `MasterKeyError` or `MasterKeyWrong` when the master key does not open the key store, and
    `RestoreUnfinished` when the record is half put back: only what goes on with that `is_restoring`.
    """
    # The vendor's package is loaded here, as the module says.
    from service.wiring_keys import build_keys  # noqa: PLC0415

    arm(settings.failpoints)
    with ExitStack() as building:
        database = Database(settings.record_url)
        building.callback(database.close)
        migrate(database)
        keys = build_keys(settings, clock=clock, ids=ids)
        building.callback(keys.close)
        if not is_restoring and keys.backups.unfinished_restore() is not None:
            raise RestoreUnfinished
        return Record(
            settings, database, keys.ciphers, keys.witness, keys.ledger, keys.backups, building.pop_all()
        )


def build(
    settings: Settings,
    *,
    clock: Clock = system_clock,
    ids: IdSource = new_id,
    is_restoring: bool = False,
) -> Runtime:
    """Open everything that serving needs. The caller closes it.

    Raises `core.errors.Unavailable` when another process holds the data folder, when a server does not
    answer, and what `build_record` raises; what was opened until then is closed again.
    """
    # Commands of the record need neither numpy, with which ranking computes, nor the parser of policies.
    from service.jobs.retain import Retain  # noqa: PLC0415
    from service.jobs.sweep_memories import SweepMemories  # noqa: PLC0415
    from service.retrieval.search import Retriever  # noqa: PLC0415

    with ExitStack() as building:
        record = build_record(settings, clock=clock, ids=ids, is_restoring=is_restoring)
        building.callback(record.close)
        texts = build_texts(settings.data_dir / "models", settings.tokenizers)
        index, confirm_whole = build_index(settings, texts)
        building.callback(index.close)
        indexers = _build_indexers(record, texts, index)
        tenant_ids = TenantDirectory(record.database).list_ids
        if confirm_whole is not None:
            # The last process ended without closing the index: its newest points may be missing.
            for tenant_id, indexer in product(tenant_ids(), indexers.values()):
                repair(tenant_id, indexer)
            confirm_whole()
        units = SystemUnits(record.database, record.ciphers, texts.tokens, clock, ids, record.ledger)
        outside = build_outside(settings, units)
        handlers = {**_index_handlers(indexers), **_run_handlers(units)}
        chores: list[Chore] = [AuditCheckpoints(units, record.witness), SweepMemories(units), Retain(units)]
        return Runtime(
            settings=settings,
            database=record.database,
            ciphers=record.ciphers,
            witness=record.witness,
            tokens=texts.tokens,
            chunker=texts.chunker,
            files=texts.files,
            embedder=texts.embedder,
            sparse=texts.sparse,
            index=index,
            retriever=Retriever(texts.embedder, texts.sparse, index, texts.reranker),
            relay=Relay(record.database, handlers, clock, tenant_ids=tenant_ids, chores=chores),
            erasing=build_erasing(units, record.ledger, index),
            backups=record.backups,
            clock=clock,
            ids=ids,
            indexers=tuple(indexers.values()),
            connectors=outside.connectors,
            readers=outside.readers,
            deliveries=outside.deliveries,
            compactor=build_compactor(settings),
            _closing=building.pop_all(),
        )


def _build_indexers(record: Record, texts: Texts, index: VectorIndex) -> dict[tuple[str, ...], Indexer]:
    sources: dict[tuple[str, ...], Source] = {
        EVIDENCE_TOPICS: EvidenceSource(),
        MEMORY_TOPICS: MemorySource(partial(MemoryStore, bundle=NO_BUNDLE)),
    }
    return {
        topics: Indexer(
            source,
            database=record.database,
            ciphers=record.ciphers,
            embedder=texts.embedder,
            sparse=texts.sparse,
            index=index,
        )
        for topics, source in sources.items()
    }


def _index_handlers(indexers: Mapping[tuple[str, ...], Indexer]) -> dict[str, Handler]:
    return {topic: indexer for topics, indexer in indexers.items() for topic in topics}


def _run_handlers(units: SystemUnits) -> dict[str, Handler]:
    # They read policies, which commands that touch the record alone do not.
    from service.authoring.realign import ACTIVATED_TOPIC  # noqa: PLC0415
    from service.jobs.after_activation import AfterActivation  # noqa: PLC0415

    return {
        EXPIRE_TOPIC: ExpireExecutions(units),
        LAPSE_TOPIC: LapseApprovals(units),
        MEMBER_REMOVED_TOPIC: ReviewExecutions(units),
        ACTIVATED_TOPIC: AfterActivation(units),
    }
