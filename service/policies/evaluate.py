"""May this become memory? Facts and a bundle in, a verdict with all of its reasons out. Pure.

Denied by default: what is approved has passed every rule below, and a class says all that it allows. No rule
is satisfied better by citing one more source that is no better, in any respect, than one already cited.
"""

from collections.abc import Iterator
from datetime import datetime

from service.policies.class_rules import (
    Seen,
    condition_facts,
    deny_by_rules,
    find_permit,
    review_by_rules,
)
from service.policies.classes import MemoryClass, MemorySources
from service.policies.content import content_fault
from service.policies.detected import deny_detected, deny_secrets, review_detected
from service.policies.model import Bundle
from service.policies.sources import TURN_URI, find_source, lowest_trust
from service.policies.verdict import (
    Existing,
    MemoryMode,
    Outcome,
    ProposalFacts,
    Quote,
    Reason,
    ReasonCode,
    SourceFacts,
    Verdict,
)
from service.policies.words import Approver, ClassScope, ConflictRule, OwnWords, ProvenanceKind, Trust

_ORDER = list(ReasonCode)


def judge_proposal(facts: ProposalFacts, bundle: Bundle, now: datetime) -> Verdict:
    """Decide whether a proposed memory is kept, refused or shown to a person. Reads and writes nothing.

    Answers every reason that holds, in the order of `ReasonCode`. A denial lists what denies; a pending
    verdict lists why policy alone does not approve, `review_required` last; an approval lists nothing.
    """
    memory_class = bundle.classes.get(facts.class_name)
    denials = list(_deny_anything(facts))
    seen = condition_facts(facts, bundle, now)
    if memory_class is None:
        denials.append(Reason(ReasonCode.CLASS_UNKNOWN, "the active policy has no such class", "classes"))
    elif memory_class.refuses is not None:
        denials.append(_refuse(memory_class))
    else:
        denials.extend(_deny_by_class(facts, memory_class, bundle))
        denials.extend(deny_by_rules(memory_class, seen))
    if denials or memory_class is None or memory_class.expiry is None:
        return _verdict(Outcome.DENIED, denials, facts, bundle)

    reviews = [
        *_review(facts, memory_class, seen),
        *review_detected(facts, memory_class),
        *review_by_rules(memory_class, seen),
    ]
    permit = None if reviews else find_permit(memory_class, seen)
    approver = Approver.AUTO if permit is not None else _approver(memory_class, reviews)
    if approver is not Approver.AUTO:
        who = "a person decides" if approver is Approver.BOTH else f"the {approver.value} decides"
        reviews.append(_reason(ReasonCode.REVIEW_REQUIRED, who, memory_class, "approval.by"))
    return _verdict(
        Outcome.PENDING_REVIEW if reviews else Outcome.APPROVED,
        reviews,
        facts,
        bundle,
        approver=approver if reviews else None,
        rule=f"classes.{memory_class.name}.{'approval' if permit is None else permit}",
        expires_at=memory_class.expiry.expires_at(created_at=now, confirmed_at=now),
    )


def _deny_anything(facts: ProposalFacts) -> Iterator[Reason]:
    """Yield what refuses a proposal of any class: it must rest on something that is there and not our own."""
    if not facts.provenance:
        yield Reason(ReasonCode.PROVENANCE_MISSING, "no source was cited", "provenance")
    if any(not source.found or source.quote is Quote.NOT_FOUND for source in facts.provenance):
        yield Reason(
            ReasonCode.PROVENANCE_INVALID, "a cited source, or a quote in it, was not found", "provenance"
        )
    yield from deny_secrets(facts)
    found = [source for source in facts.provenance if source.found]
    if found and all(source.is_model_text for source in found):
        yield Reason(ReasonCode.LOOP, "the only sources are a model's own text or a package", "provenance")


def _deny_by_class(facts: ProposalFacts, memory_class: MemoryClass, bundle: Bundle) -> Iterator[Reason]:
    yield from _deny_people(facts, memory_class)
    if memory_class.sources is not None:
        yield from _deny_sources(facts, memory_class, memory_class.sources, bundle)
    yield from _deny_content(facts, memory_class)
    yield from deny_detected(facts, memory_class)
    yield from _deny_beside_what_stands(facts, memory_class)


