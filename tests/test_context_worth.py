"""What greed may have lost is bounded: no other choice that fits is worth more."""

from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from service.context.budget import BudgetTooSmall, Sharing
from service.context.offers import Demand, Offer
from service.context.worth import Worth, worth_of
from service.policies.words import Overflow

OFFERS = st.builds(
    Offer,
    tokens=st.integers(1, 60),
    required=st.sampled_from([False, False, False, True]),
    group=st.sampled_from([None, "a", "b"]),
    group_tokens=st.just(5),
    card=st.sampled_from([None, lambda: 4]),
    cut=st.sampled_from([None, lambda room: max(0, min(room, 30))]),
    value=st.sampled_from([None, 0.0, 0.2, 0.5, 1.0]),
)
_ROUNDED = 1e-5


@given(
    offers=st.lists(OFFERS, max_size=8),
    limit=st.integers(0, 200),
    overflow=st.sampled_from([Overflow.DROP, Overflow.TRUNCATE, Overflow.CARDS]),
)
def test_no_choice_that_fits_is_worth_more_than_the_bound(
    offers: list[Offer], limit: int, overflow: Overflow
) -> None:
    demand = Demand("evidence", offers, base_tokens=3, overflow=overflow)
    try:
        (packed,) = Sharing([demand]).at(limit)
    except BudgetTooSmall:
        return

    worth = worth_of(demand, packed, limit)

    if worth is None:
        assert all(offer.value is None for offer in offers)
        return
    assert worth.lost_at_most >= 0
    assert worth.value + worth.lost_at_most >= _best(demand, limit) - _ROUNDED


def _best(demand: Demand, limit: int) -> float:
    """Answer what the best choice of whole offers is worth, by trying all of them."""
    must = [offer for offer in demand.offers if offer.required]
    may = [offer for offer in demand.offers if not offer.required]
    choices = [[*must, *more] for size in range(len(may) + 1) for more in combinations(may, size)]
    return max(
        sum(offer.value or 0.0 for offer in choice)
        for choice in choices
        if Demand("evidence", choice, base_tokens=3).wish_tokens <= limit
    )


def test_a_choice_that_left_nothing_out_lost_nothing() -> None:
    demand = Demand("evidence", [Offer(60, value=0.9), Offer(50, value=0.8), Offer(40, value=0.7)])
    (packed,) = Sharing([demand]).at(150)

    assert worth_of(demand, packed, 150) == Worth(2.4, 0.0)


def test_what_a_large_offer_kept_out_is_in_the_bound() -> None:
    demand = Demand("evidence", [Offer(100, value=0.9), Offer(50, value=0.8), Offer(50, value=0.7)])
    (packed,) = Sharing([demand]).at(100)

    assert worth_of(demand, packed, 100) == Worth(0.9, 0.6)


def test_what_is_not_ranked_has_no_worth() -> None:
    demand = Demand("goal", [Offer(10)])
    (packed,) = Sharing([demand]).at(10)

    assert worth_of(demand, packed, 10) is None
