"""What is kept of a proposal's facts has none of its words, and is enough to judge it again."""

import json
from dataclasses import replace
from datetime import UTC, datetime
from random import Random

from policies_random import random_bundle, random_facts

from service.policies.evaluate import judge_proposal
from service.policies.facts import Judge, keep_facts, read_facts, without_addresses
from service.policies.sources import find_source
from service.policies.verdict import Outcome

NOW = datetime(2026, 11, 30, tzinfo=UTC)


def test_under_the_bundle_that_decided_every_decision_is_the_same_again() -> None:
    random = Random(7)  # noqa: S311 - cases, not secrets
    judged = 0
    for _ in range(900):
        bundle, facts = random_bundle(random), random_facts(random)
        verdict = judge_proposal(facts, bundle, NOW)
        denied = verdict.outcome is Outcome.DENIED

        kept = read_facts(json.loads(json.dumps(keep_facts(facts, bundle, denied=denied))), bundle)
        again = Judge(bundle).judge(kept, bundle, NOW)

        assert again is not None
        if not denied:  # of a denial no address is kept, which a rule may have looked at
            assert (again.outcome, again.codes, again.rules) == (
                verdict.outcome,
                verdict.codes,
                verdict.rules,
            )
            judged += 1
        else:
            assert again.outcome is Outcome.DENIED or any(one.uri for one in facts.provenance)
    assert judged > 50


def test_no_text_value_or_denied_address_is_kept() -> None:
    random = Random(3)  # noqa: S311 - cases, not secrets
    for _ in range(200):
        bundle = random_bundle(random)
        facts = replace(random_facts(random), text="swordfish", value="marzipan")
        facts = replace(
            facts, provenance=tuple(replace(one, uri="https://secret.example/") for one in facts.provenance)
        )

        kept = json.dumps(keep_facts(facts, bundle, denied=True))
        later = json.dumps(without_addresses(keep_facts(facts, bundle, denied=False)))

        for words in ("swordfish", "marzipan", "secret.example"):
            assert words not in kept
            assert words not in later


def test_what_was_denied_is_not_judged_where_other_sources_cover_its_addresses() -> None:
    random = Random(11)  # noqa: S311 - cases, not secrets
    bundle, other = random_bundle(random), random_bundle(random)
    while tuple(other.sources) == tuple(bundle.sources):
        other = random_bundle(random)
    facts = random_facts(random)
    kept = read_facts(keep_facts(facts, bundle, denied=True), bundle)

    areas = [[(one.name, one.uri_prefix, one.kinds) for one in each.sources] for each in (bundle, other)]

    assert (Judge(other).judge(kept, bundle, NOW) is None) is (areas[0] != areas[1])
    assert find_source("", "", bundle) is None or bundle.sources