def _deny_people(facts: ProposalFacts, memory_class: MemoryClass) -> Iterator[Reason]:
    if (fault := _writer_fault(facts, memory_class)) is not None:
        rule, message = fault
        yield _reason(ReasonCode.WRITER_NOT_ALLOWED, message, memory_class, rule)
    if memory_class.consent_needed and not facts.consent_given:
        message = "the subject has not consented to this purpose"
        yield _reason(ReasonCode.CONSENT_MISSING, message, memory_class, "consent_needed")
    if facts.refused:
        message = "the subject refuses to have such things remembered"
        yield Reason(ReasonCode.REFUSED, message, "refusals")


def _deny_content(facts: ProposalFacts, memory_class: MemoryClass) -> Iterator[Reason]:
    # Written so that a confidence that is no number is too low.
    if not facts.confidence >= memory_class.confidence_min:
        message = f"the class needs a confidence of {memory_class.confidence_min}"
        yield _reason(ReasonCode.CONFIDENCE_TOO_LOW, message, memory_class, "confidence_min")
    if not memory_class.takes_purpose(facts.purpose):
        message = "the class is not for this purpose"
        yield _reason(ReasonCode.VALUE_INVALID, message, memory_class, "purposes")
    elif (fault := content_fault(facts.text, facts.value, memory_class.value)) is not None:
        yield _reason(ReasonCode.VALUE_INVALID, fault, memory_class, "value")


def _deny_beside_what_stands(facts: ProposalFacts, memory_class: MemoryClass) -> Iterator[Reason]:
    if facts.existing is Existing.SAME:
        yield _reason(ReasonCode.DUPLICATE, "this is already remembered", memory_class, "conflict")
    if facts.existing is Existing.DIFFERENT_NEWER and memory_class.conflict is ConflictRule.KEEP_NEWEST:
        message = "what is remembered was observed later"
        yield _reason(ReasonCode.CONFLICT, message, memory_class, "conflict")
    if facts.existing is Existing.NONE and facts.quota_used >= memory_class.quota:
        message = f"the class keeps at most {memory_class.quota}"
        yield _reason(ReasonCode.QUOTA_EXCEEDED, message, memory_class, "quota")


def _writer_fault(facts: ProposalFacts, memory_class: MemoryClass) -> tuple[str, str] | None:
    """Answer which key of the class refuses whoever proposes, and why."""
    rule = "correctors" if facts.corrects else "writers"
    if facts.proposer_role not in (memory_class.correctors if facts.corrects else memory_class.writers):
        return rule, f"this role may not {'correct' if facts.corrects else 'propose'} memories of the class"
    if not memory_class.admits(facts.agent):
        return "agents", "the class is for other agents"
    if memory_class.scope is ClassScope.USER and not (facts.subject and facts.acts_for_subject):
        return rule, "a person's memory is proposed by that person or in their name"
    if facts.execution_memory_mode not in (None, MemoryMode.READ_WRITE):
        return rule, "the execution was opened without the right to write memory"
    return None


def _deny_sources(
    facts: ProposalFacts, memory_class: MemoryClass, allowed: MemorySources, bundle: Bundle
) -> Iterator[Reason]:
    found = [source for source in facts.provenance if source.found]
    if not all(_comes_from(source, allowed, bundle) for source in found):
        message = "a cited source is not one that the class takes"
        yield _reason(ReasonCode.SOURCE_NOT_ALLOWED, message, memory_class, "sources")
    if found and lowest_trust(source.trust for source in found).rank > allowed.lowest_trust.rank:
        message = f"a cited source is trusted less than {allowed.lowest_trust.value}"
        yield _reason(ReasonCode.TRUST_TOO_LOW, message, memory_class, "sources.lowest_trust")
    wanted = allowed.own_words
    if wanted is not OwnWords.NOT_NEEDED and not any(_says_it(source, wanted) for source in found):
        message = "the subject's own words are needed"
        yield _reason(ReasonCode.INFERRED, message, memory_class, "sources.own_words")


