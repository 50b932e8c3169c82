"""Why a proposal was decided as it was: every check in order, what it saw, what the bundle says. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, Final

from service.policies.class_rules import Seen, condition_facts
from service.policies.classes import MemoryClass
from service.policies.conditions import ConditionFailed, read_condition
from service.policies.content import value_type_name
from service.policies.model import Bundle
from service.policies.sources import TURN_URI, find_source
from service.policies.verdict import Outcome, ProposalFacts, ReasonCode, SourceFacts, Verdict
from service.policies.words import ProvenanceKind, RuleEffect


class Result(StrEnum):
    """What a check came to."""

    DENIES = "denies"
    ASKS = "asks"
    """It leaves the decision to a person."""
    PERMITS = "permits"
    """It lets policy alone approve."""
    PASSES = "passes"
    """It has nothing against it; a rule's condition does not hold."""
    UNANSWERED = "unanswered"
    """Its condition cannot be answered for this proposal, which counts against the proposal."""
    NOT_REACHED = "not_reached"
    """Something was denied before."""


@dataclass(frozen=True, slots=True)
class Step:
    """One check. `saw` names the facts that it looked at; `says` is what the bundle says at `rule`."""

    check: str
    """A reason's code, or the name of a rule of the class."""
    result: Result
    rule: str | None
    says: Any
    because: str | None
    saw: Mapping[str, Any]


_ASKED_LAST: Final = frozenset({ReasonCode.INFERRED, ReasonCode.SPECULATIVE, ReasonCode.TRANSIENT})
"""Checks after which only a person is asked: they come after whatever denies."""
_CHECKS: Final[Mapping[ReasonCode, tuple[str, tuple[str, ...]]]] = {
    ReasonCode.CLASS_UNKNOWN: ("", ("class",)),
    ReasonCode.BUSINESS_FACT: ("refuses", ("class",)),
    ReasonCode.WRITER_NOT_ALLOWED: (
        "writers", ("role", "agent", "in_the_persons_name", "corrects", "memory_mode")
    ),
    ReasonCode.CONSENT_MISSING: ("consent_needed", ("purpose", "consent")),
    ReasonCode.REFUSED: ("", ("refused",)),
    ReasonCode.PROVENANCE_MISSING: ("", ("sources",)),
    ReasonCode.PROVENANCE_INVALID: ("", ("sources",)),
    ReasonCode.LOOP: ("", ("sources",)),
    ReasonCode.SOURCE_NOT_ALLOWED: ("sources", ("sources",)),
    ReasonCode.TRUST_TOO_LOW: ("sources.lowest_trust", ("sources",)),
    ReasonCode.CONFIDENCE_TOO_LOW: ("confidence_min", ("confidence",)),
    ReasonCode.VALUE_INVALID: ("value", ("purpose", "text_characters", "value_type", "fitted")),
    ReasonCode.SENSITIVE_CREDENTIAL: ("", ("detections",)),
    ReasonCode.SENSITIVE_HEALTH: ("allowed_detections", ("detections",)),
    ReasonCode.SENSITIVE_IDENTIFIER: ("allowed_detections", ("detections",)),
    ReasonCode.SENSITIVE_CATEGORY: ("allowed_detections", ("detections",)),
    ReasonCode.INSTRUCTION_LIKE: ("approval", ("detections", "sources")),
    ReasonCode.SPECULATIVE: ("approval", ("detections",)),
    ReasonCode.TRANSIENT: ("approval", ("detections",)),
    ReasonCode.INFERRED: ("approval.automatic_when", ("sources",)),
    ReasonCode.DUPLICATE: ("conflict", ("existing",)),
    ReasonCode.CONFLICT: ("conflict", ("existing", "outranked")),
    ReasonCode.QUOTA_EXCEEDED: ("quota", ("quota_used", "existing")),
}  # fmt: skip
"""In the order in which reasons are reported: where in a class each stands, and which facts it looks at."""


_OF_OUTCOME: Final[Mapping[Outcome, Result]] = {
    Outcome.DENIED: Result.DENIES,
    Outcome.PENDING_REVIEW: Result.ASKS,
    Outcome.APPROVED: Result.PERMITS,
}


def explain(
    facts: ProposalFacts, verdict: Verdict, bundle: Bundle, *, fitted: bool, at: datetime
) -> Sequence[Step]:
    """Answer every check of a verdict that `bundle` gave on `facts` at that time, the deciding one last.

    What stands in place of a text or value that was not kept is told by its length, type and `fitted`.
    """
    rule = bundle.classes.get(facts.class_name)
    seen = shown_facts(facts, bundle, fitted=fitted)
    steps = [*_checks(verdict, rule, bundle, seen)]
    if rule is not None and rule.refuses is None:
        steps += _rules(rule, condition_facts(facts, bundle, at), bundle, verdict)
    return [*steps, _last(verdict, bundle)]


