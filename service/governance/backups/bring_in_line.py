"""`bring_in_line`: make a record that was put back hold and allow no more than the present does."""

from collections.abc import Sequence
from dataclasses import dataclass

from service.audit.model import Action, Fault
from service.audit.record import record
from service.audit.verify import verify_chain
from service.governance.backups.model import Manifest
from service.governance.backups.store_buried import BuriedStore
from service.governance.backups.store_rights import RightsStore
from service.governance.backups.store_settle import settle
from service.governance.erase import begin_erasure, lock_deletions, new_erasure
from service.governance.model import Kind
from service.governance.store_erasures import ErasureStore
from service.governance.store_reach import ReachStore
from service.identity.unit import Unit
from service.policies.active import active_bundle


@dataclass(frozen=True, slots=True)
class InLine:
    """What was found in one tenant. The erasures are begun: what they name is hidden, and to be destroyed."""

    audit_sequence: int
    chain_fault: Fault | None
    erasures: Sequence[str]
    rights_ended: int
    erased: int


def bring_in_line(manifest: Manifest, restore_id: str, *, unit: Unit) -> InLine:
    """Hide what was erased, end rights that ended, and let nothing happen twice; mark it in the trail.

    Whatever the ledger says was erased goes, however old the copy is. Persons who were erased after it was
    made go with all that is about them. No hold keeps anything: what was held then was released since.
    """
    chain = verify_chain(unit.session, unit.tenant_id, cipher=unit.cipher)
    settle(unit)
    buried = BuriedStore(unit)
    nodes = sorted(set(buried.items()))
    lock_deletions(unit)
    erasures = []
    # Persons first: what else goes is emptied at once, and no longer says whose it was.
    for subject, is_closed in buried.subjects(since=manifest.at):
        begun = begin_erasure(
            Kind.SUBJECT,
            unit.cipher.keyed_hash(subject),
            unit=unit,
            subject=subject,
            closes_account=is_closed,
            heeds_holds=False,
        )
        erasures.append(begun.id)
    if nodes:
        asked = new_erasure(Kind.RESTORE, restore_id, unit=unit)
        ErasureStore.of(unit).add(asked)
        ReachStore(asked.target, unit).add_buried(nodes)
        begin_erasure(Kind.RESTORE, restore_id, unit=unit, erasure=asked, heeds_holds=False)
        erasures.append(asked.id)
    rights = RightsStore(unit, at=manifest.at, classes=active_bundle(unit).classes).end_again()
    record(
        unit,
        Action.RECORD_RESTORED,
        kind="restore",
        ref=restore_id,
        sequence=chain.events,
        removed=len(nodes),
        affected=rights,
    )
    return InLine(chain.events, chain.fault, tuple(erasures), rights, len(nodes))
