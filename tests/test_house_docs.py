"""What a reader looks up stands in the docs: reasons, scopes, links, commands of the README."""

import re
from pathlib import Path

import pytest

from service.context.model import OmissionReason
from service.executions.approvals.model import Moved
from service.executions.recovery.model import ReasonCode as RecoveryReason
from service.executions.recovery.model import Verb
from service.executions.sources import Drift
from service.identity.matrix import SCOPES_BY_ROLE
from service.policies.verdict import ReasonCode

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", ROOT / "CHANGELOG.md", ROOT / "service/README.md", *sorted(DOCS.glob("*.md"))]
DECISIONS = sorted((ROOT / "service/decisions").glob("0*.md"))


def test_every_reason_code_of_a_proposal_is_explained() -> None:
    text = (DOCS / "policies.md").read_text()

    assert [code.value for code in ReasonCode if f"`{code.value}`" not in text] == []


def test_every_reason_for_leaving_something_out_is_explained() -> None:
    text = (DOCS / "packages.md").read_text()

    assert [reason.value for reason in OmissionReason if f"`{reason.value}`" not in text] == []


def test_every_reason_of_a_resume_is_explained() -> None:
    text = (DOCS / "recovery.md").read_text()
    codes = [*RecoveryReason, *Drift, *(f"approval_{moved}" for moved in Moved)]

    assert [str(code) for code in codes if f"`{code}`" not in text] == []
    assert [verb.value for verb in Verb if f"`{verb}" not in text] == []


def test_every_scope_is_explained() -> None:
    text = (DOCS / "identity.md").read_text()
    scopes = frozenset().union(*SCOPES_BY_ROLE.values())

    assert sorted(scope for scope in scopes if f"`{scope}`" not in text) == []


@pytest.mark.parametrize("page", PAGES + DECISIONS, ids=lambda page: page.name)
def test_every_link_leads_somewhere(page: Path) -> None:
    targets = re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", page.read_text())
    broken = [target for target in targets if "://" not in target and not (page.parent / target).exists()]

    assert broken == []


def test_the_readme_names_only_make_targets_that_exist() -> None:
    named = set(re.findall(r"`?make ([a-z-]+)", (ROOT / "README.md").read_text()))
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))

    assert named
    assert named - targets == set()


def test_decisions_say_what_enforces_them() -> None:
    assert len(DECISIONS) >= 5
    assert [path.name for path in DECISIONS if "enforced by" not in path.read_text().lower()] == []
