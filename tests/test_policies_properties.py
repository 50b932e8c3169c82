"""Whatever the facts: no approval without source, consent and class, and no help from a weaker source."""

from dataclasses import replace

import pytest
from hypothesis import find, given, settings
from hypothesis import strategies as st
from policies_bundle import NOW, default_bundle, preference

from service.identity.model import Role
from service.policies.evaluate import judge_proposal
from service.policies.model import Bundle
from service.policies.sources import lowest_trust
from service.policies.verdict import (
    Existing,
    MemoryMode,
    Outcome,
    ProposalFacts,
    Quote,
    ReasonCode,
    SourceFacts,
)
from service.policies.words import Approver, Authority, ProvenanceKind, Trust

URIS = ["turn://t", "tool://t", "register://t", "doc://t", "mail://t", "https://t", ""]
CLASSES = [*default_bundle().classes, "unknown"]

source_facts = st.builds(
    SourceFacts,
    found=st.booleans(),
    trust=st.sampled_from(Trust),
    authority=st.sampled_from(Authority),
    quote=st.sampled_from(Quote),
    uri=st.sampled_from(URIS),
    speaker=st.sampled_from(["system", "user", "assistant", "tool", None]),
    subjects_own=st.booleans(),
    relayed=st.booleans(),
    from_package=st.booleans(),
)
facts = st.builds(
    ProposalFacts,
    class_name=st.sampled_from(CLASSES),
    proposer_role=st.sampled_from([Role.AGENT, Role.USER, Role.GRADER]),
    subject=st.sampled_from(["user-1", None]),
    text=st.sampled_from(["Prefers concise explanations", "", None]),
    value=st.sampled_from([None, 7, "seven"]),
    purpose=st.sampled_from(["personalisation", "service", "contact"]),
    confidence=st.sampled_from([0.0, 0.5, 0.7, 1.0]),
    provenance=st.lists(source_facts, max_size=3).map(tuple),
    existing=st.sampled_from(Existing),
    quota_used=st.sampled_from([0, 10_000]),
    execution_memory_mode=st.sampled_from([None, *MemoryMode]),
)
# Random facts are nearly always denied; these differ from what is approved in few respects, or in none.
likely_sources = st.builds(
    replace,
    st.just(SourceFacts(ProvenanceKind.TURN, found=True, speaker="user", subjects_own=True)),
    trust=st.sampled_from([Trust.FIRST_PARTY, Trust.INTERNAL_TOOL, Trust.EXTERNAL_TOOL]),
    quote=st.sampled_from([Quote.FOUND, Quote.ABSENT]),
    relayed=st.booleans(),
)
likely_facts = st.builds(
    replace,
    st.sampled_from(
        [
            preference(),
            preference(class_name="workflow_setting", purpose="service", consent_given=False),
            preference(class_name="contact_detail", purpose="contact"),
            preference(class_name="project_convention", purpose="service", subject=None),
        ]
    ),
    confidence=st.sampled_from([0.5, 0.7, 1.0]),
    existing=st.sampled_from([Existing.NONE, Existing.DIFFERENT]),
    provenance=st.lists(st.one_of(likely_sources, likely_sources, source_facts), min_size=1, max_size=2).map(
        tuple
    ),
)


def automatic() -> Bundle:
    """Answer a bundle whose classes all approve by themselves and take anything from anywhere."""
    bundle = default_bundle()
    classes = {}
    for name, memory_class in bundle.classes.items():
        if memory_class.sources is not None:
            sources = memory_class.sources.model_copy(
                update={
                    "from_sources": tuple(rule.name for rule in bundle.sources),
                    "lowest_trust": Trust.THIRD_PARTY,
                }
            )
            approval = memory_class.approval.model_copy(update={"by": Approver.AUTO, "automatic_when": None})
            memory_class = memory_class.model_copy(update={"sources": sources, "approval": approval})  # noqa: PLW2901 - the changed one replaces it
        classes[name] = memory_class
    return bundle.model_copy(update={"classes": classes})


