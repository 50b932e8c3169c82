"""Long-term memory: advisory, of the acting person and the project, for the purpose that was asked."""

from collections.abc import Sequence

from service.context.model import Candidate, Group, OmissionReason, Part, Shape
from service.context.retrieve_memories import search_memories
from service.context.situation import Situation
from service.core.hashing import hash_text
from service.executions.model import MemoryMode
from service.memories.model import MemoryPassage
from service.memories.store import MemoryStore
from service.policies.words import Destination
from service.retrieval.search import Ranked, Retriever


def collect(situation: Situation, retriever: Retriever) -> Sequence[Candidate]:
    """Answer what was found, the best first; nothing where the run's memory is off.

    Raises `Unavailable` when the index does not answer.
    """
    depth = situation.profile.retrieval.memories_depth
    run = situation.run
    is_off = run is not None and run.facts.execution.memory_mode is MemoryMode.OFF
    if is_off or not depth or not situation.query.strip():
        return []
    ranked = search_memories(
        situation.query,
        projects=[situation.project],
        purpose=situation.asked.purpose,
        limit=depth,
        unit=situation.unit,
        retriever=retriever,
        memories=MemoryStore.of(situation.unit, situation.bundle),
    )
    return [_candidate(one, situation) for one in ranked if _may_be_shown(one.item, situation)]


def _may_be_shown(memory: MemoryPassage, situation: Situation) -> bool:
    rule = situation.bundle.classes.get(memory.class_name)
    return rule is not None and Destination.PACKAGE in rule.destinations


def _candidate(ranked: Ranked[MemoryPassage], situation: Situation) -> Candidate:
    memory = ranked.item
    expired = memory.expires_at <= situation.unit.now
    checked = f"check anew for {', '.join(memory.revalidate)}" if memory.revalidate else ""
    return Candidate(
        kind="memory",
        id=memory.memory_id,
        version=memory.version,
        parts=(Part(memory.key_name, memory.text),),
        sha256=hash_text(memory.text),
        cite="M",
        group=Group(f"{memory.class_name}|{checked}", memory.class_name, checked, standing="advisory"),
        shape=Shape.PROSE,
        card_title=memory.key_name,
        trust=memory.trust,
        advisory=memory.advisory,
        scores={name: round(value, 6) for name, value in ranked.scores.items()},
        reason=OmissionReason.EXPIRED if expired else None,
    )
