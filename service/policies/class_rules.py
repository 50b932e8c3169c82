"""The rules of a class: which of its conditions hold for a proposal, and what that means. Pure.

A condition that cannot be answered counts against the proposal: its rule denies, or its permit does not hold.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime

from service.policies.classes import ClassRule, MemoryClass
from service.policies.condition_types import source_message
from service.policies.conditions import ConditionFailed, read_condition
from service.policies.content import value_type_name
from service.policies.model import Bundle
from service.policies.sources import TURN_URI, find_source
from service.policies.verdict import ProposalFacts, Quote, Reason, ReasonCode, SourceFacts
from service.policies.words import ProvenanceKind, RuleEffect


@dataclass(frozen=True, slots=True)
class Seen:
    """What conditions see of one proposal: never its text, its value or a quote."""

    facts: Mapping[str, object]

    def holds(self, condition: str) -> bool:
        """Say whether a condition holds; one that cannot be answered does not."""
        try:
            return read_condition(condition).holds(self.facts)
        except ConditionFailed:
            return False


def condition_facts(facts: ProposalFacts, bundle: Bundle, now: datetime) -> Seen:
    """Answer what conditions see of a proposal judged at `now`."""
    own = [source.is_own_words for source in facts.provenance]
    return Seen(
        {
            "class_name": facts.class_name,
            "project": facts.project,
            "agent": facts.agent,
            "person": facts.subject if facts.acts_for_subject and facts.subject else "",
            "role": facts.proposer_role.value,
            "subject": facts.subject or "",
            "purpose": facts.purpose,
            "confidence": float(facts.confidence),
            "text_characters": len(facts.text or ""),
            "value_type": value_type_name(facts.value),
            "own_words": bool(own) and all(own),
            "relayed": any(source.relayed for source in facts.provenance),
            "consent": facts.consent_given,
            "existing": facts.existing.value,
            "quota_used": facts.quota_used,
            "memory_mode": "" if facts.execution_memory_mode is None else facts.execution_memory_mode.value,
            "corrects": facts.corrects,
            "detections": sorted({found.kind.value for found in facts.detections}),
            "now": now,
            "sources": [_source(source, bundle) for source in facts.provenance],
        }
    )


def deny_by_rules(memory_class: MemoryClass, seen: Seen) -> Iterator[Reason]:
    """Yield the rules that deny. A `deny` or `review` that cannot be answered denies."""
    for name, rule in sorted(memory_class.rules.items()):
        try:
            holds = read_condition(rule.when).holds(seen.facts)
        except ConditionFailed:
            if rule.effect is not RuleEffect.PERMIT:
                message = "a rule of the class cannot be answered for this proposal"
                yield Reason(ReasonCode.RULE_DENIED, message, _path(memory_class, name))
            continue
        if holds and rule.effect is RuleEffect.DENY:
            yield Reason(ReasonCode.RULE_DENIED, rule.because, _path(memory_class, name))


def review_by_rules(memory_class: MemoryClass, seen: Seen) -> Iterator[Reason]:
    """Yield the rules that want a person to decide."""
    for name, rule in _of(memory_class, RuleEffect.REVIEW):
        if seen.holds(rule.when):
            yield Reason(ReasonCode.RULE_REVIEW, rule.because, _path(memory_class, name))


def find_permit(memory_class: MemoryClass, seen: Seen) -> str | None:
    """Answer where in the class the rule stands that lets policy alone approve, or `None`."""
    held = (name for name, rule in _of(memory_class, RuleEffect.PERMIT) if seen.holds(rule.when))
    name = next(held, None)
    return None if name is None else f"rules.{name}"


def _of(memory_class: MemoryClass, effect: RuleEffect) -> Iterator[tuple[str, ClassRule]]:
    return ((name, rule) for name, rule in sorted(memory_class.rules.items()) if rule.effect is effect)


def _path(memory_class: MemoryClass, name: str) -> str:
    return f"classes.{memory_class.name}.rules.{name}"


def _source(source: SourceFacts, bundle: Bundle) -> object:
    uri = TURN_URI if source.kind is ProvenanceKind.TURN else source.uri
    rule = find_source(uri, source.source_kind, bundle) if source.found else None
    return source_message(
        kind=source.kind.value,
        uri=source.uri,
        source="" if rule is None else rule.name,
        source_kind=source.source_kind,
        trust=source.trust.value,
        authority=source.authority.value,
        speaker=source.speaker or "",
        own=source.is_own_words,
        relayed=source.relayed,
        quoted=source.quote is Quote.FOUND,
    )