BUNDLES = st.sampled_from([default_bundle(), automatic()])


@pytest.mark.parametrize("outcome", Outcome)
def test_the_facts_drawn_here_reach_every_outcome(outcome: Outcome) -> None:
    found = find(likely_facts, lambda drawn: judge_proposal(drawn, default_bundle(), NOW).outcome is outcome)

    assert found.provenance


@given(st.one_of(facts, likely_facts), BUNDLES)
@settings(max_examples=300, deadline=None)
def test_an_approval_has_a_source_a_class_and_the_consent_that_the_class_needs(
    proposal: ProposalFacts, bundle: Bundle
) -> None:
    verdict = judge_proposal(proposal, bundle, NOW)

    if verdict.outcome is Outcome.APPROVED:
        memory_class = bundle.classes[proposal.class_name]
        assert memory_class.refuses is None
        assert proposal.consent_given or not memory_class.consent_needed
        assert proposal.provenance
        assert all(source.found and source.quote is not Quote.NOT_FOUND for source in proposal.provenance)
        assert not all(source.is_model_text for source in proposal.provenance)
        assert memory_class.sources is not None
        assert verdict.trust.rank <= memory_class.sources.lowest_trust.rank


@given(st.one_of(facts, likely_facts), BUNDLES)
@settings(max_examples=200, deadline=None)
def test_a_verdict_agrees_with_itself(proposal: ProposalFacts, bundle: Bundle) -> None:
    verdict = judge_proposal(proposal, bundle, NOW)
    order = list(ReasonCode)

    assert (verdict.outcome is Outcome.APPROVED) == (not verdict.reasons)
    assert (verdict.outcome is Outcome.PENDING_REVIEW) == (verdict.approver is not None)
    assert (verdict.outcome is Outcome.DENIED) == (verdict.expires_at is None)
    assert list(verdict.codes) == sorted(set(verdict.codes), key=order.index)
    assert verdict == judge_proposal(proposal, bundle, NOW)


@st.composite
def proposals_with_a_weaker_source(draw: st.DrawFn) -> tuple[ProposalFacts, SourceFacts]:
    """Draw a proposal with a source, and another source that is no better than one of its in any respect."""
    proposal = draw(st.one_of(facts, likely_facts).filter(lambda found: bool(found.provenance)))
    like = draw(st.sampled_from(proposal.provenance))
    weaker = replace(
        like,
        trust=draw(st.sampled_from([level for level in Trust if level.rank >= like.trust.rank])),
        authority=draw(st.sampled_from([level for level in Authority if level.rank >= like.authority.rank])),
        found=like.found and draw(st.booleans()),
        quote=draw(st.sampled_from([like.quote, Quote.ABSENT, Quote.NOT_FOUND]))
        if like.quote is Quote.FOUND
        else like.quote,
        subjects_own=like.subjects_own and draw(st.booleans()),
        relayed=like.relayed or draw(st.booleans()),
        from_package=like.from_package or draw(st.booleans()),
    )
    return proposal, weaker


@given(proposals_with_a_weaker_source(), BUNDLES)
@settings(max_examples=300, deadline=None)
def test_a_weaker_source_never_turns_a_denial_into_anything_better(
    drawn: tuple[ProposalFacts, SourceFacts], bundle: Bundle
) -> None:
    proposal, weaker = drawn
    more = replace(proposal, provenance=(*proposal.provenance, weaker))
    before, after = judge_proposal(proposal, bundle, NOW), judge_proposal(more, bundle, NOW)
    rank = [Outcome.APPROVED, Outcome.PENDING_REVIEW, Outcome.DENIED].index

    assert rank(after.outcome) >= rank(before.outcome)
    assert after.trust is lowest_trust([before.trust, weaker.trust if weaker.found else Trust.THIRD_PARTY])
