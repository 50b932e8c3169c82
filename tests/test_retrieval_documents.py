"""The second stage ranks short documents as wholes, long ones by passage, and cuts queries into sentences."""

from dataclasses import replace

import numpy as np
import pytest
from rerank_pieces import ENCODER, document, piece

from service.adapters.wordllama import WordllamaEmbedder
from service.retrieval.rerank.documents import (
    DOCUMENTS_MAX,
    SENTENCES_MAX,
    WHOLE_PIECES_MAX,
    split_sentences,
)
from service.retrieval.rerank.linear import LinearReranker, fused_in_order


@pytest.fixture(scope="module")
def reranker(tmp_path_factory: pytest.TempPathFactory) -> LinearReranker:
    return LinearReranker(ENCODER, WordllamaEmbedder(tmp_path_factory.mktemp("models")))


def test_a_document_is_ranked_as_a_whole_and_all_of_its_pieces_alike(reranker: LinearReranker) -> None:
    pieces = [
        document("fees", "What an account costs each month.", ordinal=0),
        document("closing", "How an account is closed, and by whom.", ordinal=0),
        document("closing", "A closed account is opened again within 30 days.", ordinal=1),
        document("hours", "When the branches are open.", ordinal=0),
    ]

    scores = reranker.rank("I want my closed account opened again. Thank you very much.", pieces)

    assert scores[1] == scores[2] == max(scores)
    assert len(set(scores)) == 3


@pytest.mark.parametrize("worth", [-9.0, 9.0])
def test_kinds_are_ranked_apart_and_compared_by_the_first_stage(
    reranker: LinearReranker, worth: float
) -> None:
    asked = "Who closed the account?"
    turns = [
        piece("Ann: Fine weather.", 1, fused=2),
        piece("Ann: I closed it.", 2, fused=1),
        piece("Bob: Yes.", 3),
    ]
    files = [
        document("hours", "When the branches are open.", fused=worth),
        document("closing", "How an account is closed, and by whom.", fused=worth - 0.5),
    ]

    mixed = reranker.rank(asked, [*turns, *files])

    alone = [*reranker.rank(asked, turns), *reranker.rank(asked, files)]
    assert np.argsort(mixed[:3]).tolist() == np.argsort(alone[:3]).tolist()
    assert (mixed[3] < mixed[4]) == (alone[3] < alone[4])
    assert sorted(mixed) == sorted(one.fused for one in [*turns, *files])
    assert (min(mixed[3:]) > max(mixed[:3])) == (worth > 0)
    assert reranker.rank(asked, []) == []


def test_in_a_mixed_scope_all_pieces_of_a_document_still_count_alike() -> None:
    pieces = [
        document("a", "one", ordinal=0, fused=3),
        document("a", "two", ordinal=1, fused=1),
        document("b", "x", fused=2),
    ]

    assert fused_in_order(pieces, [1.0, 1.0, 5.0]) == [2, 2, 3]


def test_of_many_documents_those_that_the_first_stage_doubts_come_last_in_its_order(
    reranker: LinearReranker,
) -> None:
    pieces = [
        document(f"d{number:03}", f"Note {number}.", fused=-number) for number in range(DOCUMENTS_MAX + 5)
    ]

    scores = reranker.rank("Which note is number 122?", pieces)

    rest = scores[DOCUMENTS_MAX:]
    assert max(rest) < min(scores[:DOCUMENTS_MAX])
    assert rest == sorted(rest, reverse=True)


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("Close my account. How much is left?", ["Close my account.", "How much is left?"]),
        ("请关闭我的账户。还剩多少钱。", ["请关闭我的账户。", "还剩多少钱。"]),
        ("मेरा खाता बंद करें। कितना बचा है?", ["मेरा खाता बंद करें।", "कितना बचा है?"]),
        ("أغلق حسابي. كم تبقى؟ شكرا جزيلا لكم.", ["أغلق حسابي.", "كم تبقى؟", "شكرا جزيلا لكم."]),
        ("short", ["short"]),
        ("a\nb", ["a\nb"]),
        ("", [""]),
    ],
)
def test_a_query_is_cut_into_sentences_in_any_script(query: str, expected: list[str]) -> None:
    assert split_sentences(query) == expected


def test_a_query_of_a_thousand_sentences_is_looked_at_as_far_as_its_first_ones() -> None:
    assert len(split_sentences("One more sentence. " * 1_000)) == SENTENCES_MAX


def test_passages_of_a_long_document_are_ranked_by_themselves(reranker: LinearReranker) -> None:
    texts = ["Fences are painted.", "Gates open inwards.", "A chimney is swept twice a year.", "Sheep graze."]
    pieces = [
        replace(document("rules", text, ordinal=place), item_pieces=WHOLE_PIECES_MAX + 1)
        for place, text in enumerate(texts)
    ]

    scores = reranker.rank("How often is a chimney swept?", pieces)

    assert max(scores) == scores[2] > sorted(scores)[-2]
