"""The default bundle says what the service promises, and its own tests hold."""

import json
from datetime import timedelta
from pathlib import Path

import pytest
from policies_bundle import FOLDER, NOW, default_bundle, default_files

from service.identity.model import Role
from service.policies.load import inspect_files
from service.policies.model import Bundle, SourceRule
from service.policies.run_cases import CaseResult, run_cases
from service.policies.schema import bundle_schema, case_schema
from service.policies.sources import place_source, trust_of_turn
from service.policies.verdict import ReasonCode
from service.policies.words import (
    ApprovalNeed,
    Approver,
    Authority,
    ConflictRule,
    Detection,
    LawfulBasis,
    Overflow,
    RetainedText,
    SectionName,
    Submission,
    Trust,
)

FOUND = inspect_files(default_files())
RESULTS = run_cases(default_bundle(), FOUND.cases)


@pytest.mark.parametrize("result", RESULTS, ids=lambda result: f"{result.file}: {result.name}")
def test_each_test_of_the_default_bundle_passes(result: CaseResult) -> None:
    assert result.differences == ()


def test_the_default_bundle_has_no_finding_and_tests_every_class() -> None:
    tested = {
        case.given.proposal.memory_class
        for file in FOUND.cases.values()
        for case in file.cases
        if case.given.proposal is not None
    }

    assert FOUND.findings == ()
    assert len(RESULTS) >= 20
    assert tested > default_bundle().classes.keys()


@pytest.mark.parametrize(
    ("name", "purpose", "basis", "consent", "by", "confidence", "days", "conflict"),
    [
        ("preference", "personalisation", "consent", True, "subject", 0.7, 365, "supersede"),
        ("workflow_setting", "service", "contract", False, "subject", 0.7, 180, "supersede"),
        ("contact_detail", "contact", "consent", True, "subject", None, 180, "supersede"),
        ("project_convention", "service", "legitimate_interest", False, "reviewer", None, 365, "review"),
    ],
)
def test_the_classes_are_those_that_are_documented(
    name: str,
    purpose: str,
    basis: str,
    *,
    consent: bool,
    by: str,
    confidence: float,
    days: int,
    conflict: str,
) -> None:
    memory_class = default_bundle().classes[name]
    shortcut = memory_class.approval.automatic_when

    assert memory_class.purposes == (purpose,)
    assert memory_class.lawful_basis is LawfulBasis(basis)
    assert memory_class.consent_needed is consent
    assert memory_class.approval.by is Approver(by)
    assert (shortcut.confidence_min if shortcut else None) == confidence
    assert memory_class.conflict is ConflictRule(conflict)
    assert memory_class.expiry is not None
    assert memory_class.expiry.expires_at(created_at=NOW, confirmed_at=NOW) == NOW + timedelta(days=days)
    assert memory_class.advisory


def test_only_contact_details_may_hold_addresses() -> None:
    allowed = {name: rule.allowed_detections for name, rule in default_bundle().classes.items()}

    assert set(allowed.pop("contact_detail")) == {Detection.EMAIL, Detection.PHONE, Detection.POSTAL_ADDRESS}
    assert set(allowed.values()) == {()}


def test_purposes_profiles_commands_and_retention_are_those_that_are_documented() -> None:
    bundle = default_bundle()
    anything, payments = bundle.commands["*"], bundle.commands["payments.*"]

    assert set(bundle.purposes) == {"service", "personalisation", "contact"}
    assert set(bundle.profiles) == {"default", "handoff", "answer"}
    assert (anything.capability, anything.approval) == ("effects", ApprovalNeed.NOT_NEEDED)
    assert (anything.approver, anything.longest_expiry_hours) == (Role.REVIEWER, 24)
    assert payments.approval is ApprovalNeed.NEEDED
    assert bundle.retention["operational"].text is RetainedText.FULL
    assert bundle.retention["no_text"].text is RetainedText.NONE