def shown_facts(facts: ProposalFacts, bundle: Bundle, *, fitted: bool) -> Mapping[str, Any]:
    """Answer what was seen of a proposal, without a word of it and without the name of a person."""
    mode = facts.execution_memory_mode
    return {
        "class": facts.class_name,
        "role": facts.proposer_role.value,
        "agent": facts.agent,
        "in_the_persons_name": facts.acts_for_subject,
        "corrects": facts.corrects,
        "memory_mode": None if mode is None else mode.value,
        "purpose": facts.purpose,
        "consent": facts.consent_given,
        "refused": facts.refused,
        "confidence": facts.confidence,
        "text_characters": None if facts.text is None else len(facts.text),
        "value_type": value_type_name(facts.value),
        "fitted": fitted,
        "existing": facts.existing.value,
        "outranked": facts.outranked,
        "quota_used": facts.quota_used,
        "detections": sorted({found.kind.value for found in facts.detections}),
        "sources": [_source(source, bundle) for source in facts.provenance],
    }


def say_at(rule: str, bundle: Bundle) -> Any:  # noqa: ANN401 - whatever a file may say
    """Answer what the bundle says at a path such as `classes.preference.quota`; `None` where nothing."""
    part, _, rest = rule.partition(".")
    name, _, rest = rest.partition(".")
    found: Any = getattr(bundle, part, {}).get(name) if part == "classes" else None
    if found is None or not rest:
        return None
    value: Any = found.model_dump(mode="json")
    for step in rest.split("."):
        value = value.get(step) if isinstance(value, dict) else None
    return value


def _checks(
    verdict: Verdict, rule: MemoryClass | None, bundle: Bundle, seen: Mapping[str, Any]
) -> Iterator[Step]:
    is_denied = verdict.outcome is Outcome.DENIED
    for code, (place, names) in _CHECKS.items():
        saw = {name: seen[name] for name in names}
        held = [reason for reason in verdict.reasons if reason.code is code]
        for reason in held:
            result = Result.DENIES if is_denied else Result.ASKS
            yield Step(code.value, result, reason.rule, say_at(reason.rule, bundle), reason.message, saw)
        if held:
            continue
        path = f"classes.{rule.name}.{place}" if rule is not None and place else None
        reached = not is_denied or code not in _ASKED_LAST
        result = Result.PASSES if reached else Result.NOT_REACHED
        yield Step(code.value, result, path, None if path is None else say_at(path, bundle), None, saw)


def _rules(rule: MemoryClass, seen: Seen, bundle: Bundle, verdict: Verdict) -> Iterator[Step]:
    """Yield the conditions of a class: what denies first, then what asks, then what permits."""
    is_denied = verdict.outcome is Outcome.DENIED
    shortcut = rule.approval.automatic_when
    if shortcut is not None and shortcut.when is not None:
        path = f"classes.{rule.name}.approval.automatic_when.when"
        result = Result.PASSES if seen.holds(shortcut.when) else Result.ASKS
        yield Step(
            "automatic_when", Result.NOT_REACHED if is_denied else result, path, shortcut.when, None, {}
        )
    for effect in (RuleEffect.DENY, RuleEffect.REVIEW, RuleEffect.PERMIT):
        for name, one in sorted(rule.rules.items()):
            if one.effect is effect:
                result = _result(one.when, effect, seen, is_denied=is_denied)
                path = f"classes.{rule.name}.rules.{name}"
                yield Step(name, result, path, say_at(path, bundle), one.because, {})


def _result(condition: str, effect: RuleEffect, seen: Seen, *, is_denied: bool) -> Result:
    if is_denied and effect is not RuleEffect.DENY:
        # A review that cannot be answered denies, so it was looked at.
        is_told = effect is RuleEffect.REVIEW and _answer(condition, seen) is None
        return Result.UNANSWERED if is_told else Result.NOT_REACHED
    match _answer(condition, seen):
        case None:
            return Result.UNANSWERED
        case False:
            return Result.PASSES
    return {
        RuleEffect.DENY: Result.DENIES,
        RuleEffect.REVIEW: Result.ASKS,
        RuleEffect.PERMIT: Result.PERMITS,
    }[effect]


def _answer(condition: str, seen: Seen) -> bool | None:
    try:
        return read_condition(condition).holds(seen.facts)
    except ConditionFailed:
        return None


def _last(verdict: Verdict, bundle: Bundle) -> Step:
    """Answer what decided in the end: the first denial, who is asked, or what let policy alone approve."""
    result = _OF_OUTCOME[verdict.outcome]
    # The first of what denies; of what asks, the last says whom.
    deciding = verdict.reasons[:1] if verdict.outcome is Outcome.DENIED else verdict.reasons[-1:]
    because, rule = (deciding[0].message, deciding[0].rule) if deciding else (None, verdict.rule)
    return Step("decision", result, rule, say_at(rule, bundle), because, {})


def _source(source: SourceFacts, bundle: Bundle) -> Mapping[str, Any]:
    uri = TURN_URI if source.kind is ProvenanceKind.TURN else source.uri
    rule = find_source(uri, source.source_kind, bundle) if source.found else None
    return {
        "source": None if rule is None else rule.name,
        "kind": source.kind.value,
        "found": source.found,
        "quote": source.quote.value,
        "trust": source.trust.value,
        "authority": source.authority.value,
        "speaker": source.speaker,
        "subjects_own": source.subjects_own,
        "relayed": source.relayed,
        "from_package": source.from_package,
        "own_act": source.is_act,
    }
