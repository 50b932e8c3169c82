"""Runs the tests that stand beside a bundle: no database, no clock but the one that they name."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from service.policies.cases import Case, CaseFile
from service.policies.evaluate import judge_proposal
from service.policies.model import Bundle
from service.policies.sources import place_source


@dataclass(frozen=True, slots=True)
class CaseResult:
    """One test and what did not come out as expected; nothing where it passed."""

    file: str
    name: str
    differences: tuple[str, ...]

    @property
    def passed(self) -> bool:
        """Whether every expectation was met."""
        return not self.differences


def run_cases(bundle: Bundle, files: Mapping[str, CaseFile]) -> tuple[CaseResult, ...]:
    """Answer the result of every test, in the order of files and of tests in them."""
    return tuple(
        CaseResult(path, case.name, _differences(case, bundle, files[path].now))
        for path in sorted(files)
        for case in files[path].cases
    )


def _differences(case: Case, bundle: Bundle, now: datetime) -> tuple[str, ...]:
    given = case.given
    if given.proposal is not None:
        return case.expect.differences(judge_proposal(given.proposal.facts(), bundle, now))
    assert given.evidence is not None
    evidence = given.evidence
    return case.expect.differences(
        place_source(evidence.uri, evidence.kind, evidence.authority, evidence.grants, bundle)
    )
