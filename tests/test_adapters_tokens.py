"""Counts equal tiktoken's, offline, and hard text is counted or refused quickly."""

import sys
import threading
import time
import unicodedata
from collections.abc import Iterator
from pathlib import Path

import pytest
import regex
import tiktoken
import toktok
from hypothesis import example, given, settings
from hypothesis import strategies as st

from service.adapters.tokens import _REFERENCE_ONLY, _UNSURE, TiktokenCounter
from service.core.tokens import EncodingUnknown, ModelUnknown, TextUncountable

ENCODINGS = ("o200k_base", "o200k_harmony", "cl100k_base")
NEWER_THAN_TIKTOKEN = "\U00010940"
"""Assigned by Unicode 17: a letter to toktok, nothing to tiktoken."""

LARGE_SCRIPTS = regex.compile(r"[\p{Han}\p{Hangul}\p{Tangut}\p{Cuneiform}\p{Egyptian_Hieroglyphs}\p{Yi}]")

# Characters on which the tables of the two tokenizers, or their patterns, could differ.
HARD = st.sampled_from(
    [*" \n\t\r/'aAs1!\u017f\u0301\u200d\u00a0\u3000漢かกक😀🇩", NEWER_THAN_TIKTOKEN, "\u0378"]
)
TEXTS = st.one_of(st.text(), st.text(HARD), st.text(st.characters(exclude_categories=["Cs"]), max_size=80))


@pytest.fixture(scope="module")
def counter(tmp_path_factory: pytest.TempPathFactory) -> TiktokenCounter:
    return TiktokenCounter(tmp_path_factory.mktemp("vocabularies"))


@pytest.fixture(scope="module")
def references(counter: TiktokenCounter) -> Iterator[dict[str, tiktoken.Encoding]]:
    for encoding in ("o200k_base", "cl100k_base"):
        counter.count(NEWER_THAN_TIKTOKEN, encoding)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TIKTOKEN_CACHE_DIR", str(counter._cache_dir))  # noqa: SLF001 - where it just put them
        yield {name: tiktoken.get_encoding(name) for name in ENCODINGS}


@pytest.mark.parametrize("encoding", ENCODINGS)
@settings(deadline=None)
@given(text=TEXTS)
@example(text="<|endoftext|> is text")
@example(text="a'\u017fa I'\u017f don't")
@example(text=f"a{NEWER_THAN_TIKTOKEN}'s {NEWER_THAN_TIKTOKEN}/\n x")
@example(text="half \ud83d pair \ud83d\ude00")
def test_a_count_is_that_of_the_reference(
    encoding: str, text: str, counter: TiktokenCounter, references: dict[str, tiktoken.Encoding]
) -> None:
    assert counter.count(text, encoding) == len(references[encoding].encode_ordinary(text))


@pytest.mark.parametrize("encoding", ["o200k_base", "cl100k_base"])
def test_both_tokenizers_agree_on_every_character_that_the_fast_one_counts(
    encoding: str, counter: TiktokenCounter, references: dict[str, tiktoken.Encoding]
) -> None:
    characters = [
        character
        for code, character in enumerate(map(chr, range(sys.maxunicode + 1)))
        # The large scripts hold letters alone: a sixteenth of them is enough.
        if unicodedata.category(character) not in {"Cn", "Cs", "Co"}
        and (code % 16 == 0 or not LARGE_SCRIPTS.match(character))
    ]
    # A count tells classes apart only through what surrounds a character: a contraction, digits, newlines.
    texts = [
        f"a{character}'s 1{character}11 {character}\n/ {character}a'{character}a" for character in characters
    ]
    counted = [counter.count(text, encoding) for text in texts]
    expected = references[encoding].encode_ordinary_batch(texts, num_threads=1)

    assert [
        hex(ord(character))
        for character, count, tokens in zip(characters, counted, expected, strict=True)
        if count != len(tokens)
    ] == []


@pytest.mark.parametrize("encoding", ENCODINGS)
@settings(deadline=None)
@given(left=TEXTS, right=TEXTS.filter(lambda text: text[:1].strip() not in {"", "/"}))
def test_counts_add_after_a_newline_and_before_a_word(
    encoding: str, left: str, right: str, counter: TiktokenCounter
) -> None:
    def count(text: str) -> int:
        return counter.count(text, encoding)

    assert count(f"{left}\n{right}") == count(f"{left}\n") + count(right)
    assert count(f"{left} {right}") == count(left) + count(f" {right}")


