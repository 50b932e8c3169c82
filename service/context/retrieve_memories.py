"""Searches long-term memory: the person's own and the project's, each hit re-read under the reader policy.

The index holds what is known now. What was known earlier is read from the record and ranked here: of what
the caller may use, the newest `KNOWN_MEMORIES_MAX`.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Final

from service.core.passages import PassageKey
from service.identity.model import Project
from service.identity.unit import Unit
from service.memories.passages import MemoryPassage
from service.memories.store import MemoryStore
from service.memories.valid import PRESENT, Moment
from service.policies.words import Destination
from service.retrieval.model import ItemKind, SearchScope
from service.retrieval.search import Ranked, Retriever

KNOWN_MEMORIES_MAX: Final = 1_000
"""Of what was known at an earlier moment, so many are looked through: the newest of them."""


def search_memories(
    query: str,
    *,
    projects: Sequence[Project],
    purpose: str,
    limit: int,
    unit: Unit,
    retriever: Retriever,
    memories: MemoryStore,
    destination: Destination,
    moment: Moment = PRESENT,
) -> Sequence[Ranked[MemoryPassage]]:
    """Answer up to `limit` memories that may go to `destination` now for `purpose`, the best first.

    They are what is true at `moment.as_of` (`None`: now), as far as it was known at `moment.known_at`.

    Searched are the person's own and those of `projects`; an agent that acts for nobody finds none of a
    person. Raises `Unavailable` when the index does not answer.
    """
    if moment.known_at is not None:
        found = memories.list_known(
            caller=unit.caller,
            purpose=purpose,
            project_ids=[project.id for project in projects],
            now=unit.now,
            moment=moment,
            destination=destination,
            limit=KNOWN_MEMORIES_MAX,
        )
        return _rank(query, found, retriever)[:limit]
    scope = memory_scope(unit, projects)
    if scope is None:
        return []
    return retriever.search(
        query,
        scope,
        reread=partial(
            memories.passages,
            caller=unit.caller,
            purpose=purpose,
            now=unit.now,
            moment=moment,
            destination=destination,
        ),
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


def _rank(
    query: str, found: Sequence[MemoryPassage], retriever: Retriever
) -> Sequence[Ranked[MemoryPassage]]:
    scored = retriever.rank_texts(query, [passage.text for passage in found], in_order=False)
    ranked = [
        Ranked(passage.key, passage, scores.fused, scores.by_name)
        for passage, scores in zip(found, scored, strict=True)
    ]
    return sorted(ranked, key=lambda one: (-one.score, one.key))


def _no_neighbours(keys: Sequence[PassageKey]) -> Mapping[PassageKey, tuple[PassageKey, ...]]:
    del keys
    return {}
