"""Carrying erasures out: step by step, in transactions of their own, from where the last attempt stopped."""

from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from typing import Final

import structlog

from service.core.errors import Refusal, Unavailable
from service.core.failpoints import hit
from service.core.lineage import Node
from service.core.outbox import ATTEMPTS_MAX, Message
from service.core.tombstones import KeyLedger
from service.governance.erase import (
    ERASE_TOPIC,
    erase_stores,
    lock_deletions,
    note_failure,
    note_removed,
    steps_of,
    verify,
)
from service.governance.forget import begin_after_grace
from service.governance.model import CLOSED_OVER, TAKEN_BACK, Erasure, Held, Kind, State
from service.governance.registry import INDEX, KEYS, LEDGER_OF_THE_GONE
from service.governance.store_erasures import ErasureStore
from service.governance.store_reach import ReachStore
from service.jobs.system_unit import SystemUnits
from service.retrieval.model import ItemKind
from service.retrieval.ports import VectorIndex

_ROUNDS_MAX: Final = 20
"""How often one attempt begins again because something arrived meanwhile."""
_ASKED_AGAIN_AFTER: Final = timedelta(hours=1)
"""How long an erasure waits before it tries again that a hold keeps from beginning, or that failed."""
_NODES_AT_ONCE: Final = 1_000
_INDEXED: Final = (ItemKind.MEMORY, ItemKind.EVIDENCE)

_log = structlog.get_logger(__name__)


class StillArriving(Unavailable):
    """What is erased is written to faster than it is erased."""

    code = "erasure_still_arriving"
    title = "New content keeps arriving for what is being erased"


