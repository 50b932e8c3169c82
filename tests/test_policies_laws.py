"""The fixed law of the product: a bundle that would loosen it is refused, and the law is named."""

from typing import Final

import pytest
from policies_lint_files import bundle_with, findings_of, rule, with_rules

from service.policies.findings import Severity
from service.policies.laws import LAWS
from service.policies.load import inspect_files

SOURCES: Final = (
    "{provenance: [turn, evidence], from_sources: [conversation, bank], lowest_trust: internal_tool}"
)
EXPIRY: Final = "expiry: {days: 90}"
QUOTA: Final = "    quota: 10\n"
TRIES: Final = [
    ("law_provenance", "classes.note.sources", SOURCES, "null"),
    ("law_provenance", "classes.note.sources", SOURCES, "none"),
    ("law_provenance", "classes.note.sources.provenance", "[turn, evidence]", "[]"),
    ("law_provenance", "classes.note.sources.provenance", "[turn, evidence]", "any"),
    ("law_provenance", "classes.note.sources.provenance[1]", "[turn, evidence]", "[turn, model]"),
    ("law_provenance", "classes.note.sources.provenance[0]", "[turn, evidence]", "[summary]"),
    ("law_provenance", "classes.note.sources.from_sources", "[conversation, bank]", "[]"),
    ("law_provenance", "classes.note.sources.from_sources[0]", "[conversation, bank]", '["*"]'),
    ("law_provenance", "classes.note.provenance_needed", QUOTA, f"{QUOTA}    provenance_needed: false\n"),
    ("law_erasure", "classes.note.expiry", EXPIRY, "expiry: never"),
    ("law_erasure", "classes.note.expiry", EXPIRY, "expiry: null"),
    ("law_erasure", "classes.note.expiry.days", EXPIRY, "expiry: {days: -1}"),
    ("law_erasure", "classes.note.expiry.days", EXPIRY, "expiry: {days: 0}"),
    ("law_erasure", "classes.note.expiry.days", EXPIRY, "expiry: {days: forever}"),
    ("law_erasure", "classes.note.expiry.days", EXPIRY, "expiry: {days: null}"),
    ("law_erasure", "classes.note.expiry.days", EXPIRY, "expiry: {days: 36501}"),
    ("law_erasure", "classes.note.expiry.idle_days", EXPIRY, "expiry: {days: 90, idle_days: -5}"),
    ("law_erasure", "classes.note.expiry.keep_ended_days", EXPIRY, "expiry: {days: 90, keep_ended_days: -1}"),
    ("law_erasure", "classes.note.grace_days", EXPIRY, f"{EXPIRY}\n    grace_days: 365"),
    ("law_erasure", "classes.note.grace_days", EXPIRY, f"{EXPIRY}\n    grace_days: -1"),
    ("law_erasure", "classes.note.erasable", QUOTA, f"{QUOTA}    erasable: false\n"),
    ("law_erasure", "classes.note.keep_forever", QUOTA, f"{QUOTA}    keep_forever: true\n"),
    ("law_agents", "classes.note.approval.by", "by: subject", "by: agent"),
    ("law_agents", "classes.note.approval.by", "by: subject", "by: model"),
    ("law_agents", "classes.note.approval.by", "by: subject", "by: system"),
    ("law_agents", "classes.note.correctors[1]", QUOTA, f"{QUOTA}    correctors: [user, agent]\n"),
    ("law_agents", "classes.note.approvers", QUOTA, f"{QUOTA}    approvers: [agent]\n"),
    ("law_agents", "classes.note.consent_from", QUOTA, f"{QUOTA}    consent_from: agent\n"),
    (
        "law_secrets",
        "classes.note.allowed_detections[0]",
        QUOTA,
        f"{QUOTA}    allowed_detections: [password]\n",
    ),
    (
        "law_secrets",
        "classes.note.allowed_detections[0]",
        QUOTA,
        f"{QUOTA}    allowed_detections: [api_key]\n",
    ),
    ("law_secrets", "classes.note.allow_secrets", QUOTA, f"{QUOTA}    allow_secrets: true\n"),
    ("law_advisory", "classes.note.advisory", QUOTA, f"{QUOTA}    advisory: false\n"),
    ("law_tenants", "classes.note.scope", "scope: user", "scope: tenant"),
    ("law_tenants", "classes.note.tenants", QUOTA, f"{QUOTA}    tenants: [acme, other]\n"),
    ("law_audit", "classes.note.audit", QUOTA, f"{QUOTA}    audit: false\n"),
]
BEHIND: Final = [
    (
        "law_agents",
        "commands.orders.*.approver",
        (
            'commands:\n  "orders.*": {capability: order, approval: needed,'
            " approver: agent, longest_expiry_hours: 1}\n"
        ),
    ),
    ("law_agents", "roles.agent.capabilities[0]", "roles:\n  agent: {capabilities: [approve]}\n"),
    ("law_agents", "roles.agent.capabilities[0]", "roles:\n  agent: {capabilities: [activate_policies]}\n"),
    ("law_agents", "roles.system.capabilities[0]", "roles:\n  system: {capabilities: [grading]}\n"),
    ("law_agents", "stopping.graders", "stopping:\n  graders: [agent]\n"),
    ("law_agents", "stopping.contract_confirmation", "stopping:\n  contract_confirmation: agent\n"),
    ("law_roles", "roles.user.scopes", "roles:\n  user: {capabilities: [], scopes: ['policies:activate']}\n"),
    ("law_second_person", "guards.second_person", "guards:\n  second_person: false\n"),
    (
        "law_erasure",
        "retention.long.days",
        "retention:\n  long: {description: Long., text: full, days: -1}\n",
    ),
    ("law_erasure", "restore_erased", "restore_erased: true\n"),
    ("law_audit", "audit", "audit: off_for_agents\n"),
]


