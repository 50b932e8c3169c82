"""Each measure against a value worked out by hand."""

from decimal import Decimal

import pytest
from evaluate_world import answer, asked, evaluation, source, tried

from service.entry.evaluate.intervals import Interval, bootstrap, spread
from service.entry.evaluate.measures import cost, missing_sources, recall, reused_tokens
from service.entry.evaluate.model import Block, Rates, Refused, Shown
from service.entry.evaluate.summary import differences, disagreements, is_good_enough, standings

ID = "01936d7e-5d5c-7c3e-9d0a-6c1f0f3f7a11"
OTHER = "01936d7e-5d5c-7c3e-9d0a-6c1f0f3f7a12"


def shown(
    item_id: str = ID, uri: str | None = "doc://a", text: str = "Plot 18", *, card: bool = False
) -> Shown:
    return Shown(item_id, uri, text, card)


def test_a_source_is_found_by_its_uri_and_by_the_id_of_its_evidence() -> None:
    expected = [source("doc://a"), source(f"evidence:{ID}"), source(ID), source("doc://b"), source(OTHER)]

    assert missing_sources(expected, [shown()], {}, {}) == {3: "not_found", 4: "not_found"}
    assert recall(5, 2) == 0.6


def test_a_card_points_at_a_source_and_is_not_the_source() -> None:
    pieces = [shown(card=True)]

    assert missing_sources([source("doc://a")], pieces, {}, {}) == {0: "card"}
    assert missing_sources([source("doc://a")], [*pieces, shown()], {}, {}) == {}


def test_expected_words_must_be_shown_whatever_their_case_and_spaces() -> None:
    pieces = [shown(text="Outline  consent\nGRANTED in March"), shown(OTHER, "doc://b", "refused")]

    assert missing_sources([source("doc://a", "consent granted")], pieces, {}, {}) == {}
    assert missing_sources([source("doc://a", "refused")], pieces, {}, {}) == {0: "other_passage"}


def test_what_is_left_out_says_why_by_id_and_by_uri() -> None:
    omitted = {ID: "over_budget", OTHER: "superseded"}
    uris = {"doc://b": frozenset({OTHER})}

    assert missing_sources([source(ID), source("doc://b")], [], omitted, uris) == {
        0: "over_budget",
        1: "superseded",
    }


def test_reuse_ends_at_the_first_block_that_differs() -> None:
    before = [
        Block("how to read\n", 25),
        Block("# instructions\n", 180),
        Block("# scope\n", 40),
        Block("x", 9),
    ]
    after = [
        Block("how to read\n", 25),
        Block("# instructions\n", 180),
        Block("# scope!\n", 41),
        Block("x", 9),
    ]

    assert reused_tokens(before, before) == 254
    assert reused_tokens(before, after) == 205
    assert reused_tokens([], after) == 0
    assert reused_tokens(before[:1], after) == 25


def test_a_call_costs_its_new_tokens_in_full_and_its_reused_ones_at_the_price_of_the_cache() -> None:
    rates = Rates(Decimal("2.50"), Decimal("0.25"), "USD")

    assert cost(1_000, 0, rates) == Decimal("0.0025")
    assert cost(1_000, 600, rates) == Decimal("0.00115")  # 400 x 2.50 + 600 x 0.25, in millionths
    assert cost(0, 0, rates) == 0


def test_the_bootstrap_of_two_values_is_their_three_possible_means() -> None:
    # 0 and 1 drawn twice: mean 0 a quarter of the time, 0.5 half of it, 1 a quarter.
    found = bootstrap([0.0, 1.0], seed=0)

    assert found == Interval(0.5, 0.0, 1.0, 2)
    assert found is not None
    assert not found.excludes_zero


def test_the_bootstrap_of_four_values_has_the_quantiles_of_their_binomial() -> None:
    # Four draws of 0, 0, 0, 1: their mean is k/4, k binomial (4, 1/4); P(k <= 2) = .949, P(k <= 3) = .996.
    found = bootstrap([0.0, 0.0, 0.0, 1.0], seed=3)

    assert found == Interval(0.25, 0.0, 0.75, 4)


