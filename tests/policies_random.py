"""Random classes, bundles and facts, likely enough to be approved that each rule gets to decide."""

from dataclasses import replace
from random import Random
from typing import Any, Final

from pydantic import ValidationError

from service.detection.model import Kind
from service.detection.proposed import Detected
from service.identity.model import Role
from service.policies.classes import MemoryClass
from service.policies.model import Bundle, Purpose, SourceRule
from service.policies.verdict import Existing, MemoryMode, ProposalFacts, Quote, SourceFacts
from service.policies.words import (
    Approver,
    Authority,
    ClassScope,
    ConflictRule,
    Destination,
    Detection,
    LawfulBasis,
    OwnWords,
    ProvenanceKind,
    RuleEffect,
    Sensitivity,
    Submission,
    Trust,
)

CONDITIONS: Final = {
    "true": lambda _facts: True,
    "confidence < 0.8": lambda facts: facts.confidence < 0.8,
    'agent == "agent-1"': lambda facts: facts.agent == "agent-1",
    'sources.exists(s, s.uri.startsWith("https://"))': lambda facts: any(
        source.uri.startswith("https://") for source in facts.provenance
    ),
    "!relayed && text_characters < 100": lambda facts: (
        not any(source.relayed for source in facts.provenance) and len(facts.text or "") < 100
    ),
    'existing == "different" || quota_used > 1': lambda facts: (
        facts.existing is Existing.DIFFERENT or facts.quota_used > 1
    ),
    '"email" in detections': lambda facts: any(one.kind is Kind.EMAIL for one in facts.detections),
    # No facts answer this one where the quota is not used at all.
    "1 / quota_used > 0": lambda facts: None if facts.quota_used == 0 else 1 // facts.quota_used > 0,
}
"""Conditions beside what they mean; `None`: they cannot be answered."""

NAMES: Final = ("alpha", "beta", "gamma")
PREFIXES: Final = {"turns": "turn://", "tools": "tool://", "documents": "doc://", "others": ""}
URIS: Final = ("tool://a", "doc://a", "https://a.example/", "")


def random_class(random: Random, name: str) -> MemoryClass:
    """Answer a class that a bundle may have."""
    while True:
        try:
            return MemoryClass.model_validate(_class_fields(random, name))
        except ValidationError:
            continue  # what contradicts itself is no class


def random_bundle(random: Random) -> Bundle:
    """Answer a bundle of one to three classes; not every source has a rule."""
    sources = [
        SourceRule(
            name=name,
            uri_prefix=prefix,
            trust=random.choice(list(Trust)),
            ceiling=Authority.DOCUMENT,
            submission=Submission.ANYONE,
        )
        for name, prefix in PREFIXES.items()
        if random.random() < 0.97
    ]
    return Bundle(
        version="random",
        classes={name: random_class(random, name) for name in NAMES[: random.randint(1, 3)]},
        purposes={name: Purpose(description="x") for name in ("service", "contact")},
        sources=tuple(sorted(sources, key=lambda rule: (-len(rule.uri_prefix), rule.name))),
    )


def random_facts(random: Random) -> ProposalFacts:
    """Answer facts of one proposal."""
    kinds = [Kind.EMAIL, Kind.HEALTH, Kind.RELIGION, Kind.PASSWORD, Kind.INSTRUCTION, Kind.SPECULATIVE]
    found = [Detected("text", 0, 1, kind) for kind in kinds if random.random() < 0.02]
    role = random.choice([*[Role.AGENT] * 12, *[Role.USER] * 4, Role.GRADER])
    return ProposalFacts(
        class_name=random.choice([*[NAMES[0]] * 16, *NAMES, "unknown"]),
        proposer_role=role,
        subject=random.choice([*["user-1"] * 9, None]),
        acts_for_subject=random.random() < 0.95,
        text=random.choice([*["Prefers tea"] * 12, "x" * 150, "x" * 600, " ", None]),
        value=random.choice([*[None] * 16, 7, "seven", True]),
        purpose=random.choice([*["service"] * 4, "contact"]),
        confidence=random.choice([0.3, 0.7, *[0.9] * 4, 1.0]),
        provenance=tuple(_source(random) for _ in range(random.choice([0, *[1] * 14, 2, 3]))),
        consent_given=random.random() < 0.9,
        existing=random.choice([*[Existing.NONE] * 4, Existing.DIFFERENT, *Existing]),
        quota_used=random.choice([0, 0, 1, 2, 5]),
        execution_memory_mode=random.choice([*[None] * 6, MemoryMode.READ_WRITE, MemoryMode.READ]),
        refused=random.random() < 0.03,
        detections=tuple(found),
        corrects=random.random() < 0.15,
        outranked=random.random() < 0.2,
        project="alpha",
        agent=random.choice(["agent-1", "agent-2"]) if role is Role.AGENT else "",
    )


