"""Searches long-term memory: the person's own and the project's, each hit re-read under the reader policy."""

from collections.abc import Mapping, Sequence
from functools import partial

from service.core.passages import PassageKey
from service.identity.model import Project
from service.identity.unit import Unit
from service.memories.model import MemoryPassage
from service.memories.store import MemoryStore
from service.retrieval.model import ItemKind, SearchScope
from service.retrieval.search import Ranked, Retriever


def search_memories(
    query: str,
    *,
    projects: Sequence[Project],
    purpose: str,
    limit: int,
    unit: Unit,
    retriever: Retriever,
    memories: MemoryStore,
) -> Sequence[Ranked[MemoryPassage]]:
    """Answer up to `limit` memories that the caller may read now for `purpose`, the best first.

    Searched are the person's own and those of `projects`; an agent that acts for nobody finds none of a
    person. Raises `Unavailable` when the index does not answer.
    """
    scope = memory_scope(unit, projects)
    if scope is None:
        return []
    return retriever.search(
        query,
        scope,
        reread=partial(memories.passages, caller=unit.caller, purpose=purpose, now=unit.now),
        neighbours=_no_neighbours,
        limit=limit,
    )


def memory_scope(unit: Unit, projects: Sequence[Project]) -> SearchScope | None:
    """Answer where the caller's search for memories may look; `None`: nowhere."""
    scopes = [f"project:{project.id}" for project in projects]
    if unit.caller.person is not None:
        scopes.append(f"user:{unit.cipher.keyed_hash(unit.caller.person)}")
    if not scopes:
        return None
    readers = tuple(sorted(unit.cipher.keyed_hash(label) for label in unit.caller.reader_labels))
    return SearchScope(unit.tenant_id, ItemKind.MEMORY, tuple(scopes), readers)


def _no_neighbours(keys: Sequence[PassageKey]) -> Mapping[PassageKey, tuple[PassageKey, ...]]:
    del keys
    return {}