@pytest.mark.parametrize(("law", "path", "old", "new"), TRIES)
def test_a_class_that_would_loosen_the_law_is_refused(law: str, path: str, old: str, new: str) -> None:
    found = inspect_files(bundle_with(old, new))

    assert found.bundle is None
    (finding,) = [one for one in found.findings if one.path == path]
    assert (finding.code, finding.severity) == (law, Severity.ERROR)
    assert finding.message.startswith(LAWS[law])


@pytest.mark.parametrize(("law", "path", "more"), BEHIND)
def test_a_bundle_that_would_loosen_the_law_is_refused(law: str, path: str, more: str) -> None:
    found = inspect_files(bundle_with(more=more))

    assert found.bundle is None
    assert [(one.code, one.path) for one in found.findings] == [(law, path)]


def test_a_permit_for_what_cites_nothing_is_refused_by_the_law() -> None:
    (finding,) = findings_of(with_rules(rule("permit", "size(sources) == 0")))

    assert (finding.code, finding.severity) == ("law_provenance", Severity.ERROR)


def test_each_law_is_tried() -> None:
    assert {law for law, *_ in [*TRIES, *BEHIND]} == set(LAWS)


@pytest.mark.parametrize(
    ("old", "new", "code"),
    [
        ("[turn, evidence]", "[trun]", "bad_value"),
        ("by: subject", "by: reviwer", "bad_value"),
        ("scope: user", "scope: usr", "bad_value"),
        (QUOTA, f"{QUOTA}    conflicts: review\n", "unknown_key"),
    ],
)
def test_a_slip_of_the_pen_is_no_attempt(old: str, new: str, code: str) -> None:
    (finding,) = inspect_files(bundle_with(old, new)).findings

    assert finding.code == code


def test_names_of_an_author_are_no_attempt() -> None:
    named = "  audit: {description: Looking into it.}\n  consent: {description: Asking.}\n"
    files = bundle_with("purposes:\n", f"purposes:\n{named}")

    assert inspect_files(files).bundle is not None


def test_a_class_that_refuses_needs_neither_end_nor_source() -> None:
    more = "  fact:\n    because: others know it.\n    scope: project\n    refuses: business_fact\n"

    assert inspect_files(bundle_with(more=more)).bundle is not None