@pytest.mark.parametrize("budget_tokens", [1_000, 4_000, 16_000, 128_000])
@pytest.mark.parametrize("name", ["default", "handoff", "answer"])
def test_a_profile_shares_out_every_budget(name: str, budget_tokens: int) -> None:
    rules = default_bundle().profiles[name].sections

    assert sum(rule.min.of(budget_tokens) for rule in rules.values()) <= budget_tokens
    for rule in rules.values():
        assert rule.min.of(budget_tokens) <= rule.max.of(budget_tokens) <= budget_tokens


def test_the_handoff_puts_state_and_the_answer_puts_evidence_first() -> None:
    def first(name: str) -> SectionName:
        rules = default_bundle().profiles[name].sections
        return max((key for key in rules if not rules[key].required), key=lambda key: rules[key].priority)

    assert first("handoff") is SectionName.STATE
    assert first("answer") is SectionName.EVIDENCE


def test_what_is_required_is_never_cut() -> None:
    for profile in default_bundle().profiles.values():
        assert profile.required_sections
        assert all(profile.sections[name].overflow is Overflow.ERROR for name in profile.required_sections)
        assert default_bundle().instructions_of(profile).keys() == set(profile.instructions)


def test_a_profile_s_version_follows_its_rules_and_its_instructions() -> None:
    bundle = default_bundle()
    profile = bundle.profiles["default"]
    other = bundle.model_copy(update={"instructions": dict.fromkeys(bundle.instructions, "Other words.")})

    assert bundle.version_of_profile(profile) == bundle.version_of_profile(profile)
    assert other.version_of_profile(profile) != bundle.version_of_profile(profile)
    assert bundle.version_of_profile(bundle.profiles["answer"]) != bundle.version_of_profile(profile)


@pytest.mark.parametrize("uri", ["REGISTER://plots/18", "Register://x"])
def test_an_address_in_other_letters_is_no_way_round_its_rule(uri: str) -> None:
    placed = place_source(uri, "record", Authority.SYSTEM_OF_RECORD, (), default_bundle())

    assert (placed.trust, placed.authority, placed.limited) == (Trust.THIRD_PARTY, Authority.DOCUMENT, True)


def test_who_is_not_granted_a_source_gets_no_more_out_of_it_than_who_is() -> None:
    rule = SourceRule(
        name="notes",
        uri_prefix="notes://",
        trust=Trust.EXTERNAL_TOOL,
        ceiling=Authority.MODEL_SUMMARY,
        submission=Submission.GRANTED,
    )

    placed = place_source("notes://1", "note", None, (), Bundle(version="x", sources=(rule,)))

    assert (placed.trust, placed.authority) == (Trust.THIRD_PARTY, Authority.MODEL_SUMMARY)


def test_a_turn_is_trusted_by_who_said_it_and_how_it_came() -> None:
    assert trust_of_turn("user", relayed=False) is Trust.FIRST_PARTY
    assert trust_of_turn("user", relayed=True) is Trust.INTERNAL_TOOL
    assert trust_of_turn("tool", relayed=True) is Trust.EXTERNAL_TOOL
    assert trust_of_turn("assistant", relayed=True) is Trust.THIRD_PARTY
    assert trust_of_turn("system", relayed=False) is Trust.THIRD_PARTY


@pytest.mark.parametrize(
    ("name", "schema"), [("policy.schema.json", bundle_schema), ("policy-tests.schema.json", case_schema)]
)
def test_the_published_schema_is_that_of_the_code(name: str, schema: object) -> None:
    published = json.loads((FOLDER.parent / "docs" / name).read_text())

    assert callable(schema)
    assert published == schema()


def test_every_policy_file_names_its_schema_for_editors() -> None:
    for path in sorted(FOLDER.rglob("*.yaml")):
        first = path.read_text().splitlines()[0]
        named = first.removeprefix("# yaml-language-server: $schema=")
        assert (path.parent / Path(named)).resolve().is_file(), path.name


def test_every_reason_code_is_documented_in_the_order_of_reporting() -> None:
    page = (FOLDER.parent / "docs" / "policies.md").read_text()
    places = [page.find(f"`{code.value}`", page.index("## Decisions")) for code in ReasonCode]

    assert -1 not in places
    assert places == sorted(places)