def _comes_from(source: SourceFacts, allowed: MemorySources, bundle: Bundle) -> bool:
    if source.is_act:
        return True
    if source.kind not in allowed.provenance:
        return False
    uri = TURN_URI if source.kind is ProvenanceKind.TURN else source.uri
    rule = find_source(uri, source.source_kind, bundle)
    return rule is not None and rule.name in allowed.from_sources


def _says_it(source: SourceFacts, demand: OwnWords) -> bool:
    match demand:
        case OwnWords.NOT_NEEDED:
            return True
        case OwnWords.TURN:
            return source.is_own_words
        case OwnWords.QUOTE:
            return source.is_own_words and source.quote is Quote.FOUND
        case OwnWords.SIGNED_IN_QUOTE:
            return source.is_own_words and source.quote is Quote.FOUND and not source.relayed


def _review(facts: ProposalFacts, memory_class: MemoryClass, seen: Seen) -> Iterator[Reason]:
    """Yield why policy alone does not approve what nothing denies, but for the class's own approver."""
    shortcut = memory_class.approval.automatic_when
    if shortcut is not None and facts.confidence < shortcut.confidence_min:
        message = f"below a confidence of {shortcut.confidence_min} the subject decides"
        yield _reason(ReasonCode.CONFIDENCE_TOO_LOW, message, memory_class, "approval.automatic_when")
    if shortcut is not None and not all(source.is_own_words for source in facts.provenance):
        message = "what the subject did not say in so many words, the subject decides"
        yield _reason(ReasonCode.INFERRED, message, memory_class, "approval.automatic_when")
    if shortcut is not None and shortcut.when is not None and not seen.holds(shortcut.when):
        message = "outside of what is approved without a person, the subject decides"
        yield _reason(ReasonCode.RULE_REVIEW, message, memory_class, "approval.automatic_when.when")
    differs = facts.existing in (Existing.DIFFERENT, Existing.DIFFERENT_NEWER)
    if differs and facts.outranked:
        message = "the subject has put right what is remembered, and said nothing else since"
        yield _reason(ReasonCode.CONFLICT, message, memory_class, "correctors")
    elif differs and memory_class.conflict is ConflictRule.REVIEW:
        message = "another value is remembered under this key"
        yield _reason(ReasonCode.CONFLICT, message, memory_class, "conflict")


def _approver(memory_class: MemoryClass, reviews: list[Reason]) -> Approver:
    approval = memory_class.approval
    if approval.by is Approver.AUTO and reviews:
        return Approver.SUBJECT if memory_class.scope is ClassScope.USER else Approver.REVIEWER
    if approval.automatic_when is not None and not reviews:
        return Approver.AUTO
    return approval.by


def _refuse(memory_class: MemoryClass) -> Reason:
    assert memory_class.refuses is not None
    message = "this belongs to its system of record: cite evidence instead"
    return _reason(ReasonCode(memory_class.refuses), message, memory_class, "refuses")


def _reason(code: ReasonCode, message: str, memory_class: MemoryClass, rule: str) -> Reason:
    return Reason(code, message, f"classes.{memory_class.name}.{rule}")


def _verdict(
    outcome: Outcome,
    reasons: list[Reason],
    facts: ProposalFacts,
    bundle: Bundle,
    *,
    approver: Approver | None = None,
    rule: str = "",
    expires_at: datetime | None = None,
) -> Verdict:
    ordered = tuple(sorted(reasons, key=lambda reason: _ORDER.index(reason.code)))
    trust = lowest_trust(source.trust if source.found else Trust.THIRD_PARTY for source in facts.provenance)
    return Verdict(
        outcome=outcome,
        reasons=ordered,
        approver=approver,
        policy_version=bundle.version,
        rule=rule or (ordered[0].rule if ordered else "classes"),
        trust=trust,
        expires_at=expires_at,
        supersedes=facts.existing in (Existing.DIFFERENT, Existing.DIFFERENT_NEWER),
        detections=facts.detections,
    )