def test_what_is_always_the_same_leaves_nothing_to_chance() -> None:
    found = bootstrap([0.25] * 7, seed=1)

    assert found == Interval(0.25, 0.25, 0.25, 7)
    assert found is not None
    assert found.excludes_zero


def test_one_value_has_no_interval_and_none_has_no_mean() -> None:
    assert bootstrap([0.5], seed=0) == Interval(0.5, None, None, 1)
    assert bootstrap([], seed=0) is None
    assert spread([]) is None


def test_the_same_seed_draws_the_same_interval() -> None:
    values = [float(number % 7) for number in range(50)]

    assert bootstrap(values, seed=4) == bootstrap(values, seed=4) != bootstrap(values, seed=5)


def test_percentiles_are_values_that_were_measured() -> None:
    found = spread([float(number) for number in range(1, 21)])

    assert found is not None
    # 95 of 100 of twenty values are nineteen.
    assert (found.mean, found.median, found.p95, found.highest) == (10.5, 10.5, 19.0, 20.0)


def test_a_profile_is_added_up_and_what_was_refused_counts_as_nothing_found() -> None:
    questions = [asked(1, "doc://a", "doc://b"), asked(2, "doc://a"), asked(3, "doc://a")]
    first = tried("a", answer(0.5, 1, reused=None), answer(1.0), Refused("budget_too_small", "too small"))

    (one,) = standings(evaluation(questions, first))

    assert one.recall.mean == pytest.approx(0.5)
    assert (one.all_found, one.refused, one.cost) == (1, 1, Decimal("0.0050"))
    assert one.cost_each == Decimal("0.0025")
    assert one.reuse == Interval(0.25, None, None, 1)  # the first call had nothing before it
    assert not is_good_enough(evaluation(questions, first), 0.0)
    assert is_good_enough(evaluation(questions[:2], tried("a", *first.answers[:2])), 0.75)
    assert not is_good_enough(evaluation(questions[:2], tried("a", *first.answers[:2])), 0.76)


def test_profiles_are_compared_question_by_question_with_the_first() -> None:
    questions = [asked(1, "doc://a"), asked(2, "doc://a")]
    first = tried("a", answer(0.0, 0), answer(1.0))
    second = tried("b", answer(1.0, tokens=1_200), answer(1.0, tokens=1_200))

    (found,) = differences(evaluation(questions, first, second))

    assert (found.profile, found.against) == ("b", "a")
    assert found.measures["recall"] == Interval(0.5, 0.0, 1.0, 2)
    assert found.measures["tokens"] == Interval(200.0, 200.0, 200.0, 2)


def test_a_refusal_lowers_recall_and_takes_no_part_in_the_other_measures() -> None:
    questions = [asked(1, "doc://a"), asked(2, "doc://a")]
    first = tried("a", answer(1.0), answer(1.0))
    second = tried("b", Refused("budget_too_small", ""), answer(1.0, tokens=900))

    (found,) = differences(evaluation(questions, first, second))

    assert found.measures["recall"] == Interval(-0.5, -1.0, 0.0, 2)
    assert found.measures["tokens"] == Interval(-100.0, None, None, 1)


def test_profiles_disagree_where_they_found_other_sources_even_as_many() -> None:
    questions = [asked(1, "doc://a", "doc://b"), asked(2, "doc://a"), asked(3, "doc://a", "doc://b")]
    first = tried("a", answer(0.5, 0), answer(0.0, 0), answer(1.0))
    second = tried("b", answer(0.5, 1), answer(0.0, 0), Refused("x", ""))

    found = disagreements(evaluation(questions, first, second))

    assert [one.asked.number for one in found] == [1, 3]
    assert found[0].found == {"a": frozenset({1}), "b": frozenset({0})}
    assert found[1].package_ids["b"] is None
