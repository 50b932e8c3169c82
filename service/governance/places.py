"""Where things of any kind stand: which of them are there, and in which project."""

from collections.abc import Collection, Mapping, Sequence

from service.context.store_uses import UseStore
from service.core.lineage import Node
from service.evidence.store_aside import EvidenceAside
from service.executions.store_traces import TraceStore
from service.identity.unit import Unit
from service.memories.store_aside import MemoriesAside


def projects_of(kind: str, ids: Collection[str], unit: Unit) -> Mapping[str, str]:
    """Answer the project's id of each of these things of one kind that are there, whoever may read them."""
    match kind:
        case "evidence":
            return EvidenceAside.of(unit).projects_of(ids)
        case "memory":
            return MemoriesAside.of(unit).projects_of(ids)
        case "package":
            return UseStore.of(unit).projects_of(ids)
        case _:
            return TraceStore.of(unit).projects_of(kind, ids)


def in_projects_of_caller(nodes: Sequence[Node], unit: Unit) -> Sequence[Node]:
    """Answer those of the things that stand in a project that the caller may enter, in their order."""
    mine = unit.caller.project_ids
    seen = {
        Node(kind, item_id)
        for kind in {node.kind for node in nodes}
        for item_id, project_id in projects_of(
            kind, [node.id for node in nodes if node.kind == kind], unit
        ).items()
        if project_id in mine
    }
    return [node for node in nodes if node in seen]
