"""Searches long-term memory: the person's own and the project's, each hit re-read under the reader policy."""

from collections.abc import Mapping, Sequence
from functools import partial

from service.context.ports import MemoryPassage, MemoryReader
from service.core.passages import PassageKey
from service.identity.model import Project
from service.identity.unit import Unit
from service.retrieval.model import ItemKind, SearchScope
from service.retrieval.search import Ranked, Retriever


def search_memories(
    query: str,
    *,
    project: Project,
    purpose: str,
    limit: int,
    unit: Unit,
    retriever: Retriever,
    memories: MemoryReader,
) -> Sequence[Ranked[MemoryPassage]]:
    """Answer up to `limit` memories that the caller may read now for `purpose`, the best first.

    An agent that acts for nobody finds the project's and none of a person. Raises `Unavailable` when the
    index does not answer.
    """
    return retriever.search(
        query,
        memory_scope(unit, project),
        reread=partial(memories.passages, caller=unit.caller, purpose=purpose, now=unit.now),
        neighbours=_no_neighbours,
        limit=limit,
    )


def memory_scope(unit: Unit, project: Project) -> SearchScope:
    """Answer where the caller's search for memories may look."""
    scopes = [f"project:{project.id}"]
    if unit.caller.person is not None:
        scopes.append(f"user:{unit.cipher.keyed_hash(unit.caller.person)}")
    readers = tuple(sorted(unit.cipher.keyed_hash(label) for label in unit.caller.reader_labels))
    return SearchScope(unit.tenant_id, ItemKind.MEMORY, tuple(scopes), readers)


def _no_neighbours(keys: Sequence[PassageKey]) -> Mapping[PassageKey, tuple[PassageKey, ...]]:
    del keys
    return {}
