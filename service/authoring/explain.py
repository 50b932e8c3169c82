"""`explain`: which rule decided, in order, with the facts that it saw; judged again as it was judged then."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from service.authoring.kept_versions import KeptVersions
from service.authoring.store_explain import ExplanationStore, Recorded
from service.identity.unit import Unit
from service.policies.explain import Step, explain, shown_facts
from service.policies.facts import Judge, read_facts
from service.policies.verdict import Verdict


class Unexplained(StrEnum):
    """Why there are no steps, or why they come to something else than what was decided."""

    FACTS_GONE = "facts_gone"
    """What it was judged by has been erased, or was decided before facts were kept."""
    VERSION_UNREADABLE = "version_unreadable"
    """This release cannot read the version that it was decided under."""
    CODE = "code"
    """This release judges the same facts under the same version otherwise."""


@dataclass(frozen=True, slots=True)
class Explanation:
    """A decision, what policy says of it, and whether both agree.

    `policy_outcome` and `policy_codes` are what the version came to by itself; a person may have decided
    afterwards. `agrees` is `None` where that cannot be compared. No word and no name of a person is in it.
    """

    recorded: Recorded
    policy_outcome: str | None
    policy_codes: Sequence[str]
    rule: str | None
    steps: Sequence[Step]
    facts: Mapping[str, Any] | None
    agrees: bool | None
    unexplained: Unexplained | None


def explain_decision(ref: str, *, unit: Unit) -> Explanation:
    """Explain the decision on a proposal, or on the proposal that a memory came from. Raises `NotFound`."""
    recorded = ExplanationStore(unit).get(ref)
    if recorded.facts is None:
        return _bare(recorded, Unexplained.FACTS_GONE)
    decided = KeptVersions(unit).find(recorded.policy_version)
    if decided is None:
        return _bare(recorded, Unexplained.VERSION_UNREADABLE)
    kept = read_facts(recorded.facts, decided)
    verdict = Judge(decided).judge(kept, decided, recorded.created_at)
    if verdict is None:
        return _bare(recorded, Unexplained.FACTS_GONE)
    agrees = _agrees(recorded, verdict)
    return Explanation(
        recorded=recorded,
        policy_outcome=verdict.outcome.value,
        policy_codes=[code.value for code in verdict.codes],
        rule=verdict.rule,
        steps=explain(kept.facts, verdict, decided, fitted=kept.fitted, at=recorded.created_at),
        facts=shown_facts(kept.facts, decided, fitted=kept.fitted),
        agrees=agrees,
        unexplained=Unexplained.CODE if agrees is False else None,
    )


def _agrees(recorded: Recorded, verdict: Verdict) -> bool | None:
    if recorded.by_person:
        return None
    codes = tuple(code.value for code in verdict.codes)
    return (recorded.outcome, recorded.codes) == (verdict.outcome.value, codes)


def _bare(recorded: Recorded, why: Unexplained) -> Explanation:
    return Explanation(recorded, None, (), None, (), None, None, why)
