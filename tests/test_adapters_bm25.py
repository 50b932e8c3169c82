"""Terms of many scripts, names with numbers, and characters that elsewhere are query syntax."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from service.adapters.bm25 import Bm25Encoder
from service.adapters.stop_words import ENGLISH_STOP_WORDS
from service.retrieval.model import SparseVector

ENCODER = Bm25Encoder()
EMPTY = SparseVector((), ())

PARAGRAPHS = {
    "English": (
        "Outline consent for plot 18 was granted; building may begin in spring.",
        ["plots", "consents", "18"],
    ),
    "German": (
        "Der Bebauungsplan der Donaudampfschifffahrtsgesellschaft wurde geändert.",
        ["Bebauungsplan", "Donaudampfschifffahrtsgesellschaft", "GEÄNDERT"],
    ),
    "Japanese": (
        "東京都の計画では、新しい住宅が区画18に建設される予定です。担当者は申請書を提出しました。",
        ["東京", "計画", "住宅", "建設", "申請書", "区画18", "新しい住宅"],
    ),
    "Chinese": (
        "北京市的规划申请已经获得批准,新的住宅将建在18号地块。",
        ["规划", "申请", "批准", "住宅", "18号"],
    ),
    "Arabic": ("تمت الموافقة على طلب التخطيط لقطعة الأرض رقم ١٨", ["التخطيط", "طلب", "18"]),
    "Thai": ("คำขอวางแผนสำหรับแปลงที่ ๑๘ ได้รับการอนุมัติแล้ว", ["คำขอ", "วางแผน", "แปลง", "18"]),
    "Hindi": ("भूखंड १८ के लिए योजना आवेदन स्वीकृत किया गया", ["योजना", "भूखंड", "18"]),
    "Korean": ("서울시 계획 신청이 승인되었습니다", ["계획"]),
    "Russian": ("Заявка на участок 18 одобрена", ["участок", "18"]),
}


def matches(query: str, text: str) -> bool:
    (document,) = ENCODER.encode_documents([text])
    return bool(set(ENCODER.encode_query(query).indices) & set(document.indices))


@pytest.mark.parametrize("language", PARAGRAPHS)
def test_a_paragraph_gives_several_terms_and_its_words_find_it(language: str) -> None:
    text, words = PARAGRAPHS[language]

    assert len(ENCODER.encode_documents([text])[0].indices) >= 4
    assert [word for word in words if not matches(word, text)] == []


def test_what_a_query_says_again_weighs_more_and_never_more_than_nine_times() -> None:
    (once,) = ENCODER.encode_query("refund").values
    (twice,) = ENCODER.encode_query("refund refunds").values
    (often,) = ENCODER.encode_query("refund " * 5_000).values

    assert once == 1
    assert 1.5 < twice < 2
    assert 8 < often <= 9
    assert ENCODER.encode_query("The refund is of a card").values == (1.0, 1.0)


def test_a_word_finds_no_paragraph_without_it() -> None:
    for language, (text, words) in PARAGRAPHS.items():
        others = [other for name, (other, _) in PARAGRAPHS.items() if name != language]
        for word in words:
            if any(character.isdecimal() for character in word) or language in {"Japanese", "Chinese"}:
                continue

            assert not any(matches(word, other) for other in others), (word, text)


def test_names_that_differ_in_their_number_are_told_apart() -> None:
    assert matches("POL-358", "the ticket POL-358")
    assert matches("358", "the ticket POL-358")
    assert not matches("358", "the ticket POL-359")
    assert matches("v2", "since v2 of the form")
    assert not matches("v2", "since v3 of the form")
    assert matches("3.14", "it is 3.14 or so")


def test_stems_meet_and_stop_words_are_left_out() -> None:
    assert matches("applications", "an application was made")
    assert matches("CAFE", "in the café")
    assert ENCODER.encode_query("What have they been doing with the others?").indices == (
        ENCODER.encode_query("others").indices
    )
    assert len(ENGLISH_STOP_WORDS) == 179
    assert ENCODER.encode_query(" ".join(ENGLISH_STOP_WORDS)) == EMPTY


def test_a_term_said_more_often_weighs_more_and_each_has_one_index() -> None:
    (once,) = ENCODER.encode_documents(["plot consent granted"])
    (often,) = ENCODER.encode_documents(["plot plot plot consent"])
    (plot,) = ENCODER.encode_query("plot").indices

    assert often.values[often.indices.index(plot)] > once.values[once.indices.index(plot)]
    assert ENCODER.encode_query("plot Plot PLOTS").indices == (plot,)


@pytest.mark.parametrize(
    "text", ['"', "don't", "*", "", "   ", "\n", "AND OR NOT", "(", "a:b*", "😀", "-", "NEAR/2"]
)
def test_query_syntax_is_text(text: str) -> None:
    query = ENCODER.encode_query(f"plot {text}")

    assert set(ENCODER.encode_query("plot").indices) <= set(query.indices)


@pytest.mark.parametrize("text", ["", " ", "\n\t", '"', "*", "...", "😀"])
def test_a_text_without_words_is_an_empty_vector(text: str) -> None:
    assert ENCODER.encode_query(text) == EMPTY
    assert ENCODER.encode_documents([text]) == [EMPTY]


@settings(deadline=None)
@given(st.text())
def test_any_text_gives_unique_indices_and_as_many_positive_weights(text: str) -> None:
    for vector in (*ENCODER.encode_documents([text]), ENCODER.encode_query(text)):
        assert sorted(set(vector.indices)) == list(vector.indices)
        assert len(vector.values) == len(vector.indices)
        assert all(isinstance(value, float) and value > 0 for value in vector.values)
        assert all(0 <= index < 2**32 for index in vector.indices)


def test_two_encoders_agree_and_the_name_says_the_parameters() -> None:
    text = PARAGRAPHS["Japanese"][0]

    assert Bm25Encoder().encode_documents([text]) == ENCODER.encode_documents([text])
    assert ENCODER.name == "bm25-multilingual-english179-numbers-k1.2-b0.75-l256"


@pytest.mark.parametrize("unit", ["a", " ", "1", '"', "漢", "ก", "\u0301", "1 "])
def test_a_hundred_thousand_of_the_same_take_less_than_a_second(unit: str) -> None:
    started = time.thread_time()
    ENCODER.encode_documents([unit * 100_000])
    ENCODER.encode_query(unit * 100_000)

    assert time.thread_time() - started < 1
