"""A second reading of what policies mean: small, slow, and written apart from the evaluator.

It answers only what becomes of a proposal and who decides it. It imports no rule of the evaluator.
"""

from policies_random import CONDITIONS

from service.detection.model import FAMILY_OF, Family, Kind
from service.policies.classes import MemoryClass
from service.policies.model import Bundle
from service.policies.verdict import ProposalFacts, SourceFacts
from service.policies.words import Trust

ORDER = list(Trust)


def expected(facts: ProposalFacts, bundle: Bundle) -> tuple[str, str | None]:
    """Answer `approved`, `denied` or `pending_review`, and who decides what is pending."""
    rule = bundle.classes.get(facts.class_name)
    if rule is None or rule.refuses or is_denied(facts, rule, bundle):
        return "denied", None
    if needs_person(facts, rule):
        by = rule.approval.by.value
        if by == "auto":
            by = "subject" if rule.scope == "user" else "reviewer"
        return "pending_review", by
    permitted = any(one.effect == "permit" and holds(one.when, facts) is True for one in rule.rules.values())
    if permitted or rule.approval.by == "auto" or rule.approval.automatic_when is not None:
        return "approved", None
    return "pending_review", rule.approval.by.value


def holds(condition: str, facts: ProposalFacts) -> bool | None:
    """Answer a condition, or `None` where it cannot be answered."""
    return CONDITIONS[condition](facts)  # type: ignore[no-untyped-call]  # lambdas of a table


def is_denied(facts: ProposalFacts, rule: MemoryClass, bundle: Bundle) -> bool:
    """Say whether anything speaks against it for good."""
    found = [source for source in facts.provenance if source.found]
    assert rule.sources is not None
    roles = rule.correctors if facts.corrects else rule.writers
    kinds = {one.kind for one in facts.detections}
    against = [
        len(found) < len(facts.provenance) or not found,
        any(source.quote == "not_found" for source in facts.provenance),
        all(is_models(source) for source in found),
        facts.proposer_role not in roles,
        bool(rule.agents) and facts.agent not in ("", *rule.agents),
        rule.scope == "user" and (not facts.subject or not facts.acts_for_subject),
        facts.execution_memory_mode not in (None, "read_write"),
        rule.consent_needed and not facts.consent_given,
        facts.refused,
        any(not comes_from(source, rule, bundle) for source in found),
        any(ORDER.index(source.trust) > ORDER.index(rule.sources.lowest_trust) for source in found),
        not any(says_it(source, rule.sources.own_words) for source in found),
        facts.confidence < rule.confidence_min,
        facts.purpose not in rule.purposes,
        not is_content(facts, rule),
        any(FAMILY_OF[kind] is Family.CREDENTIAL for kind in kinds),
        any(is_personal(kind) and kind.value not in rule.allowed_detections for kind in kinds),
        facts.existing == "same",
        facts.existing == "different_newer" and rule.conflict == "keep_newest",
        facts.existing == "none" and facts.quota_used >= rule.quota,
        any(
            holds(one.when, facts) is None or (one.effect == "deny" and holds(one.when, facts))
            for one in rule.rules.values()
            if one.effect != "permit"
        ),
    ]
    return any(against)


def needs_person(facts: ProposalFacts, rule: MemoryClass) -> bool:
    """Say whether something wants a person to look, beside the class's own approver."""
    shortcut = rule.approval.automatic_when
    own_act = any(source.is_act for source in facts.provenance)
    families = {FAMILY_OF[one.kind] for one in facts.detections}
    differs = facts.existing in ("different", "different_newer")
    wants = [
        shortcut is not None and facts.confidence < shortcut.confidence_min,
        shortcut is not None and not all(is_own(source) for source in facts.provenance),
        shortcut is not None and shortcut.when is not None and holds(shortcut.when, facts) is not True,
        differs and (facts.outranked or rule.conflict == "review"),
        Family.INSTRUCTION in families,
        bool(families & {Family.HEALTH, Family.CATEGORY, Family.SPECULATIVE, Family.TRANSIENT})
        and not own_act,
        any(one.effect == "review" and holds(one.when, facts) for one in rule.rules.values()),
    ]
    return any(wants)


def is_own(source: SourceFacts) -> bool:
    """Say whether the subject said it."""
    is_users = source.kind == "turn" and source.speaker == "user"
    return source.found and is_users and source.subjects_own and not source.from_package


def is_models(source: SourceFacts) -> bool:
    """Say whether a model wrote it."""
    by_model = source.speaker == "assistant" if source.kind == "turn" else source.authority == "model_summary"
    return by_model or source.from_package


def comes_from(source: SourceFacts, rule: MemoryClass, bundle: Bundle) -> bool:
    """Say whether the class takes what is cited."""
    assert rule.sources is not None
    if source.is_act:
        return True
    uri = "turn://" if source.kind == "turn" else source.uri
    fitting = [one for one in bundle.sources if uri.startswith(one.uri_prefix)]
    if source.kind not in rule.sources.provenance or not fitting:
        return False
    return max(fitting, key=lambda one: len(one.uri_prefix)).name in rule.sources.from_sources


def says_it(source: SourceFacts, demand: str) -> bool:
    """Say whether a source satisfies what a class demands of the subject's words."""
    quoted = source.quote == "found"
    answers = {
        "not_needed": True,
        "turn": is_own(source),
        "quote": is_own(source) and quoted,
        "signed_in_quote": is_own(source) and quoted and not source.relayed,
    }
    return answers[demand]


def is_content(facts: ProposalFacts, rule: MemoryClass) -> bool:
    """Say whether text and value are what the class takes."""
    text, value = facts.text or "", facts.value
    if len(text) > rule.value.text_characters_max or (not text.strip() and value is None):
        return False
    names = {bool: "boolean", int: "number", str: "text"}
    return value is None or names[type(value)] in rule.value.value_types


def is_personal(kind: Kind) -> bool:
    """Say whether it is personal data that a class has to name."""
    return FAMILY_OF[kind] in (Family.HEALTH, Family.CATEGORY, Family.IDENTIFIER)
