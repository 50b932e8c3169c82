"""Putting a backup back: the record first, then what the present says of it, the index last.

Until the end a mark in the key store keeps everybody else from opening the record. A restore that was
interrupted is begun anew: each part may be done again.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from service.audit.checkpoint import Witness, note_rewind
from service.authoring.remember import bring_policy_forward
from service.core.failpoints import hit
from service.governance.backups.bring_in_line import InLine, bring_in_line
from service.governance.backups.manifest import read_manifest, verify_files
from service.governance.backups.model import BackupNewer, Manifest, RecordNotEmpty, Restored
from service.governance.backups.ports import BackupRegistry, Schema
from service.governance.backups.store_load import load_tables
from service.jobs.erase import Eraser
from service.jobs.indexer import Indexer
from service.jobs.reindex import reindex
from service.jobs.system_unit import SystemUnits
from service.retrieval.model import ItemKind
from service.retrieval.ports import VectorIndex


@dataclass(frozen=True, slots=True)
class Restorer:
    """Puts backups back into one record, which it must have to itself."""

    units: SystemUnits
    schema: Schema
    registry: BackupRegistry
    witness: Witness
    eraser: Eraser
    index: VectorIndex
    indexers: Sequence[Indexer]
    tenant_ids: Callable[[], Sequence[str]]

    def __call__(self, folder: Path, *, replaces: bool) -> tuple[Manifest, Sequence[Restored]]:
        """Put the backup back; answer its manifest and what was done in each tenant.

        Nothing is touched before the whole backup was read and found as it was written. Raises
        `BackupDamaged`, `BackupOfOtherKeys`, `BackupNewer`, and `RecordNotEmpty` unless it `replaces`.
        """
        manifest = read_manifest(folder, trusted=self.witness.signer.public_key)
        if not self.schema.knows(manifest.schema_revision):
            raise BackupNewer
        verify_files(folder, manifest)
        former = self.tenant_ids()
        if former and not replaces and self.registry.unfinished_restore() is None:
            raise RecordNotEmpty
        restore_id = self.units.ids()
        self.registry.begin_restore(restore_id, manifest.id, at=self.units.clock())
        hit("restore.begun")
        load_tables(folder, manifest, database=self.units.database, schema=self.schema)
        hit("restore.committed")
        tenant_ids = self.tenant_ids()
        done = [self._bring_in_line(tenant_id, manifest, restore_id) for tenant_id in tenant_ids]
        hit("restore.in_line")
        self._rebuild_index(tenant_ids, former)
        self.units.database.tidy()
        self.index.purge()
        hit("restore.before_end")
        self.registry.end_restores(at=self.units.clock())
        return manifest, done

    def _bring_in_line(self, tenant_id: str, manifest: Manifest, restore_id: str) -> Restored:
        with self.units.write(tenant_id) as unit:
            bring_policy_forward(unit)
            found: InLine = bring_in_line(manifest, restore_id, unit=unit)
        for erasure_id in found.erasures:
            self.eraser.run(tenant_id, erasure_id)
        with self.units.read(tenant_id) as unit:
            note_rewind(
                unit.session, tenant_id, sequence=found.audit_sequence, witness=self.witness, now=unit.now
            )
        fault = None if found.chain_fault is None else str(found.chain_fault)
        return Restored(tenant_id, found.audit_sequence, fault, found.erased, found.rights_ended)

    def _rebuild_index(self, tenant_ids: Sequence[str], former: Sequence[str]) -> None:
        for tenant_id in sorted(set(former) - set(tenant_ids)):
            for kind in ItemKind:
                names = sorted({key.item_id for key in self.index.list_keys(tenant_id, kind)})
                self.index.delete_items(tenant_id, kind, names)
        for tenant_id in tenant_ids:
            for indexer in self.indexers:
                reindex(tenant_id, indexer)
