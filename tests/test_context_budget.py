"""Sharing a budget: required first, then minimums, then by priority, never over."""

import time
from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from service.context.budget import BudgetTooSmall, Sharing, allocate
from service.context.offers import TOKENS_MAX, Demand, Fate, Offer
from service.context.sufficient import sufficient_budgets
from service.policies.words import Overflow

OFFERS = st.builds(
    Offer,
    tokens=st.integers(1, 80),
    required=st.booleans(),
    summary=st.booleans(),
    group=st.sampled_from([None, "a", "b"]),
    group_tokens=st.just(7),
    card=st.sampled_from([None, lambda: 5]),
    cut=st.sampled_from([None, lambda room: max(0, min(room, 40))]),
)


def _growing(tokens: int, least: int, most: int) -> Callable[[int], tuple[int, int]]:
    def limits_at(budget: int) -> tuple[int, int]:
        maximum = max(tokens, budget * most // 100)
        return min(maximum, budget * least // 100), maximum

    return limits_at


DEMANDS = st.lists(
    st.builds(
        Demand,
        section=st.just("evidence"),
        offers=st.lists(OFFERS, max_size=8),
        base_tokens=st.integers(0, 9),
        minimum=st.integers(0, 200),
        maximum=st.integers(0, 400),
        priority=st.integers(0, 4),
        overflow=st.sampled_from(list(Overflow)),
        limits=st.none() | st.builds(_growing, st.integers(0, 200), st.integers(0, 50), st.integers(0, 100)),
    ),
    max_size=6,
)


def _demand(section: str, *tokens: int, **changes: object) -> Demand:
    return Demand(section=section, offers=[Offer(count) for count in tokens], **changes)  # type: ignore[arg-type]  # test shorthand


@given(demands=DEMANDS, budget=st.integers(0, 1_000))
def test_no_budget_and_no_maximum_is_ever_exceeded(demands: list[Demand], budget: int) -> None:
    needed = sum(demand.required_tokens for demand in demands)
    maxima = [demand.limits_at(budget)[1] for demand in demands]
    fits = needed <= budget and all(
        demand.required_tokens <= most for demand, most in zip(demands, maxima, strict=True)
    )
    if not fits:
        with pytest.raises(BudgetTooSmall):
            allocate(demands, budget)
        return

    packed = allocate(demands, budget)

    assert sum(part.used for part in packed) <= budget
    for demand, most, part in zip(demands, maxima, packed, strict=True):
        assert part.used <= most
        assert all(
            fate is Fate.WHOLE
            for offer, fate in zip(demand.offers, part.fates, strict=True)
            if demand.is_required(offer)
        )


@given(demands=DEMANDS)
def test_with_enough_for_all_nothing_is_left_out_but_summaries_of_what_is_in(demands: list[Demand]) -> None:
    demands = [replace(demand, limits=None) for demand in demands if demand.wish_tokens <= demand.maximum]

    packed = allocate(demands, sum(demand.wish_tokens for demand in demands))

    for demand, part in zip(demands, packed, strict=True):
        out = [offer for offer, fate in zip(demand.offers, part.fates, strict=True) if fate is not Fate.WHOLE]
        assert all(offer.summary and demand.overflow is Overflow.SUMMARY for offer in out)


def test_required_content_that_does_not_fit_names_its_section_and_the_whole_need() -> None:
    demands = [
        Demand("goal", [Offer(50, required=True)]),
        Demand("instructions", [Offer(40, required=True)], base_tokens=3, priority=1),
    ]

    with pytest.raises(BudgetTooSmall) as refused:
        allocate(demands, 92)

    assert (refused.value.section, refused.value.needed_tokens) == ("goal", 93)
    assert [part.used for part in allocate(demands, 93)] == [50, 43]


def test_a_section_too_small_for_its_own_required_content_names_that_need() -> None:
    with pytest.raises(BudgetTooSmall) as refused:
        allocate([Demand("goal", [Offer(50, required=True)], maximum=20)], 1_000)

    assert (refused.value.needed_tokens, refused.value.is_of_section) == (50, True)


def test_the_error_rule_makes_every_candidate_required() -> None:
    with pytest.raises(BudgetTooSmall):
        allocate([_demand("evidence", 30, 30, overflow=Overflow.ERROR)], 59)


def test_a_low_priority_keeps_its_minimum_and_returns_what_it_leaves() -> None:
    high = _demand("evidence", *[10] * 20)
    low = _demand("state", *[10] * 20, minimum=30, priority=-1)
    quiet = _demand("state", 10, minimum=30, priority=-1)

    assert [part.used for part in allocate([high, low], 100)] == [70, 30]
    assert [part.used for part in allocate([high, quiet], 100)] == [90, 10]


def test_a_smaller_candidate_still_fits_after_one_that_does_not() -> None:
    (part,) = allocate([_demand("evidence", 60, 60, 20)], 100)

    assert part.fates == (Fate.WHOLE, Fate.OUT, Fate.WHOLE)


def test_a_summary_comes_in_only_when_the_records_do_not_all_fit() -> None:
    offers = [Offer(10, summary=True), Offer(40), Offer(40)]
    demand = Demand("history", offers, overflow=Overflow.SUMMARY)

    assert allocate([demand], 80)[0].fates == (Fate.OUT, Fate.WHOLE, Fate.WHOLE)
    assert allocate([demand], 79)[0].fates == (Fate.WHOLE, Fate.WHOLE, Fate.OUT)


def test_what_does_not_fit_whole_becomes_a_card_where_cards_are_the_rule() -> None:
    offers = [Offer(60, card=lambda: 10), Offer(60, card=lambda: 10)]

    (part,) = allocate([Demand("evidence", offers, overflow=Overflow.CARDS)], 75)

    assert (part.fates, part.used) == ((Fate.WHOLE, Fate.CARD), 70)


@settings(deadline=None)
@given(demands=DEMANDS, budget=st.integers(0, 1_000), overhead=st.sampled_from([0, 29]))
def test_the_budget_named_for_an_offer_holds_it_and_one_token_less_does_not(
    demands: list[Demand], budget: int, overhead: int
) -> None:
    sharing = Sharing(demands, overhead)
    try:
        packed = sharing.at(budget)
    except BudgetTooSmall:
        return

    wanted = sufficient_budgets(sharing, budget)

    for index, (part, answers) in enumerate(zip(packed, wanted, strict=True)):
        for place, (fate, answer) in enumerate(zip(part.fates, answers, strict=True)):
            if fate is not Fate.OUT:
                assert answer is None
            elif answer is None:
                assert _fate(demands, TOKENS_MAX, overhead, index, place) is Fate.OUT
            else:
                assert answer > budget
                assert _fate(demands, answer, overhead, index, place) is not Fate.OUT
                assert _fate(demands, answer - 1, overhead, index, place) is Fate.OUT


def _fate(demands: list[Demand], budget: int, overhead: int, index: int, place: int) -> Fate:
    # Shared anew: nothing that was remembered for another budget may stand in for it.
    return Sharing(demands, overhead).at(budget)[index].fates[place]


def test_the_budget_named_is_the_least_that_holds_it() -> None:
    sharing = Sharing([_demand("evidence", 60, 50, 500, 40), _demand("state", 30, 30, priority=-1)])

    evidence, state = sufficient_budgets(sharing, 100)

    assert evidence == [None, 110, 610, None]
    # 60 and 50 leave 30, which is too little for the 40 that is wanted more.
    assert state == [140, 210]


def test_a_thousand_candidates_are_shared_out_in_ten_milliseconds() -> None:
    demands = [_demand(str(number), *[50] * 100, minimum=200, priority=-number) for number in range(10)]

    begun = time.process_time()
    for _ in range(10):
        allocate(demands, 20_000)

    assert (time.process_time() - begun) / 10 < 0.010