def _source(random: Random) -> SourceFacts:
    own = SourceFacts(
        ProvenanceKind.TURN,
        found=True,
        quote=Quote.FOUND,
        trust=Trust.INTERNAL_TOOL,
        authority=Authority.CONVERSATION,
        speaker="user",
        subjects_own=True,
        relayed=random.random() < 0.5,
    )
    if random.random() < 0.75:
        return replace(own, is_act=random.random() < 0.1)
    return SourceFacts(
        random.choice(list(ProvenanceKind)),
        found=random.random() < 0.95,
        quote=random.choice([Quote.ABSENT, Quote.FOUND, Quote.FOUND, Quote.NOT_FOUND]),
        trust=random.choice(list(Trust)),
        authority=random.choice(list(Authority)),
        uri=random.choice(URIS),
        speaker=random.choice(["user", "assistant", "tool", None]),
        subjects_own=random.random() < 0.7,
        relayed=random.random() < 0.5,
        from_package=random.random() < 0.1,
    )


def _class_fields(random: Random, name: str) -> dict[str, Any]:
    if random.random() < 0.01:
        return {"name": name, "because": "x", "scope": ClassScope.PROJECT, "refuses": "business_fact"}
    scope = random.choice([ClassScope.USER, ClassScope.USER, ClassScope.PROJECT])
    people = [Approver.AUTO, Approver.REVIEWER] if scope is ClassScope.PROJECT else list(Approver)
    approval: dict[str, Any] = {"by": random.choice(people)}
    if approval["by"] is Approver.SUBJECT and random.random() < 0.6:
        approval["automatic_when"] = {"confidence_min": 0.8}
        if random.random() < 0.3:
            approval["automatic_when"]["when"] = random.choice(list(CONDITIONS))
    return {
        "name": name,
        "because": "x",
        "scope": scope,
        "purposes": tuple(_some(random, ["service", "contact"])),
        "lawful_basis": LawfulBasis.CONTRACT,
        "consent_needed": scope is ClassScope.USER and random.random() < 0.4,
        "agents": random.choice([(), (), (), ("agent-1",), ("agent-1", "agent-2")]),
        "writers": tuple(_some(random, [Role.AGENT, Role.USER])),
        "readers": tuple(_some(random, [Role.AGENT, Role.USER, Role.REVIEWER])),
        "correctors": tuple(_some(random, [Role.AGENT, Role.USER])),
        "sources": {
            "provenance": tuple(_some(random, list(ProvenanceKind))),
            "from_sources": tuple(_some(random, list(PREFIXES))),
            "lowest_trust": random.choice([*Trust, *[Trust.INTERNAL_TOOL, Trust.EXTERNAL_TOOL] * 3]),
            "own_words": random.choice([*[OwnWords.NOT_NEEDED] * 4, *OwnWords]),
        },
        "confidence_min": random.choice([0.0, 0.0, 0.5, 0.8]),
        "value": {
            "text_characters_max": random.choice([100, 500]),
            "value_types": random.choice([(), ("number",), ("text", "number", "boolean")]),
        },
        "rules": _rules(random),
        "approval": approval,
        "expiry": {"days": random.choice([30, 365]), "idle_days": random.choice([None, 10])},
        "quota": random.choice([1, 5, 100]),
        "conflict": random.choice(list(ConflictRule)),
        "sensitivity": random.choice(list(Sensitivity)),
        "allowed_detections": tuple(
            one for one in (Detection.EMAIL, Detection.HEALTH) if random.random() < 0.3
        ),
        "destinations": tuple(_some(random, list(Destination))),
    }


def _rules(random: Random) -> dict[str, Any]:
    return {
        f"rule_{number}": {
            "effect": random.choice([*RuleEffect, RuleEffect.PERMIT, RuleEffect.REVIEW]),
            "when": random.choice(list(CONDITIONS)),
            "because": "x",
        }
        for number in range(random.choice([0, 0, 1, 2, 3]))
    }


def _some(random: Random, values: list[Any]) -> list[Any]:
    """Answer a part of a list that is not empty, in its order."""
    return [one for one in values if random.random() < 0.85] or [random.choice(values)]
