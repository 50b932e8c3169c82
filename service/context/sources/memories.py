"""Long-term memory: advisory, of the acting person and the project, for the purpose that was asked."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from service.context.model import Candidate, Group, OmissionReason, Part, Shape
from service.context.retrieve_memories import search_memories
from service.context.situation import Situation
from service.core.hashing import hash_text
from service.core.quarantined import Quarantined
from service.executions.model import MemoryMode
from service.memories.model import MemoryStatus
from service.memories.passages import MemoryPassage
from service.memories.store import MemoryStore
from service.policies.words import Destination
from service.retrieval.search import Ranked, Retriever

_PUT_ASIDE_MAX: Final = 200
"""So many of the newest memories under quarantine are looked at for one package."""


def collect(situation: Situation, retriever: Retriever) -> Sequence[Candidate]:
    """Answer what was found, the best first; nothing where the run's memory is off.

    Raises `Unavailable` when the index does not answer.
    """
    depth = situation.profile.retrieval.memories_depth
    run = situation.run
    is_off = run is not None and run.facts.execution.memory_mode is MemoryMode.OFF
    if is_off or not depth or not situation.query.strip():
        return []
    memories = MemoryStore.of(situation.unit, situation.bundle)
    ranked = search_memories(
        situation.query,
        projects=[situation.project],
        purpose=situation.asked.purpose,
        limit=depth,
        unit=situation.unit,
        retriever=retriever,
        memories=memories,
        destination=Destination.PACKAGE,
        moment=situation.asked.moment,
    )
    contradicted = _contradicted(ranked, memories, situation)
    return [
        *(
            _candidate(one, situation, is_contradicted=one.item.memory.conflict_group in contradicted)
            for one in ranked
        ),
        *_put_aside(memories, situation),
    ]


def _put_aside(memories: MemoryStore, situation: Situation) -> Sequence[Candidate]:
    """Answer what could be remembered here but for a quarantine: a person has few of those."""
    unit, depth = situation.unit, situation.profile.retrieval.memories_depth
    quarantined = Quarantined(unit.session, unit.tenant_id)
    held = quarantined.newest("memory", count=_PUT_ASIDE_MAX, status=MemoryStatus.ACTIVE)
    if not held:
        return []
    passages = memories.list_put_aside(
        held,
        caller=unit.caller,
        purpose=situation.asked.purpose,
        project_ids=[situation.project.id],
        now=unit.now,
    )
    return [
        replace(
            _candidate(Ranked(one.key, one, 0.0, {}), situation, is_contradicted=False),
            reason=OmissionReason.QUARANTINED,
        )
        for one in passages[:depth]
        if _may_be_shown(one, situation)
    ]


def _contradicted(
    ranked: Sequence[Ranked[MemoryPassage]], memories: MemoryStore, situation: Situation
) -> frozenset[str]:
    """Answer the conflict groups in which another value was in force at the moment that is asked about."""
    as_of = situation.asked.moment.as_of
    if as_of is None:
        return frozenset()
    groups = {group for one in ranked if (group := one.item.memory.conflict_group) is not None}
    return frozenset(memories.list_contradicted(groups, at=as_of))


def _may_be_shown(memory: MemoryPassage, situation: Situation) -> bool:
    rule = situation.bundle.classes.get(memory.class_name)
    return rule is not None and Destination.PACKAGE in rule.destinations


def _candidate(ranked: Ranked[MemoryPassage], situation: Situation, *, is_contradicted: bool) -> Candidate:
    memory = ranked.item
    rule = situation.bundle.classes[memory.class_name]
    expired = memory.expires_at <= situation.unit.now
    # To hand it to another receiver is another purpose.
    withheld = None if rule.may_be_sent_to(situation.asked.model) else OmissionReason.PURPOSE
    notes = [f"check anew for {', '.join(memory.revalidate)}"] if memory.revalidate else []
    if rule.revalidation_note is not None:
        notes.append(rule.revalidation_note)
    if is_contradicted:
        notes.append("in conflict: another value was in force at the time asked about")
    checked = ", ".join(notes)
    return Candidate(
        kind="memory",
        id=memory.memory_id,
        version=memory.version,
        parts=(Part(memory.key_name, memory.text),),
        sha256=hash_text(memory.text),
        cite="M",
        group=Group(
            f"{memory.class_name}|{checked}", memory.class_name, checked, standing=rule.advisory_label
        ),
        shape=Shape.PROSE,
        card_title=memory.key_name,
        trust=memory.trust,
        advisory=memory.advisory,
        scores={name: round(value, 6) for name, value in ranked.scores.items()},
        reason=OmissionReason.EXPIRED if expired else withheld,
    )
