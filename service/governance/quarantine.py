"""`quarantine`: put a poisoned source aside with all that was made from it, in one step."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import Final

from service.audit.model import Action
from service.audit.record import record
from service.context.store_uses import UseStore
from service.core.errors import NotFound
from service.core.idempotency import IdempotencyStore
from service.core.ids import is_id
from service.core.lineage import Node
from service.core.quarantined import SOURCE, Quarantined
from service.core.tombstones import Right
from service.evidence.store_aside import EvidenceAside
from service.executions.store_traces import TraceStore
from service.governance.closure import closure
from service.governance.model_quarantines import (
    AFFECTED,
    EXECUTIONS_NAMED_MAX,
    SOURCE_KINDS,
    Quarantine,
    Reach,
    SourceUnreadable,
)
from service.governance.places import in_projects_of_caller, projects_of
from service.governance.store_quarantines import QuarantineStore
from service.identity.unit import Unit
from service.memories.store_aside import MemoriesAside

BATCH_ITEMS_MAX: Final = 500
"""So many things are put aside, or brought back, at once."""


def quarantine(source: Node, reason: str, *, unit: Unit) -> tuple[Quarantine, bool]:
    """Put the source and all that was made from it out of use; answer the quarantine, and that it is new.

    One that stands with this source is answered instead, with `False`. What was made from the source while
    this waited is in it, and nothing is made from it afterwards. Raises `NotFound` for what is not there or
    stands in a project that the caller may not enter.
    """
    _only_known(source, unit)
    if source.kind == "execution":
        # Before the lock of all quarantines, in the order that whoever writes to the run takes both.
        TraceStore.of(unit).lock_run(source.id)
    Quarantined(unit.session, unit.tenant_id).lock()
    store = QuarantineStore.of(unit)
    standing = store.find_standing(source)
    if standing is not None:
        return standing, False
    made = Quarantine(unit.ids(), source, reason, {}, unit.caller.principal, unit.now)
    store.add(made)
    for kind, ids in _reached(source, unit):
        _put_aside(made, kind, ids, store=store, unit=unit)
    unit.end_right(Right.TRUST, str(source))
    affected = named_counts(store.count_items(made.id))
    store.count(made.id, affected)
    record(
        unit,
        Action.QUARANTINE_BEGUN,
        kind="quarantine",
        ref=made.id,
        item_kind=source.kind,
        ids=[source.id],
        affected=sum(affected.values()),
    )
    found = store.find(made.id)
    assert found is not None
    return found, True


def preview_quarantine(source: Node, *, unit: Unit) -> Reach:
    """Answer what a quarantine would put aside now. Changes nothing. Raises as `quarantine` does."""
    _only_known(source, unit)
    counted: Counter[str] = Counter()
    runs: list[str] = []
    for kind, ids in _reached(source, unit):
        counted[kind] += len(ids)
        if kind == "execution" and len(runs) < EXECUTIONS_NAMED_MAX:
            seen = in_projects_of_caller([Node(kind, item_id) for item_id in ids], unit)
            runs += [node.id for node in seen]
    return Reach(named_counts(counted), sorted(runs)[:EXECUTIONS_NAMED_MAX])


def named_counts(by_kind: Mapping[str, int]) -> dict[str, int]:
    """Answer counts by the names that they are answered under."""
    return {name: by_kind.get(kind, 0) for name, kind in AFFECTED.items()}


def read_source(ref: str) -> Node:
    """Read what a quarantine is to begin at. Raises `SourceUnreadable`, and `NotFound` for no id of ours."""
    node = Node.parse(ref)
    if node is None or node.kind not in SOURCE_KINDS:
        raise SourceUnreadable(f"write kind:id, with a kind of {', '.join(SOURCE_KINDS)}", pointer="/source")
    if not is_id(node.id):
        raise NotFound
    return node


def _only_known(source: Node, unit: Unit) -> None:
    project_id = projects_of(source.kind, [source.id], unit).get(source.id)
    if project_id is None or project_id not in unit.caller.project_ids:
        raise NotFound


def _reached(source: Node, unit: Unit) -> Iterator[tuple[str, Sequence[str]]]:
    """Answer the source and its closure, as far as it is there, some of one kind at a time, each once."""
    nodes = chain([source], closure(source, unit))
    while part := list(islice(nodes, BATCH_ITEMS_MAX)):
        for kind in sorted({node.kind for node in part}):
            found = projects_of(kind, [node.id for node in part if node.kind == kind], unit)
            if found:
                yield kind, sorted(found)


def _put_aside(
    made: Quarantine, kind: str, ids: Sequence[str], *, store: QuarantineStore, unit: Unit
) -> None:
    statuses: dict[str, str] = {}
    match kind:
        case "memory":
            former = MemoriesAside.of(unit).put_aside(ids)
            statuses = {**store.former_statuses(ids), **former}
            unit.stage_all("memory.deleted", [{"item_id": item_id} for item_id in former])
        case "evidence":
            EvidenceAside.of(unit).mark(ids, made.id)
            unit.stage_all("evidence.deleted", [{"item_id": item_id} for item_id in ids])
        case "summary":
            TraceStore.of(unit).mark_summaries(ids, made.id)
        case "package":
            UseStore.of(unit).mark(ids, made.id)
        case "execution" if made.source.kind == "execution":
            statuses = {made.source.id: SOURCE}
    store.add_items(made.id, kind, ids, statuses)
    # An answer that is kept for a repeat may show any of these: the repeat is told that it is gone.
    IdempotencyStore(unit.session, unit.tenant_id, unit.cipher).erase(ids)
