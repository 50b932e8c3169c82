"""Nothing becomes memory by default, and a verdict tells every reason that holds."""

from dataclasses import replace
from datetime import timedelta

import pytest
from policies_bundle import NOW, OWN_TURN, default_bundle, preference

from service.identity.model import Role
from service.policies.cases import CaseFile
from service.policies.classes import Approval, Expiry, MemoryClass, MemorySources
from service.policies.evaluate import judge_proposal
from service.policies.model import NO_BUNDLE, Bundle
from service.policies.verdict import (
    Existing,
    MemoryMode,
    Outcome,
    ProposalFacts,
    Quote,
    ReasonCode,
    SourceFacts,
)
from service.policies.words import Approver, ConflictRule, OwnWords, ProvenanceKind, Trust


def bent(**changes: object) -> Bundle:
    """Answer the default bundle with a changed class `preference`."""
    bundle = default_bundle()
    changed = MemoryClass.model_validate({**dict(bundle.classes["preference"]), **changes})
    return bundle.model_copy(update={"classes": {**bundle.classes, "preference": changed}})


def sources(**changes: object) -> MemorySources:
    found = default_bundle().classes["preference"].sources
    assert found is not None
    return MemorySources.model_validate({**dict(found), **changes})


def codes(facts: ProposalFacts, bundle: Bundle | None = None) -> list[str]:
    return [code.value for code in judge_proposal(facts, bundle or default_bundle(), NOW).codes]


def test_without_a_bundle_nothing_is_allowed() -> None:
    verdict = judge_proposal(preference(), NO_BUNDLE, NOW)

    assert (verdict.outcome, verdict.codes) == (Outcome.DENIED, (ReasonCode.CLASS_UNKNOWN,))
    assert verdict.policy_version == "none"


def test_a_verdict_names_its_policy_and_the_rule_that_decided() -> None:
    approved = judge_proposal(preference(), default_bundle(), NOW)
    denied = judge_proposal(preference(consent_given=False), default_bundle(), NOW)

    assert approved.policy_version == default_bundle().version
    assert approved.rule == "classes.preference.approval"
    assert denied.rule == "classes.preference.consent_needed"
    assert denied.expires_at is None


def test_an_unknown_class_does_not_hide_what_is_wrong_with_the_sources() -> None:
    facts = preference(class_name="made_up", provenance=())

    assert codes(facts) == ["class_unknown", "provenance_missing"]


def test_a_reason_never_repeats_what_was_proposed() -> None:
    facts = preference(class_name="secret-class", text="secret text " * 100, purpose="secret-purpose")

    for class_name in ("secret-class", "preference"):
        verdict = judge_proposal(replace(facts, class_name=class_name), default_bundle(), NOW)
        assert verdict.reasons
        assert not any("secret" in reason.message for reason in verdict.reasons)


@pytest.mark.parametrize("role", [Role.REVIEWER, Role.GRADER, Role.OPERATOR, Role.ADMIN, Role.SYSTEM])
def test_only_the_class_s_writers_propose(role: Role) -> None:
    assert codes(preference(proposer_role=role)) == ["writer_not_allowed"]


@pytest.mark.parametrize("mode", [MemoryMode.OFF, MemoryMode.READ])
def test_an_execution_without_the_right_to_write_memory_proposes_nothing(mode: MemoryMode) -> None:
    assert codes(preference(execution_memory_mode=mode)) == ["writer_not_allowed"]


@pytest.mark.parametrize(
    ("text", "value", "valid"),
    [
        ("x" * 500, None, True),
        ("x" * 501, None, False),
        ("", None, False),
        (" \n", "", False),
        (None, None, False),
        (None, 0, True),
        (None, False, True),
        (None, float("nan"), False),
        (None, 10**400, True),
        ("text", ["a"], False),
        ("text", {"a": 1}, False),
        (None, "x" * 501, False),
    ],
)
def test_text_and_value_are_what_the_class_takes(text: str | None, value: object, valid: bool) -> None:
    assert codes(preference(text=text, value=value)) == ([] if valid else ["value_invalid"])


@pytest.mark.parametrize(
    ("confidence", "outcome"),
    [
        (1.0, Outcome.APPROVED),
        (0.7, Outcome.APPROVED),
        (0.69, Outcome.PENDING_REVIEW),
        (0.5, Outcome.PENDING_REVIEW),
        (0.49, Outcome.DENIED),
        (float("nan"), Outcome.DENIED),
    ],
)
def test_confidence_decides_between_approval_review_and_denial(confidence: float, outcome: Outcome) -> None:
    assert judge_proposal(preference(confidence=confidence), default_bundle(), NOW).outcome is outcome


