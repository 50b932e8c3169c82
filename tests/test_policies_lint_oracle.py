"""What lint says of a rule is true of the evaluator: without such a rule the same comes out."""

import random
from dataclasses import replace
from datetime import UTC, datetime
from typing import Final

import pytest
from policies_bundle import OWN_TURN, PREFERENCE
from policies_lint_files import rule, with_rules
from test_policies_lint_decide import random_condition

from service.identity.model import Role
from service.policies.evaluate import judge_proposal
from service.policies.lint.lint import lint_files
from service.policies.load import load_bundle
from service.policies.model import Bundle
from service.policies.verdict import Existing, Outcome, ProposalFacts
from service.policies.words import ProvenanceKind, Trust

NOW: Final = datetime(2026, 12, 1, tzinfo=UTC)
SUPERFLUOUS: Final = {"unreachable_rule", "shadowed_rule", "law_provenance"}


def _proposal(chance: random.Random) -> ProposalFacts:
    sources = [
        replace(
            OWN_TURN,
            kind=chance.choice([ProvenanceKind.TURN, ProvenanceKind.EVIDENCE]),
            found=chance.random() < 0.9,
            trust=chance.choice(list(Trust)),
            uri=chance.choice(["bank://a", "https://x/a"]),
            subjects_own=chance.random() < 0.7,
            relayed=chance.random() < 0.5,
        )
        for _ in range(chance.randrange(3))
    ]
    return replace(
        PREFERENCE,
        class_name="note",
        purpose="service",
        proposer_role=chance.choice([Role.AGENT, Role.USER, Role.REVIEWER]),
        text=chance.choice(["abc", "abcdefgh", "abcdef"]),
        confidence=chance.choice([0.3, 0.5, 0.55, 0.9]),
        provenance=tuple(sources),
        consent_given=chance.random() < 0.5,
        quota_used=chance.randrange(3),
        corrects=chance.random() < 0.1,
        agent=chance.choice(["a", "ab", "b", ""]),
        existing=chance.choice(list(Existing)),
    )


def _without(bundle: Bundle, name: str) -> Bundle:
    note = bundle.classes["note"]
    rules = {key: value for key, value in note.rules.items() if key != name}
    return bundle.model_copy(update={"classes": {"note": note.model_copy(update={"rules": rules})}})


@pytest.mark.parametrize("beginning", range(3))
def test_a_rule_that_is_told_to_be_superfluous_is(beginning: int) -> None:
    chance = random.Random(beginning)  # noqa: S311 - a test is to come out alike each time
    compared = 0
    for _ in range(60):
        conditions = [random_condition(chance, chance.randrange(3)).replace("'", "''") for _ in range(3)]
        effects = [chance.choice(["deny", "review", "permit"]) for _ in conditions]
        files = with_rules(*(rule(effects[at], f"'{conditions[at]}'", f"r{at}") for at in range(3)))
        bundle = load_bundle(files)
        for finding in lint_files(files).findings:
            if finding.code not in {*SUPERFLUOUS, "takes_nothing"}:
                continue
            other = _without(bundle, finding.path.split(".")[3])
            for proposal in [_proposal(chance) for _ in range(30)]:
                verdict, without = (judge_proposal(proposal, one, NOW) for one in (bundle, other))
                compared += 1

                if finding.code == "takes_nothing":
                    assert verdict.outcome is Outcome.DENIED, (finding, conditions)
                else:
                    assert verdict.outcome is without.outcome, (finding, conditions)
    assert compared > 300
