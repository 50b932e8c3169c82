"""`release`: end a quarantine, and bring back what no other one holds, as it was."""

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence

from service.audit.model import Action
from service.audit.record import record
from service.context.store_uses import UseStore
from service.core.errors import NotFound
from service.core.lineage import Node
from service.core.paging import Page, PageRequest
from service.core.quarantined import Quarantined
from service.evidence.store_aside import EvidenceAside
from service.executions.store_traces import TraceStore
from service.governance.model_quarantines import (
    AFFECTED,
    EXECUTIONS_NAMED_MAX,
    Quarantine,
    QuarantineReleased,
    Restored,
)
from service.governance.places import in_projects_of_caller, projects_of
from service.governance.quarantine import BATCH_ITEMS_MAX, named_counts
from service.governance.store_quarantines import QuarantineStore
from service.identity.model import TENANT_WIDE_ROLES
from service.identity.unit import Unit
from service.memories.model import MemoryStatus
from service.memories.store_aside import MemoriesAside


def release_quarantine(quarantine_id: str, *, unit: Unit) -> Restored:
    """Bring back what no other quarantine holds, each thing to what it was, as far as that can be.

    Raises `NotFound`, and `QuarantineReleased` for one that was released before.
    """
    Quarantined(unit.session, unit.tenant_id).lock()
    store = QuarantineStore.of(unit)
    found = get_quarantine(quarantine_id, unit=unit)
    if not found.stands:
        raise QuarantineReleased
    counted: Counter[str] = Counter()
    for kind in AFFECTED.values():
        while items := store.first_items(found.id, kind, count=BATCH_ITEMS_MAX):
            counted[kind] += _bring_back(found, kind, items, store=store, unit=unit)
    store.release(found.id, at=unit.now, by=unit.caller.principal)
    restored = named_counts(counted)
    record(
        unit,
        Action.QUARANTINE_RELEASED,
        kind="quarantine",
        ref=found.id,
        item_kind=found.source.kind,
        ids=[found.source.id],
        restored=sum(restored.values()),
    )
    return Restored(get_quarantine(found.id, unit=unit), restored)


def get_quarantine(quarantine_id: str, *, unit: Unit) -> Quarantine:
    """Answer a quarantine that began in a project that the caller may enter. Raises `NotFound`."""
    found = QuarantineStore.of(unit).find(quarantine_id)
    if found is None or not _visible([found], unit):
        raise NotFound
    return found


def page_quarantines(page: PageRequest, *, standing: bool | None, unit: Unit) -> Page[Quarantine]:
    """Answer a page of the quarantines that the caller may see, newest first; a page may hold fewer."""
    rows = QuarantineStore.of(unit).list_newest(page, standing=standing)
    cut = page.page(rows, [(row.id,) for row in rows])
    return Page(_visible(cut.items, unit), cut.next_cursor)


def page_items(quarantine_id: str, page: PageRequest, *, unit: Unit) -> Page[Node]:
    """Answer a page of what a quarantine holds in the caller's projects; a page may hold fewer."""
    found = QuarantineStore.of(unit).page_items(quarantine_id, page)
    return Page(in_projects_of_caller(found.items, unit), found.next_cursor)


def named_executions(quarantine_id: str, *, unit: Unit) -> Sequence[str]:
    """Answer the first of the runs that a quarantine holds and the caller may enter."""
    items = QuarantineStore.of(unit).first_items(quarantine_id, "execution", count=EXECUTIONS_NAMED_MAX)
    return [
        node.id for node in in_projects_of_caller([Node("execution", item_id) for item_id in items], unit)
    ]


def _bring_back(
    released: Quarantine,
    kind: str,
    items: Mapping[str, str | None],
    *,
    store: QuarantineStore,
    unit: Unit,
) -> int:
    """Let go of some things of a kind; answer how many of them nothing holds any more."""
    store.drop_items(released.id, kind, items)
    held = store.holders(kind, items)
    free = [item_id for item_id in items if item_id not in held]
    match kind:
        case "memory":
            former = {item_id: MemoryStatus(items[item_id] or "") for item_id in free if items[item_id]}
            restored = MemoriesAside.of(unit).bring_back(former, now=unit.now)
            back = [item_id for item_id, status in restored.items() if status is MemoryStatus.ACTIVE]
            unit.stage_all("memory.changed", [{"item_id": item_id} for item_id in back])
        case "evidence":
            _remark(EvidenceAside.of(unit).mark, free, held)
            unit.stage_all("evidence.changed", [{"item_id": item_id} for item_id in free])
        case "summary":
            _remark(TraceStore.of(unit).mark_summaries, free, held)
        case "package":
            _remark(UseStore.of(unit).mark, free, held)
    return len(free)


def _remark(
    mark: Callable[[Collection[str], str | None], None], free: Sequence[str], held: Mapping[str, str]
) -> None:
    """Say of each thing which quarantine holds it now."""
    mark(free, None)
    for quarantine_id in sorted(set(held.values())):
        mark([item_id for item_id, holder in held.items() if holder == quarantine_id], quarantine_id)


def _visible(quarantines: Sequence[Quarantine], unit: Unit) -> Sequence[Quarantine]:
    """Keep those that began where the caller may enter.

    One whose source is gone is seen by those who stand beside the projects.
    """
    mine, caller = unit.caller.project_ids, unit.caller
    projects: dict[Node, str] = {}
    for kind in {one.source.kind for one in quarantines}:
        ids = [one.source.id for one in quarantines if one.source.kind == kind]
        projects |= {Node(kind, found): project for found, project in projects_of(kind, ids, unit).items()}
    return [
        one
        for one in quarantines
        if projects.get(one.source) in mine
        or (one.source not in projects and caller.role in TENANT_WIDE_ROLES)
    ]
