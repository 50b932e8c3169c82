"""Fusing two lists of scores into one order."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tiny_models import TinyEncoder

from service.retrieval.fuse import NEIGHBOUR_SHARE, fuse_scores, score_terms
from service.retrieval.model import SparseVector

ALONE: list[list[int]] = [[], [], []]


def test_both_lists_count_alike_whatever_their_units() -> None:
    one = fuse_scores([0.1, 0.2, 0.3], [30.0, 20.0, 10.0], ALONE)

    assert one == pytest.approx([0.0, 0.0, 0.0])
    assert fuse_scores([0.1, 0.2, 0.3], [0.0, 0.0, 9.0], ALONE)[2] > 0


def test_a_list_without_differences_says_nothing() -> None:
    by_terms = fuse_scores([0.5, 0.5, 0.5], [1.0, 2.0, 3.0], ALONE)

    assert by_terms == fuse_scores([None, None, None], [1.0, 2.0, 3.0], ALONE)
    assert sorted(by_terms) == by_terms
    assert fuse_scores([0.5, 0.5 + 1e-9, 0.5], [0.0, 0.0, 0.0], ALONE) == [0.0, 0.0, 0.0]


def test_a_candidate_without_direction_counts_as_the_least_similar() -> None:
    scores = fuse_scores([0.9, None, 0.4], [0.0, 0.0, 0.0], ALONE)

    assert scores[0] > scores[1] == scores[2]


def test_neighbours_lend_a_share_and_strangers_nothing() -> None:
    apart = fuse_scores([0.9, 0.1, 0.1], [5.0, 0.0, 0.0], ALONE)

    beside = fuse_scores([0.9, 0.1, 0.1], [5.0, 0.0, 0.0], [[1], [0], []])

    assert beside[1] == pytest.approx(apart[1] + NEIGHBOUR_SHARE * apart[0])
    assert beside[0] == pytest.approx(apart[0] + NEIGHBOUR_SHARE * apart[1])
    assert beside[2] == apart[2]


def test_nothing_and_one_candidate_are_fused_too() -> None:
    assert fuse_scores([], [], []) == []
    assert fuse_scores([0.7], [3.0], [[]]) == [0.0]


def test_lists_of_different_candidates_are_refused() -> None:
    with pytest.raises(ValueError, match="same candidates"):
        fuse_scores([0.1], [0.1, 0.2], [[], []])


@given(st.lists(st.tuples(st.none() | st.floats(-1, 1), st.floats(0, 1e6)), min_size=1, max_size=40))
def test_every_score_is_finite(pairs: list[tuple[float | None, float]]) -> None:
    last = len(pairs) - 1
    beside = [[min(place + 1, last)] for place in range(len(pairs))]

    scores = fuse_scores([one for one, _ in pairs], [other for _, other in pairs], beside)

    assert all(math.isfinite(score) for score in scores)


def test_rare_terms_weigh_more_and_shared_ones_still_count() -> None:
    encoder = TinyEncoder()
    documents = encoder.encode_documents(["plot consent", "plot", "plot", "river"])

    scores = score_terms(encoder.encode_query("plot consent"), documents)

    assert scores[0] > scores[1] == scores[2] > scores[3] == 0.0
    assert score_terms(SparseVector((), ()), documents) == [0.0] * 4
    assert score_terms(encoder.encode_query("plot"), []) == []