@pytest.mark.parametrize(
    ("rule", "existing", "expected"),
    [
        (ConflictRule.SUPERSEDE, Existing.DIFFERENT, []),
        (ConflictRule.SUPERSEDE, Existing.DIFFERENT_NEWER, []),
        (ConflictRule.KEEP_NEWEST, Existing.DIFFERENT, []),
        (ConflictRule.KEEP_NEWEST, Existing.DIFFERENT_NEWER, ["conflict"]),
        (ConflictRule.REVIEW, Existing.DIFFERENT, ["conflict", "review_required"]),
        (ConflictRule.REVIEW, Existing.SAME, ["duplicate"]),
    ],
)
def test_another_value_under_the_key_is_settled_as_the_class_says(
    rule: ConflictRule, existing: Existing, expected: list[str]
) -> None:
    verdict = judge_proposal(preference(existing=existing), bent(conflict=rule), NOW)

    assert [code.value for code in verdict.codes] == expected
    assert verdict.supersedes == (existing is not Existing.SAME)


@pytest.mark.parametrize(
    ("demand", "change", "allowed"),
    [
        (OwnWords.TURN, {"quote": Quote.ABSENT}, True),
        (OwnWords.TURN, {"subjects_own": False}, False),
        (OwnWords.TURN, {"speaker": "tool"}, False),
        (OwnWords.QUOTE, {}, True),
        (OwnWords.QUOTE, {"quote": Quote.ABSENT}, False),
        (OwnWords.SIGNED_IN_QUOTE, {"relayed": False}, True),
        (OwnWords.SIGNED_IN_QUOTE, {"relayed": True}, False),
    ],
)
def test_a_strict_class_wants_the_subject_s_own_words(
    demand: OwnWords, change: dict[str, object], allowed: bool
) -> None:
    facts = preference(provenance=(replace(OWN_TURN, **change),))

    found = codes(facts, bent(sources=sources(own_words=demand), approval=Approval(by=Approver.AUTO)))

    assert found == ([] if allowed else ["inferred"])


@pytest.mark.parametrize("by", [Approver.SUBJECT, Approver.REVIEWER, Approver.BOTH])
def test_the_class_names_who_decides(by: Approver) -> None:
    verdict = judge_proposal(preference(), bent(approval=Approval(by=by)), NOW)

    assert (verdict.outcome, verdict.approver) == (Outcome.PENDING_REVIEW, by)
    assert verdict.expires_at == NOW + timedelta(days=365)


def test_a_conflict_in_an_automatic_class_goes_to_the_subject() -> None:
    bundle = bent(conflict=ConflictRule.REVIEW, approval=Approval(by=Approver.AUTO))

    verdict = judge_proposal(preference(existing=Existing.DIFFERENT), bundle, NOW)

    assert (verdict.outcome, verdict.approver) == (Outcome.PENDING_REVIEW, Approver.SUBJECT)


def test_a_model_s_summary_kept_as_evidence_is_still_a_model_s_text() -> None:
    summary = SourceFacts(
        kind=ProvenanceKind.EVIDENCE, found=True, uri="tool://summary", trust=Trust.INTERNAL_TOOL
    )

    assert codes(preference(provenance=(summary,))) == ["loop"]


def test_trust_is_the_lowest_of_all_sources() -> None:
    weak = SourceFacts(kind=ProvenanceKind.EVIDENCE, found=True, uri="doc://a", trust=Trust.EXTERNAL_TOOL)

    verdict = judge_proposal(preference(provenance=(OWN_TURN, weak)), default_bundle(), NOW)

    assert verdict.trust is Trust.EXTERNAL_TOOL
    assert ReasonCode.TRUST_TOO_LOW in verdict.codes


def test_the_earliest_end_counts() -> None:
    expiry = Expiry.model_validate({"days": 30, "idle_days": 10, "last_day": "2026-12-05"})

    assert expiry.expires_at(created_at=NOW, confirmed_at=NOW).isoformat() == "2026-12-06T00:00:00+00:00"
    assert Expiry(days=30, idle_days=10).expires_at(created_at=NOW, confirmed_at=NOW) == NOW + timedelta(
        days=10
    )


def test_a_confirmation_starts_the_days_anew_only_where_the_class_counts_from_it() -> None:
    later = NOW + timedelta(days=5)
    fixed = Expiry.model_validate({"days": 30, "counted_from": "creation"})

    assert Expiry(days=30).expires_at(created_at=NOW, confirmed_at=later) == later + timedelta(days=30)
    assert fixed.expires_at(created_at=NOW, confirmed_at=later) == NOW + timedelta(days=30)


def test_the_codes_of_the_contract_are_all_there_and_tests_may_expect_them() -> None:
    assert len(ReasonCode) == 27
    assert CaseFile.model_json_schema()["$defs"]["ReasonCode"]["enum"] == [code.value for code in ReasonCode]


def test_what_the_subject_refuses_is_not_remembered_whatever_else_holds() -> None:
    verdict = judge_proposal(preference(refused=True), default_bundle(), NOW)

    assert (verdict.outcome, verdict.codes) == (Outcome.DENIED, (ReasonCode.REFUSED,))
