"""What proposals, memories and consents look like outside."""

from collections.abc import Sequence
from dataclasses import asdict
from itertools import groupby
from typing import Any, cast

from service.core.hashing import Json
from service.identity.unit import Unit
from service.memories.model import OWN_ACT, ConsentAct, Decided, Memory, NewProposal, Proposal
from service.memories.model import Citation as CitationModel
from service.memories.rules import lawful_basis_of
from service.memories.valid import Validity
from service.policies.model import Bundle
from service.policies.words import ProvenanceKind
from service.wire.memories import (
    ConsentActAnswer,
    ConsentAnswer,
    DetectionAnswer,
    MemoryAnswer,
    MemoryNamed,
    ProposalAnswer,
    ProposalListed,
    ProposeMemory,
    ProvenanceShape,
    ReasonAnswer,
)


def new_proposal(body: ProposeMemory) -> NewProposal:
    """Read a proposal."""
    return NewProposal(
        project=body.project,
        class_name=body.class_,
        subject=body.subject,
        key=body.key,
        text=body.text or None,
        value=cast("Json", body.value),
        confidence=body.confidence,
        citations=citations_of(body.provenance),
        purpose=body.purpose,
        validity=Validity(body.valid_from, body.valid_until),
    )


def citations_of(sources: Sequence[ProvenanceShape]) -> tuple[CitationModel, ...]:
    """Read the sources that a proposal or correction names."""
    return tuple(CitationModel(ProvenanceKind(source.kind), source.id, source.quote) for source in sources)


def proposal_answer(decided: Decided) -> ProposalAnswer:
    """Answer a decision."""
    proposal, memory = decided.proposal, decided.memory
    return ProposalAnswer(
        id=proposal.id,
        decision=proposal.outcome.value,
        reasons=[ReasonAnswer(code=reason.code.value, message=reason.message) for reason in decided.reasons],
        policy_version=proposal.policy_version,
        memory=None if memory is None else MemoryNamed(id=memory.id, version=memory.version),
    )


def proposal_listed(proposal: Proposal, unit: Unit) -> ProposalListed:
    """Answer a proposal as the queue shows it: the exact words, and what they came from."""
    content = proposal.content
    return ProposalListed(
        id=proposal.id,
        project=unit.project_of(proposal.project_id).name,
        class_=proposal.class_name,
        decision=proposal.outcome.value,
        codes=list(proposal.codes),
        decision_reason=proposal.decision_reason,
        approver=None if proposal.approver is None else proposal.approver.value,
        subject=None if content is None else content.subject,
        key=None if content is None else content.key,
        text=None if content is None else content.text,
        value=None if content is None else content.value,
        provenance=[] if content is None else [_cited(citation) for citation in content.citations],
        purpose=proposal.purpose,
        confidence=proposal.confidence,
        valid_from=proposal.validity.since,
        valid_until=proposal.validity.until,
        detections=[DetectionAnswer(**asdict(one)) for one in proposal.detections],
        proposer=proposal.proposer,
        policy_version=proposal.policy_version,
        memory_id=proposal.memory_id,
        created_at=proposal.created_at,
        age_seconds=max(0.0, (unit.now - proposal.created_at).total_seconds()),
    )


def memory_answer(memory: Memory, unit: Unit, bundle: Bundle) -> MemoryAnswer:
    """Answer a memory with what its class says about it now."""
    rule = bundle.classes.get(memory.class_name)
    content = memory.content
    names = {project.id: project.name for project in unit.caller.projects}
    return MemoryAnswer(
        id=memory.id,
        class_=memory.class_name,
        # A person's memory may come from a project that they have left: its name is not theirs to read.
        project=names.get(memory.project_id, memory.project_id),
        subject=content.subject,
        key=content.key,
        text=content.text,
        value=content.value,
        purpose=memory.purpose,
        purposes=[] if rule is None else list(rule.purposes),
        lawful_basis=memory.lawful_basis or lawful_basis_of(memory.class_name, bundle) or None,
        because=None if rule is None else rule.because,
        confidence=memory.confidence,
        provenance=_provenance(memory),
        trust=memory.trust.value,
        version=memory.version,
        created_at=memory.created_at,
        confirmed_at=memory.confirmed_at or memory.created_at,
        expires_at=memory.expires_at,
        valid_from=memory.validity.since,
        valid_until=memory.validity.until,
        grace_until=memory.grace_until,
        conflict_group=memory.conflict_group,
        status=memory.status.value,
        advisory=True,
        revalidate=[] if rule is None else [stake.value for stake in rule.revalidate_for],
        policy_version=memory.policy_version,
    )


def consent_answers(subject: str, history: Sequence[ConsentAct]) -> list[ConsentAnswer]:
    """Answer a person's consents from their history, one for each purpose."""
    return [
        _consent(subject, purpose, list(acts))
        for purpose, acts in groupby(history, key=lambda act: act.purpose)
    ]


def _consent(subject: str, purpose: str, acts: list[ConsentAct]) -> ConsentAnswer:
    return ConsentAnswer(
        purpose=purpose,
        subject=subject,
        granted=acts[-1].granted,
        text_version=acts[-1].text_version,
        history=[
            ConsentActAnswer(granted=act.granted, text_version=act.text_version, at=act.at, by=act.by)
            for act in acts
        ],
    )


def _provenance(memory: Memory) -> list[dict[str, Any]]:
    """Answer the sources of a memory with their quotes; the subject's own act stands by itself."""
    quotes = iter(memory.content.citations)
    return [
        {"quote": None, **source} if source["kind"] == OWN_ACT else {**_cited(next(quotes)), **source}
        for source in memory.provenance
    ]


def _cited(citation: CitationModel) -> dict[str, Any]:
    return {"kind": citation.kind.value, "id": citation.id, "quote": citation.quote}
