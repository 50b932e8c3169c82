"""Builds what copies the record and puts a copy back."""

from service.audit.model import Action
from service.audit.record import record as append
from service.core.clock import Clock, system_clock
from service.core.ids import IdSource, new_id
from service.core.tokens import NoTokens
from service.governance.backups.back_up import BackUp
from service.identity.directory import TenantDirectory
from service.jobs.restore import Restorer
from service.jobs.system_unit import SystemUnits
from service.migrations.schema import RecordSchema
from service.wiring import Record, Runtime


def build_backup(record: Record | Runtime, *, clock: Clock = system_clock, ids: IdSource = new_id) -> BackUp:
    """Make what writes backups of the record, beside whoever works with it.

    Each tenant's trail says that a copy of it was begun.
    """
    units = SystemUnits(record.database, record.ciphers, NoTokens(), clock, ids)

    def announce(backup_id: str) -> None:
        for tenant_id in TenantDirectory(record.database).list_ids():
            with units.write(tenant_id) as unit:
                append(unit, Action.RECORD_COPIED, kind="backup", ref=backup_id)

    return BackUp(
        record.database, RecordSchema(), record.backups, record.witness.signer, clock, ids, announce
    )


def build_restorer(runtime: Runtime) -> Restorer:
    """Make what puts a backup back into the runtime's record, which nobody else may use meanwhile."""
    units = SystemUnits(
        runtime.database,
        runtime.ciphers,
        runtime.tokens,
        runtime.clock,
        runtime.ids,
        runtime.erasing.ledger,
    )
    return Restorer(
        units=units,
        schema=RecordSchema(),
        registry=runtime.backups,
        witness=runtime.witness,
        eraser=runtime.erasing.eraser,
        index=runtime.index,
        indexers=runtime.indexers,
        tenant_ids=TenantDirectory(runtime.database).list_ids,
    )