@pytest.mark.parametrize("encoding", ["o200k_base", "cl100k_base"])
@pytest.mark.parametrize(
    "unit", [" ", "a", "\n", "\t", "!", "/", "漢", "😀", "\u0301", "aB", "\r\n", "1", "\u3000"]
)
def test_a_million_of_the_same_is_counted_within_a_second(
    encoding: str, unit: str, counter: TiktokenCounter
) -> None:
    counter.count("load", encoding)
    text = unit * (1_000_000 // len(unit))
    started = time.thread_time()
    count = counter.count(text, encoding)

    assert time.thread_time() - started < 1
    assert 0 < count <= len(text.encode())


@pytest.mark.parametrize("unit", [" ", "a", "\t", "/", "漢", NEWER_THAN_TIKTOKEN])
def test_a_million_of_the_same_beside_a_new_character_is_refused_within_a_second(
    unit: str, counter: TiktokenCounter, references: dict[str, tiktoken.Encoding]
) -> None:
    assert references
    text = unit * 1_000_000 + NEWER_THAN_TIKTOKEN
    started = time.thread_time()
    if unit == " ":
        # All but the last space stand before a cut.
        assert counter.count(text) == counter.count(" " * 999_999) + counter.count(f" {NEWER_THAN_TIKTOKEN}")
    else:
        with pytest.raises(TextUncountable):
            counter.count(text)

    assert time.thread_time() - started < 1


def test_a_new_character_does_not_slow_the_rest_of_a_text(
    counter: TiktokenCounter, references: dict[str, tiktoken.Encoding]
) -> None:
    words = f"One line of many, with a {NEWER_THAN_TIKTOKEN} in it.\n" * 20_000
    started = time.thread_time()
    count = counter.count(words)

    assert time.thread_time() - started < 1
    assert count == len(references["o200k_base"].encode_ordinary(words))


def test_the_special_tokens_of_both_encodings_are_text(counter: TiktokenCounter) -> None:
    for special in ("<|endoftext|>", "<|endofprompt|>", "<|start|>", "<|fim_prefix|>"):
        for encoding in ENCODINGS:
            assert counter.count(special, encoding) > 1


def test_nothing_is_no_token(counter: TiktokenCounter) -> None:
    assert counter.count("") == 0


def test_an_encoding_that_is_not_carried_is_refused(counter: TiktokenCounter) -> None:
    assert counter.encodings == set(ENCODINGS)
    for name in ("p50k_base", "qwen3.5", "jev", "", "O200K_BASE"):
        with pytest.raises(EncodingUnknown):
            counter.count("text", name)


def test_a_model_has_the_encoding_that_tiktoken_says(counter: TiktokenCounter) -> None:
    assert counter.encoding_for_model("gpt-4o") == "o200k_base"
    assert counter.encoding_for_model("gpt-4o-2024-05-13") == "o200k_base"
    assert counter.encoding_for_model("gpt-4") == "cl100k_base"
    assert counter.encoding_for_model("gpt-oss-120b") == "o200k_harmony"
    with pytest.raises(ModelUnknown):
        counter.encoding_for_model("no-such-model")
    with pytest.raises(EncodingUnknown):
        counter.encoding_for_model("text-davinci-003")


def test_a_broken_vocabulary_in_the_folder_is_replaced_not_fetched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, references: dict[str, tiktoken.Encoding]
) -> None:
    assert references
    monkeypatch.setattr("socket.socket", None)
    TiktokenCounter(tmp_path).count(NEWER_THAN_TIKTOKEN)
    (vocabulary,) = tmp_path.iterdir()
    whole = vocabulary.read_bytes()
    vocabulary.write_bytes(whole[:1000])

    TiktokenCounter(tmp_path).count(NEWER_THAN_TIKTOKEN)

    assert vocabulary.read_bytes() == whole


def test_many_threads_count_alike(tmp_path: Path) -> None:
    counter = TiktokenCounter(tmp_path)
    text = f"Plot 18 has consent. {NEWER_THAN_TIKTOKEN} " * 200
    counts: list[int] = []
    threads = [threading.Thread(target=lambda: counts.append(counter.count(text))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(counts) == len(threads)
    assert len(set(counts)) == 1


def test_the_library_counts_whole_texts_while_it_cuts_them() -> None:
    # `count` relies on it: the total that `truncate` answers is that of the whole text.
    assert toktok.truncate("one two three four", 1, "o200k_base") == ("one", 4)


def test_the_quick_look_passes_nothing_that_only_tiktoken_counts_rightly() -> None:
    missed = [
        hex(number)
        for number in range(sys.maxunicode + 1)
        if _REFERENCE_ONLY.search(chr(number)) and not _UNSURE.search(chr(number))
    ]

    assert missed == []
