"""The default bundle, and small ones to bend: what tests of policies stand on."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any, Final

from service.identity.model import Role
from service.policies.findings import Finding
from service.policies.load import inspect_files, load_bundle
from service.policies.model import Bundle
from service.policies.read_folder import read_folder
from service.policies.verdict import ProposalFacts, Quote, SourceFacts
from service.policies.words import ProvenanceKind, Trust

FOLDER: Final = Path(__file__).parents[1] / "policies"
NOW: Final = datetime(2026, 11, 30, 10, 0, tzinfo=UTC)

PURPOSE: Final = "purposes:\n  service:\n    description: Doing the work.\n"

OWN_TURN: Final = SourceFacts(
    kind=ProvenanceKind.TURN,
    found=True,
    quote=Quote.FOUND,
    trust=Trust.INTERNAL_TOOL,
    speaker="user",
    subjects_own=True,
    relayed=True,
)

PREFERENCE: Final = ProposalFacts(
    class_name="preference",
    proposer_role=Role.AGENT,
    subject="user-1",
    acts_for_subject=True,
    text="Prefers concise explanations",
    value=None,
    purpose="personalisation",
    confidence=0.9,
    provenance=(OWN_TURN,),
    consent_given=True,
)


@cache
def default_files() -> Mapping[str, str]:
    """Answer the default bundle's files."""
    return read_folder(FOLDER)


@cache
def default_bundle() -> Bundle:
    """Answer the default bundle."""
    return load_bundle(default_files())


def preference(**changes: Any) -> ProposalFacts:
    """Answer a proposal that the default bundle approves, with changes."""
    return replace(PREFERENCE, **changes)


def findings_of(text: str, path: str = "purposes.yaml") -> list[Finding]:
    """Answer what is found in a bundle of one file."""
    return list(inspect_files({path: text}).findings)


def only_finding(text: str, path: str = "purposes.yaml") -> Finding:
    """Answer the one finding in a bundle of one file."""
    (finding,) = findings_of(text, path)
    return finding
