"""Chunks tile the text, keep to their limit, stand on natural boundaries, and come quickly."""

import itertools
import tempfile
import time
from pathlib import Path

import pytest
import regex
from hypothesis import example, given, settings
from hypothesis import strategies as st

from service.adapters.chunker import SemanticChunker
from service.adapters.tokens import TiktokenCounter

COUNTER = TiktokenCounter(Path(tempfile.gettempdir(), "muniment-test-vocabularies"))
CHUNKER = SemanticChunker(COUNTER)
FAMILY = "👩\u200d👩\u200d👧"

MARKDOWN = ["# Title\n", "\n\n", "- item\n", "| a | b |\n", "```\n", "> quote\n", "<p>", "*bold* ", "[a](b)"]
WORDS = ["word ", "A sentence. ", "aB3" * 20, "1.5\n", "漢字かな。", "ภาษาไทย ", FAMILY, "e\u0301"]
SPACES = ["\r\n", "   ", "\t", "\u3000"]
PIECES = st.sampled_from(MARKDOWN + WORDS + SPACES)
TEXTS = st.one_of(st.text(), st.lists(PIECES, max_size=80).map("".join))
HARD = [
    *(
        " ",
        "a",
        "\n",
        "!",
        "1",
        "\r\n",
        "# a\n",
        "- ",
        "> ",
        "[",
        "*",
        "`",
        "<div>",
        "[a](b ",
        "|a",
        "{'a':[1,2]},",
    ),
    *("\u0301", "漢", "ひ", "ก", FAMILY, "漢" * 1_000 + " ", "漢" * 1_023 + "。", "word "),
]
MEDIA_TYPES = ["text/markdown; charset=utf-8", "text/plain", "application/json"]

# The first counts load the vocabulary, for each of the two tokenizers; no test's time is to hold that.
COUNTER.count("load \u0378")


def split(text: str, media_type: str = "text/plain", tokens_max: int = 64) -> list[str]:
    spans = CHUNKER.split(text, media_type=media_type, tokens_max=tokens_max)
    assert [span.start for span in spans] == [0, *(span.end for span in spans)][: len(spans)]
    return [text[span.start : span.end] for span in spans]


@pytest.mark.parametrize("media_type", MEDIA_TYPES)
@settings(deadline=None)
@given(text=TEXTS, tokens_max=st.integers(4, 80))
@example(text="🧟\u200d♀\ufe0f" * 9, tokens_max=4)
@example(text=" \n \n ", tokens_max=4)
@example(text="aaaaa aaa aaaaa" * 9, tokens_max=4)
def test_chunks_tile_the_text_and_keep_to_the_limit(media_type: str, text: str, tokens_max: int) -> None:
    chunks = split(text, media_type, tokens_max)

    assert "".join(chunks) == text
    assert all(0 < COUNTER.count(chunk) <= tokens_max for chunk in chunks)


@settings(deadline=None)
@given(text=st.lists(PIECES, max_size=60).map("".join))
def test_no_grapheme_that_fits_is_parted(text: str) -> None:
    boundaries = {match.end() for match in regex.finditer(r"\X", text)}

    assert set(itertools.accumulate(map(len, split(text, tokens_max=40)))) <= boundaries


@pytest.mark.parametrize("media_type", MEDIA_TYPES)
@pytest.mark.parametrize(
    "line", ["漢字仮名交じり文を書く。", "ภาษาไทยไม่มีช่องว่าง", f"{FAMILY}\u0301", "word " * 3_000 + "\u0301"]
)
def test_long_text_tiles_too(media_type: str, line: str) -> None:
    text = line * (40_000 // len(line))
    chunks = split(text, media_type, 256)

    assert "".join(chunks) == text
    assert max(map(COUNTER.count, chunks)) <= 256


def test_nothing_has_no_chunk_and_white_space_has() -> None:
    assert split("") == []
    assert split(" ") == [" "]
    assert "".join(split(" \n" * 5_000)) == " \n" * 5_000


def test_a_short_text_is_one_chunk() -> None:
    assert split("# Plot 18\n\nConsent was granted.", "text/markdown") == [
        "# Plot 18\n\nConsent was granted."
    ]


def test_markdown_is_cut_before_its_headings() -> None:
    sections = [f"## Plot {number}\n\n{'Consent was granted. ' * 6}\n\n" for number in range(300)]

    assert split("".join(sections), "text/markdown", 48) == sections


def test_prose_is_cut_after_its_sentences() -> None:
    chunks = split("The plot has outline consent, and nobody objected. " * 800, tokens_max=48)

    assert all(chunk.rstrip().endswith(".") for chunk in chunks)


def test_fewer_tokens_than_a_character_may_need_are_refused() -> None:
    with pytest.raises(ValueError, match="at least 4"):
        CHUNKER.split("🧠", media_type="text/plain", tokens_max=3)


@pytest.mark.parametrize("media_type", ["text/markdown", "text/plain"])
@pytest.mark.parametrize("unit", HARD)
def test_hard_text_is_cut_within_a_second_for_fifty_thousand_characters(unit: str, media_type: str) -> None:
    text = unit * (50_000 // len(unit))
    started = time.thread_time()
    spans = CHUNKER.split(text, media_type=media_type, tokens_max=256)

    assert time.thread_time() - started < 1
    assert spans[-1].end == len(text)
