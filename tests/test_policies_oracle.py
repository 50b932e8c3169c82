"""The evaluator agrees with a second reading of policies, whatever the policy and the facts."""

from collections import Counter
from dataclasses import replace
from random import Random
from typing import Any

import pytest
from policies_bundle import NOW
from policies_oracle import expected
from policies_random import random_bundle, random_facts

from service.policies.evaluate import judge_proposal
from service.policies.model import Bundle
from service.policies.verdict import ProposalFacts, Verdict

FACTS_A_BUNDLE = 20


def _compare(bundles: int, seed: int) -> Counter[str]:
    random = Random(seed)  # noqa: S311 - no secret hangs on it
    outcomes: Counter[str] = Counter()
    for number in range(bundles):
        bundle = random_bundle(random)
        for _ in range(FACTS_A_BUNDLE):
            facts = random_facts(random)
            verdict = judge_proposal(facts, bundle, NOW)
            approver = None if verdict.approver is None else verdict.approver.value
            found = (verdict.outcome.value, approver)
            assert found == expected(facts, bundle), (number, facts, bundle.classes.get(facts.class_name))
            assert _has_its_reasons(verdict)
            outcomes[verdict.outcome.value] += 1
    return outcomes


def _has_its_reasons(verdict: Verdict) -> bool:
    """Say whether a verdict carries reasons exactly where it is not an approval, and rules always."""
    return bool(verdict.reasons) == (verdict.outcome.value != "approved") and bool(verdict.rules)


def test_evaluator_and_oracle_agree_on_thousands_of_policies_and_facts() -> None:
    outcomes = _compare(bundles=150, seed=20261130)

    # What is always denied would agree about nothing.
    assert min(outcomes["approved"], outcomes["pending_review"]) >= 30


@pytest.mark.torture
@pytest.mark.timeout(600)
def test_evaluator_and_oracle_agree_on_a_hundred_thousand() -> None:
    outcomes = _compare(bundles=5_000, seed=20261201)

    assert sum(outcomes.values()) == 100_000
    assert min(outcomes["approved"], outcomes["pending_review"]) >= 1_000


def _reordered(bundle: Bundle, random: Random) -> Bundle:
    """Answer the bundle with classes and rules in another order."""
    classes = list(bundle.classes.items())
    random.shuffle(classes)
    shuffled: dict[str, Any] = {}
    for name, rule in classes:
        rules = list(rule.rules.items())
        random.shuffle(rules)
        shuffled[name] = rule.model_copy(update={"rules": dict(rules)})
    return bundle.model_copy(update={"classes": shuffled})


def _turned(facts: ProposalFacts) -> ProposalFacts:

    return replace(facts, provenance=tuple(reversed(facts.provenance)))


def test_no_order_decides_anything() -> None:
    random = Random(7)  # noqa: S311 - no secret hangs on it
    for _ in range(100):
        bundle = random_bundle(random)
        other = _reordered(bundle, random)
        for _ in range(10):
            facts = random_facts(random)
            one, two = judge_proposal(facts, bundle, NOW), judge_proposal(_turned(facts), other, NOW)
            assert (one.outcome, one.approver, sorted(one.codes)) == (
                two.outcome,
                two.approver,
                sorted(two.codes),
            )
