"""A small bundle without findings, and what to change in it to have one."""

from collections.abc import Mapping
from typing import Final

from service.policies.findings import Finding
from service.policies.lint.ending import LiveHolds
from service.policies.lint.lint import lint_files

RULES: Final = """\
purposes:
  service: {description: Doing the work.}
sources:
  conversation: {uri_prefix: "turn://", trust: external_tool, ceiling: conversation}
  bank: {uri_prefix: "bank://", trust: internal_tool, ceiling: document}
classes:
  note:
    because: what was agreed must be found again.
    scope: user
    purposes: [service]
    lawful_basis: contract
    consent_needed: false
    writers: [agent, user]
    readers: [agent, user]
    sources: {provenance: [turn, evidence], from_sources: [conversation, bank], lowest_trust: internal_tool}
    confidence_min: 0.5
    approval: {by: subject}
    expiry: {days: 90}
    quota: 10
    destinations: [package, search]
"""
TESTS: Final = """\
now: "2026-11-30T10:00:00Z"
cases:
  - name: What was agreed is shown to its subject
    given:
      proposal:
        class: note
        purpose: service
        text: On Fridays
        provenance:
          - {kind: turn, quote: found, speaker: user, subjects_own: true, relayed: true, trust: internal_tool}
          - {kind: evidence, uri: "bank://a", trust: internal_tool}
    expect: {decision: pending_review}
"""


def bundle_with(old: str = "", new: str = "", *, more: str = "") -> Mapping[str, str]:
    """Answer the small bundle, with one text in place of another, and `more` behind it."""
    assert old in RULES
    return {"rules.yaml": RULES.replace(old, new, 1) + more, "tests/rules.yaml": TESTS}


def rule(effect: str, when: str, name: str = "one") -> str:
    """Answer a rule of the class, to be put behind the bundle's last line."""
    return f"      {name}:\n        effect: {effect}\n        when: {when}\n        because: so it is.\n"


def with_rules(*rules: str, old: str = "", new: str = "") -> Mapping[str, str]:
    """Answer the small bundle with rules of its class."""
    return bundle_with(old, new, more="    rules:\n" + "".join(rules))


def findings_of(files: Mapping[str, str], holds: LiveHolds | None = None) -> list[Finding]:
    """Answer what lint finds, but for rules that no test decides by."""
    return [one for one in lint_files(files, holds).findings if one.code != "untested"]


def codes_of(files: Mapping[str, str], holds: LiveHolds | None = None) -> list[str]:
    """Answer the codes of what lint finds, but for rules that no test decides by."""
    return [one.code for one in findings_of(files, holds)]
