"""What the findings of detectors mean for a proposal: they make a decision stricter and allow nothing."""

from collections.abc import Iterator
from typing import Final

from service.detection.model import Family
from service.policies.classes import MemoryClass
from service.policies.sources import lowest_trust
from service.policies.verdict import ProposalFacts, Reason, ReasonCode
from service.policies.words import Trust

_RULE: Final = "detections"
_SENSITIVE: Final = (
    (Family.HEALTH, ReasonCode.SENSITIVE_HEALTH, "it speaks of somebody's health"),
    (Family.CATEGORY, ReasonCode.SENSITIVE_CATEGORY, "it speaks of a special category of personal data"),
    (Family.IDENTIFIER, ReasonCode.SENSITIVE_IDENTIFIER, "it holds an identifier"),
)
_NEEDS_A_YES: Final = frozenset({Family.HEALTH, Family.CATEGORY})
_PASSING: Final = (
    (Family.SPECULATIVE, ReasonCode.SPECULATIVE, "it reads like a guess"),
    (Family.TRANSIENT, ReasonCode.TRANSIENT, "it reads as if it were true for a short time only"),
)


def deny_secrets(facts: ProposalFacts) -> Iterator[Reason]:
    """Yield the refusal of a secret: no class may hold one, and no person may allow it."""
    if _found(facts, Family.CREDENTIAL):
        yield Reason(ReasonCode.SENSITIVE_CREDENTIAL, "it holds a secret, and no memory may", _RULE)


def deny_detected(facts: ProposalFacts, memory_class: MemoryClass) -> Iterator[Reason]:
    """Yield what the class is not for: it names each kind of personal data that it may hold."""
    for family, code, message in _SENSITIVE:
        if _found(facts, family) - set(memory_class.allowed_detections):
            rule = f"classes.{memory_class.name}.allowed_detections"
            yield Reason(code, f"{message} that the class may not hold", rule)


def review_detected(facts: ProposalFacts, memory_class: MemoryClass) -> Iterator[Reason]:
    """Yield what a person has to look at before it is kept, although the class allows it.

    Where the subject acts by their own sign-in, their yes and their certainty are given with the act.
    """
    rule = f"classes.{memory_class.name}.approval"
    is_own_act = any(source.is_act for source in facts.provenance)
    if not is_own_act:
        for family, code, message in _SENSITIVE:
            if family in _NEEDS_A_YES and _found(facts, family):
                yield Reason(code, f"{message}: the subject decides", rule)
    if _found(facts, Family.INSTRUCTION):
        trust = lowest_trust(source.trust for source in facts.provenance)
        stranger = trust.rank >= Trust.EXTERNAL_TOOL.rank
        message = "a source that is not ours speaks to a model" if stranger else "it speaks to a model"
        yield Reason(ReasonCode.INSTRUCTION_LIKE, message, rule)
    if not is_own_act:
        for family, code, message in _PASSING:
            if _found(facts, family):
                yield Reason(code, message, rule)


def _found(facts: ProposalFacts, family: Family) -> set[str]:
    return {one.kind.value for one in facts.detections if one.family is family}
