"""The second stage: orders what was found by looking at the texts together, with the built-in models."""

from datetime import date

import numpy as np
import pytest
from rerank_pieces import ENCODER, SEEN, piece

from service.adapters.wordllama import WordllamaEmbedder
from service.retrieval.rerank.documents import (
    Unit,
    document_features,
)
from service.retrieval.rerank.features import features_of
from service.retrieval.rerank.fitted import FITTED
from service.retrieval.rerank.layout import Layout
from service.retrieval.rerank.linear import LinearReranker
from service.retrieval.rerank.model import PieceKind, score, standardise
from service.retrieval.rerank.models import Models
from service.retrieval.rerank.people import named_in, speakers, without_names
from service.retrieval.rerank.times import date_of, match_dates


@pytest.fixture(scope="module")
def vectors(tmp_path_factory: pytest.TempPathFactory) -> WordllamaEmbedder:
    return WordllamaEmbedder(tmp_path_factory.mktemp("models"))


@pytest.fixture(scope="module")
def reranker(vectors: WordllamaEmbedder) -> LinearReranker:
    return LinearReranker(ENCODER, vectors)


def test_who_speaks_is_who_opens_more_than_one_text() -> None:
    texts = ["Ann: hello", "[8 May] Bob Lee: yes", "Note: once only", "Ann: so", "Bob Lee: no", "nothing"]

    assert speakers(texts) == ["Ann", "Bob Lee", None, "Ann", "Bob Lee", None]


def test_a_name_in_the_query_counts_as_a_word_of_its_own() -> None:
    names = ["Ann", "Bob Lee", None]

    assert named_in("What did Bob's annual report say?", names) == {"Bob Lee"}
    assert without_names("When did Ann's dog die?", names).split() == ["When", "did", "dog", "die?"]
    assert without_names("Ann?", names) == "Ann?"


@pytest.mark.parametrize(
    ("title", "expected"),
    [
        ("1:56 pm on 8 May, 2023", date(2023, 5, 8)),
        ("May 18, 2023", date(2023, 5, 18)),
        ("Stand-up 2024-02-29", date(2024, 2, 29)),
        ("Call of 31 February 2023", SEEN.date()),
        ("2023-13-40", SEEN.date()),
        ("Weekly", SEEN.date()),
    ],
)
def test_the_date_of_a_group_is_its_title_s_or_that_of_the_observation(title: str, expected: date) -> None:
    assert date_of(title, SEEN) == expected


def test_a_month_that_the_query_names_matches_its_dates_and_a_day_the_nearest_best() -> None:
    dates = [date(2023, 5, 8), date(2023, 5, 28), date(2022, 5, 8), date(2023, 6, 8)]

    exact, other_day, other_year, other_month = match_dates("What happened on 8 May 2023?", dates)

    assert exact == 1
    assert 0.4 <= other_day < exact
    assert (other_year, other_month) == (0, 0)
    assert match_dates("May I ask what she did?", dates)[3] == 0
    assert match_dates("What happened?", dates) == [0, 0, 0, 0]


def test_neighbours_are_found_by_sequence_and_by_ordinal_never_across_groups() -> None:
    pieces = [
        piece("a", 1),
        piece("b", 2),
        piece("c", 2, group="tuesday"),
        piece("d", 9, group="file"),
        piece("e", 9, group="file", ordinal=1),
    ]
    layout = Layout.of(pieces)

    assert list(layout.at[1]) == [1, -1, -1, 4, -1]
    assert list(layout.nearest(np.array([1.0, 0, 0, 0, 1]))) == [1, 0.7, 0, 0.7, 1]


def test_the_answer_after_a_question_comes_before_the_question(reranker: LinearReranker) -> None:
    pieces = [
        piece("Ann: What did you get your dog for her birthday?", 0),
        piece("Bob: A red ball from the market, she loves it.", 1),
        piece("Ann: The weather is terrible.", 2),
        piece("Bob: I might read a book later.", 3),
        piece("Ann: My sister called.", 0, group="sunday"),
        piece("Bob: Fine by me.", 1, group="sunday"),
    ]

    scores = reranker.rank("What did Bob get his dog for her birthday?", pieces)

    assert scores.index(max(scores)) == 1


def test_the_order_of_the_pieces_and_the_run_do_not_matter(reranker: LinearReranker) -> None:
    pieces = [piece(f"Ann: line {number} about the harbour", number, fused=number) for number in range(8)]

    forwards = reranker.rank("harbour", pieces)
    backwards = reranker.rank("harbour", pieces[::-1])

    assert forwards == pytest.approx(backwards[::-1])
    assert forwards == reranker.rank("harbour", pieces)


@pytest.mark.parametrize(
    "query",
    ["", "?", "\U0001f600", "什么时候去了东京", "متى ذهبت", "เมื่อไหร่", "कब गए", "a" * 9000, "May 99 2023"],
)
def test_any_query_over_any_text_has_finite_scores(reranker: LinearReranker, query: str) -> None:
    texts = [
        "",
        " \n",
        "\U0001f600\u200d\U0001f525",
        "去了东京",
        "ذهبت أمس",
        "ไปเมื่อวาน",
        "कल गए",
        "x" * 70_000,
        ":",
    ]
    pieces = [piece(text, number, kind=kind) for kind in PieceKind for number, text in enumerate(texts)]

    scores = reranker.rank(query, pieces)

    assert len(scores) == len(pieces)
    assert np.isfinite(scores).all()
    assert reranker.rank(query, []) == []
    assert len(reranker.rank(query, pieces[:1])) == 1


def test_what_does_not_differ_counts_nothing_and_unnamed_features_neither() -> None:
    features = standardise({"same": np.array([0.1 + 0.2, 0.3]), "other": np.array([1.0, 3.0])})
    weights = {PieceKind.DOCUMENT: {"same": 5.0, "other": 2.0}}

    assert score([PieceKind.DOCUMENT] * 2, features, weights) == [-2, 2]
    assert score([PieceKind.DOCUMENT, PieceKind.TOOL_RESULT], features, weights) == [-2, 0]


def test_every_fitted_weight_names_a_feature(vectors: WordllamaEmbedder) -> None:
    models = Models(ENCODER, vectors)
    of_pieces = features_of("a", [piece("a")], models).keys()
    of_documents = document_features("a", [Unit("a", "t", "doc://a", 0.0, 0.0)], models).keys()

    assert FITTED.keys() == set(PieceKind)
    for kind, weights in FITTED.items():
        assert weights.keys() <= (of_documents if kind is PieceKind.DOCUMENT else of_pieces)


def test_words_have_the_sum_of_their_tokens_and_unknown_ones_nothing(vectors: WordllamaEmbedder) -> None:
    words = vectors.embed_words(["harbour", "", "harbour"])
    (whole,) = vectors.embed(["harbour"])

    assert words.shape == (3, vectors.dimension)
    assert not words[1].any()
    assert np.array_equal(words[0], words[2])
    assert np.allclose(words[0] / np.linalg.norm(words[0]), whole, atol=1e-6)