class Eraser:
    """Handles `erasure.run`; also carries one erasure out for a request that waits for it.

    `tidy` leaves no bytes of removed rows in the record's files, where that can be had.
    """

    def __init__(
        self, units: SystemUnits, ledger: KeyLedger, index: VectorIndex, *, tidy: Callable[[], bool]
    ) -> None:
        self._units = units
        self._ledger = ledger
        self._index = index
        self._tidy = tidy
        self._outside: Mapping[str, Callable[[str, Erasure], None]] = {
            KEYS: self._destroy_key,
            LEDGER_OF_THE_GONE: self._bury,
            INDEX: self._empty_index,
        }

    def __call__(self, tenant_id: str, messages: Sequence[Message]) -> None:
        """Carry out each named erasure; what stops one is written down by its code and raised."""
        kinds = set()
        for message in messages:
            erasure_id = str(message.payload["erasure_id"])
            try:
                kinds.add(self.run(tenant_id, erasure_id))
            except Exception as failure:
                is_last = message.attempts >= ATTEMPTS_MAX and not isinstance(failure, Unavailable)
                with self._units.write(tenant_id) as unit:
                    note_failure(erasure_id, _code_of(failure), is_last=is_last, unit=unit)
                    if is_last:
                        # Its message dies with this attempt, and the law's month goes on.
                        unit.stage_at(ERASE_TOPIC, unit.now + _ASKED_AGAIN_AFTER, erasure_id=erasure_id)
                raise
        # An attempt before this one may have died when all was complete but for the bytes.
        if kinds & CLOSED_OVER or any(message.attempts > 1 for message in messages):
            self._clean_up()

    def run(self, tenant_id: str, erasure_id: str) -> Kind | None:
        """Carry an erasure out to its end and answer its kind; `None` for one that is over or not due yet.

        Raises `Unavailable` when a store does not answer: what was done until then stays done.
        """
        for _ in range(_ROUNDS_MAX):
            erasure = self._due(tenant_id, erasure_id)
            if erasure is None:
                return None
            self._work_through(tenant_id, erasure)
            if self._verified(tenant_id, erasure):
                return erasure.kind
        raise StillArriving

    def run_quietly(self, tenant_id: str, erasure_id: str) -> None:
        """Carry out what can be for a request that waits: what stops it is for the job to go on with."""
        try:
            self.run(tenant_id, erasure_id)
        except Exception as failure:  # noqa: BLE001 - the erasure is asked for and hidden, whatever fails now
            _log.warning("erasure_postponed", erasure_id=erasure_id, failure=_code_of(failure))
            with self._units.write(tenant_id) as unit:
                note_failure(erasure_id, _code_of(failure), is_last=False, unit=unit)

    def destroy_key(self, tenant_id: str, erasure: Erasure) -> None:
        """Take the first step of a person's erasure at once: from then on nobody reads what is theirs."""
        if erasure.kind is Kind.SUBJECT and erasure.step == 0:
            try:
                self._step_outside(tenant_id, erasure, KEYS)
            except Exception as failure:  # noqa: BLE001 - as above
                _log.warning("erasure_postponed", erasure_id=erasure.id, failure=_code_of(failure))

    def _due(self, tenant_id: str, erasure_id: str) -> Erasure | None:
        try:
            with self._units.write(tenant_id) as unit:
                store = ErasureStore.of(unit)
                waiting = store.find(erasure_id)
                if waiting is not None and waiting.state is State.PENDING:
                    # Before its row, as whoever deletes it again does.
                    lock_deletions(unit)
                erasure = store.find(erasure_id, lock=True)
                if erasure is not None and erasure.state is State.PENDING:
                    erasure = begin_after_grace(erasure, unit=unit)
        except Held:
            with self._units.write(tenant_id) as unit:
                note_failure(erasure_id, Held.code, is_last=False, unit=unit)
                unit.stage_at(ERASE_TOPIC, unit.now + _ASKED_AGAIN_AFTER, erasure_id=erasure_id)
            return None
        over = erasure is None or erasure.state is State.COMPLETED or erasure.failure == TAKEN_BACK
        return None if over else erasure

    def _work_through(self, tenant_id: str, erasure: Erasure) -> None:
        steps = steps_of(erasure.target)
        step: int | None = erasure.step
        while step is not None and step < len(steps):
            if steps[step] in self._outside:
                self._step_outside(tenant_id, erasure, steps[step])
                step += 1
            else:
                with self._units.write(tenant_id) as unit:
                    step = erase_stores(erasure.id, unit=unit)

    def _step_outside(self, tenant_id: str, erasure: Erasure, step: str) -> None:
        hit(f"erase.{step}.before")
        self._outside[step](tenant_id, erasure)
        hit(f"erase.{step}.after")

    def _destroy_key(self, tenant_id: str, erasure: Erasure) -> None:
        assert erasure.subject is not None, "a person's erasure knows whose until it is complete"
        destroyed = self._ledger.destroy(tenant_id, erasure.subject)
        kinds = ["subject", "account"] if erasure.closes_account else ["subject"]
        self._ledger.bury_all(tenant_id, [Node(kind, erasure.ref) for kind in kinds])
        self._pass(tenant_id, erasure, KEYS, destroyed)

    def _bury(self, tenant_id: str, erasure: Erasure) -> None:
        # What the job destroys is in the ledger before: a copy that is put back then loses it too.
        is_more = True
        while is_more:
            with self._units.read(tenant_id) as unit:
                nodes = ReachStore(erasure.target, unit).unburied(_NODES_AT_ONCE)
            self._ledger.bury_all(tenant_id, nodes)
            is_more = len(nodes) == _NODES_AT_ONCE
            with self._units.write(tenant_id) as unit:
                # The erasure's own row is locked first, here as everywhere.
                note_removed(erasure.id, LEDGER_OF_THE_GONE, len(nodes), is_done=not is_more, unit=unit)
                ReachStore(erasure.target, unit).mark_buried(nodes)

    def _empty_index(self, tenant_id: str, erasure: Erasure) -> None:
        removed, names = 0, self._names(tenant_id, erasure)
        for kind in _INDEXED:
            removed += self._index.count_items(tenant_id, kind, names[kind])
            self._index.delete_items(tenant_id, kind, names[kind])
        self._pass(tenant_id, erasure, INDEX, removed)

    def _verified(self, tenant_id: str, erasure: Erasure) -> bool:
        hit("erase.verify.before")
        named = self._names(tenant_id, erasure).items()
        left = sum(self._index.count_items(tenant_id, kind, names) for kind, names in named)
        with self._units.write(tenant_id) as unit:
            expire_at = self._ledger.backups_expire_at(unit.now)
            verified = verify(erasure.id, unit=unit, index_left=left, backups_expire_at=expire_at)
        hit("erase.verify.after")
        return verified is None or verified.state is State.COMPLETED

    def _clean_up(self) -> None:
        """Leave no bytes in files of ours, once for all that was erased together.

        Vectors and ciphertext are all that was there: what fails here is made good by the next erasure.
        """
        hit("erase.tidy.before")
        self._tidy()
        self._index.purge()
        hit("erase.tidy.after")

    def _names(self, tenant_id: str, erasure: Erasure) -> Mapping[ItemKind, Sequence[str]]:
        with self._units.read(tenant_id) as unit:
            reach = ReachStore(erasure.target, unit)
            return {kind: reach.ids(kind.value) for kind in _INDEXED}

    def _pass(self, tenant_id: str, erasure: Erasure, step: str, removed: int) -> None:
        with self._units.write(tenant_id) as unit:
            note_removed(erasure.id, step, removed, is_done=True, unit=unit)


def _code_of(failure: Exception) -> str:
    return failure.code if isinstance(failure, Refusal) else type(failure).__name__
