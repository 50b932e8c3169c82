"""What reviewing looks like outside, with its examples."""

from typing import Any, Final

from service.core.errors import Refusal
from service.entry.http.memories_examples import PROPOSALS_EXAMPLE
from service.entry.http.memories_shapes import proposal_listed
from service.entry.http.problems import status_of
from service.identity.unit import Unit
from service.memories.decide import Weighed
from service.memories.model import Decided
from service.memories.model_review import OldValue, Reviewed, Source
from service.memories.rules import read_principal
from service.policies.classes import MemoryClass
from service.policies.verdict import Outcome, Reason, Verdict
from service.wire.memories import MemoryNamed, ReasonAnswer
from service.wire.review import (
    DecisionAnswer,
    IfApproved,
    PassageAnswer,
    PieceAnswer,
    ProposalReview,
    ProposedBy,
    ReplacedAnswer,
    RuleAnswer,
    SourceAnswer,
)

_LISTED: Final[dict[str, Any]] = PROPOSALS_EXAMPLE["items"][0]
_CITED: Final[dict[str, Any]] = _LISTED["provenance"][0]
_HASH: Final = "sha256:6d1b9f3c53f2ba1c2f0d9a35e7b6f1f60a6a7cbb1f5d0e3f8ad0a2b7c4e9d815"
_MEMORY_ID: Final = "01936d7e-6a11-7d55-8c2b-0b7f6c3f1e22"

REVIEW_EXAMPLE: Final[dict[str, Any]] = {
    **_LISTED,
    "proposed_by": {"role": "agent", "sub": "user-1", "act": "agent-1"},
    "may_decide_as": "subject",
    "approvals": [],
    "content_hash": _HASH,
    "sources": [
        {
            **_CITED,
            "readable": True,
            "version": None,
            "start": 7,
            "end": 20,
            "trust": "third_party",
            "observed_at": "2026-11-30T09:59:00Z",
            "passage": {"source_id": _CITED["id"], "text": "Please keep it short.", "text_start": 0},
        }
    ],
    "replaces": {
        "readable": True,
        "memory_id": _MEMORY_ID,
        "version": 1,
        "text": "Prefers detailed explanations",
        "value": None,
        "diff": [
            {"op": "keep", "text": "Prefers "},
            {"op": "remove", "text": "detailed"},
            {"op": "add", "text": "concise"},
            {"op": "keep", "text": " explanations"},
        ],
    },
    "trust": "third_party",
    "if_approved": {"decision": "approved", "reasons": []},
    "rule": {
        "because": "a person should not have to repeat how they want to be answered.",
        "purposes": ["personalisation"],
        "lawful_basis": "consent",
        "consent_needed": True,
        "approval": "subject",
        "conflict": "supersede",
        "sensitivity": "personal",
        "readers": ["agent", "user"],
    },
}
DECISIONS_EXAMPLE: Final[dict[str, Any]] = {
    "decisions": [{"id": _LISTED["id"], "decision": "approve", "content_hash": _HASH}],
    "preview": True,
}


def review_answer(reviewed: Reviewed, unit: Unit) -> ProposalReview:
    """Answer a proposal with all that a decision about it rests on."""
    listed = proposal_listed(reviewed.proposal, unit)
    proposer = read_principal(reviewed.proposal.proposer)
    verdict = reviewed.verdict
    is_agent = proposer.person != proposer.holder
    return ProposalReview(
        **{name: getattr(listed, name) for name in type(listed).model_fields},
        proposed_by=ProposedBy(
            role=proposer.role.value, sub=proposer.person, act=proposer.holder if is_agent else None
        ),
        may_decide_as=None if reviewed.part is None else reviewed.part.value,
        approvals=list(reviewed.proposal.approvals),
        content_hash=reviewed.content_hash,
        sources=[_source(source) for source in reviewed.sources],
        replaces=None if reviewed.replaces is None else _replaced(reviewed.replaces),
        trust=None if verdict is None else verdict.trust.value,
        if_approved=None if verdict is None else _if_approved(verdict),
        rule=None if reviewed.rule is None else _rule(reviewed.rule),
    )


def decision_answer(proposal_id: str, outcome: Decided | Weighed | Refusal) -> DecisionAnswer:
    """Answer one of many decisions, made or foreseen."""
    if isinstance(outcome, Refusal):
        return DecisionAnswer(
            id=proposal_id,
            status=status_of(type(outcome)),
            code=outcome.code,
            detail=outcome.detail,
            decision=None,
            reasons=[],
            memory=None,
        )
    memory = outcome.memory if isinstance(outcome, Decided) else None
    decided = outcome.proposal.outcome if isinstance(outcome, Decided) else outcome.outcome
    return DecisionAnswer(
        id=proposal_id,
        status=200,
        code=None,
        detail=None,
        decision=decided.value,
        reasons=[_reason(reason) for reason in outcome.reasons],
        memory=None if memory is None else MemoryNamed(id=memory.id, version=memory.version),
    )


def _source(source: Source) -> SourceAnswer:
    found = source.passage
    cited = None if found is None else found.cited
    return SourceAnswer(
        kind=source.citation.kind.value,
        id=source.citation.id,
        quote=source.citation.quote,
        readable=found is not None,
        version=None if cited is None else cited.version,
        start=None if cited is None else cited.start,
        end=None if cited is None else cited.end,
        trust=None if cited is None else cited.facts.trust.value,
        observed_at=None if cited is None else cited.observed_at,
        passage=None
        if found is None
        else PassageAnswer(source_id=found.source_id, text=found.text, text_start=found.text_start),
    )


def _replaced(old: OldValue) -> ReplacedAnswer:
    memory = old.memory
    return ReplacedAnswer(
        readable=memory is not None,
        memory_id=None if memory is None else memory.id,
        version=None if memory is None else memory.version,
        text=None if memory is None else memory.content.text,
        value=None if memory is None else memory.content.value,
        diff=[PieceAnswer(op=piece.op.value, text=piece.text) for piece in old.diff],
    )


def _if_approved(verdict: Verdict) -> IfApproved:
    if verdict.outcome is Outcome.DENIED:
        return IfApproved(decision="denied", reasons=[_reason(reason) for reason in verdict.reasons])
    return IfApproved(decision="approved", reasons=[])


def _rule(rule: MemoryClass) -> RuleAnswer:
    return RuleAnswer(
        because=rule.because,
        purposes=list(rule.purposes),
        lawful_basis=None if rule.lawful_basis is None else rule.lawful_basis.value,
        consent_needed=rule.consent_needed,
        approval=rule.approval.by.value,
        conflict=rule.conflict.value,
        sensitivity=rule.sensitivity.value,
        readers=[role.value for role in rule.readers],
    )


def _reason(reason: Reason) -> ReasonAnswer:
    return ReasonAnswer(code=reason.code.value, message=reason.message)
