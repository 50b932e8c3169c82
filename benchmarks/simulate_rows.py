"""Memories, proposals and packages as rows, as many proposals and packages over a year would leave them."""

import json
import random
from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta
from typing import Any, Final

from service.identity.model import Role
from service.identity.unit import Unit
from service.memories.sealing import facts_place
from service.policies.facts import keep_facts
from service.policies.model import Bundle
from service.policies.verdict import ProposalFacts, Quote, SourceFacts
from service.policies.words import Authority, ProvenanceKind, Trust

PERSONS: Final = 1_000
_CLASSES: Final = (("preference", "personalisation"), ("workflow_setting", "service"))
_PACKAGE_ITEMS: Final = 20

Row = Mapping[str, Any]


def memory_rows(unit: Unit, project_id: str, number: int) -> Iterator[Row]:
    """Answer memories of a thousand persons, kept at moments of the last half year."""
    chance = random.Random(5)  # noqa: S311 - not for secrets
    persons = [unit.cipher.keyed_hash(_person(one)) for one in range(PERSONS)]
    for index in range(number):
        class_name, purpose = _CLASSES[index % len(_CLASSES)]
        person, made = persons[index % PERSONS], unit.now - _ago(chance, days=170)
        yield {
            "tenant_id": unit.tenant_id,
            "id": unit.ids(),
            "project_id": project_id,
            "class_name": class_name,
            "scope_key": person,
            "subject_hash": person,
            "key_hash": f"{index:064}",
            "version": 1,
            "status": "active",
            "purpose": purpose,
            "trust": "first_party",
            "policy_version": "none",
            "created_at": made,
            "confirmed_at": made,
            "expires_at": made + timedelta(days=365 if class_name == "preference" else 180),
        }


def proposal_rows(unit: Unit, project_id: str, bundle: Bundle, number: int) -> Iterator[Row]:
    """Answer proposals of the last month with what they were judged by, sealed as the service does."""
    chance = random.Random(6)  # noqa: S311 - not for secrets
    for index in range(number):
        class_name, purpose = _CLASSES[index % len(_CLASSES)]
        person, proposal_id = _person(index % PERSONS), unit.ids()
        facts = keep_facts(_facts(class_name, purpose, person, chance), bundle, denied=False)
        yield {
            "tenant_id": unit.tenant_id,
            "id": proposal_id,
            "project_id": project_id,
            "class_name": class_name,
            "subject_hash": unit.cipher.keyed_hash(person),
            "content_hash": "",
            "facts": unit.cipher.seal(json.dumps(facts), subjects=(person,), place=facts_place(proposal_id)),
            "outcome": "approved",
            "codes": [],
            "approvals": [],
            "policy_version": bundle.version,
            "purpose": purpose,
            "confidence": facts["confidence"],
            "proposer": "agent:agent-1",
            "created_at": unit.now - _ago(chance, days=29),
        }


def package_rows(unit: Unit, project_id: str, memories: Sequence[str], number: int) -> Iterator[Row]:
    """Answer packages of the last month, each of which showed twenty memories."""
    chance = random.Random(7)  # noqa: S311 - not for secrets
    for _ in range(number):
        shown = [
            {"kind": "memory", "id": memory_id, "trust": "first_party"}
            for memory_id in chance.sample(memories, _PACKAGE_ITEMS)
        ]
        yield {
            "tenant_id": unit.tenant_id,
            "id": unit.ids(),
            "project_id": project_id,
            "acting_user": "user-1",
            "built_by": "agent:agent-1",
            "purpose": "personalisation",
            "digest": "",
            "request": b"",
            "manifest": {"profile": "default", "sections": [{"items": shown}]},
            "created_at": unit.now - _ago(chance, days=29),
        }


def _facts(class_name: str, purpose: str, person: str, chance: random.Random) -> ProposalFacts:
    source = SourceFacts(
        kind=ProvenanceKind.TURN,
        found=True,
        quote=Quote.FOUND,
        trust=Trust.FIRST_PARTY,
        authority=Authority.CONVERSATION,
        speaker="user",
        subjects_own=True,
        relayed=True,
    )
    return ProposalFacts(
        class_name=class_name,
        proposer_role=Role.AGENT,
        subject=person,
        acts_for_subject=True,
        text="Prefers concise explanations",
        value=None,
        purpose=purpose,
        confidence=round(chance.uniform(0.3, 1.0), 2),
        provenance=(source,),
        consent_given=True,
        project="alpha",
        agent="agent-1",
    )


def _person(number: int) -> str:
    return f"person-{number}"


def _ago(chance: random.Random, *, days: int) -> timedelta:
    return timedelta(seconds=chance.randrange(1, days * 86_400))
