"""Builds what carries erasures out: the job, and the workers that take it apart from requests."""

from dataclasses import dataclass
from typing import Final

from service.core.tombstones import KeyLedger
from service.governance.erase import ERASE_TOPIC
from service.governance.hold import HOLD_ENDED_TOPIC
from service.identity.directory import TenantDirectory
from service.jobs.delivery_workers import DeliveryWorkers
from service.jobs.end_holds import EndHolds
from service.jobs.erase import Eraser
from service.jobs.relay import Handler, Relay
from service.jobs.system_unit import SystemUnits
from service.retrieval.ports import VectorIndex

_WORKERS: Final = 2
"""Tenants whose erasures one process carries out at once."""


@dataclass(frozen=True, slots=True)
class Erasing:
    """What a process erases with. `ledger` knows what must not come back from a copy."""

    ledger: KeyLedger
    eraser: Eraser
    workers: DeliveryWorkers


def build_erasing(units: SystemUnits, ledger: KeyLedger, index: VectorIndex) -> Erasing:
    """Make the job of erasures and its workers, which a server starts."""
    eraser = Eraser(units, ledger, index, tidy=units.database.tidy)
    handlers: dict[str, Handler] = {ERASE_TOPIC: eraser, HOLD_ENDED_TOPIC: EndHolds(units)}
    relay = Relay(units.database, handlers, units.clock, fails_apart=True)
    tenant_ids = TenantDirectory(units.database).list_ids
    workers = DeliveryWorkers(relay, tenant_ids, workers=_WORKERS, name="erasure")
    return Erasing(ledger, eraser, workers)
