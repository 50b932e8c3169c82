"""A cut text is still valid and ends where a reader would stop."""

import csv
import io
import json
import time

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from service.context.model import Shape
from service.context.truncate import Cutter, beginning_of_json, end_of_log, truncate

MARKDOWN = MarkdownIt().enable("table")

JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4),
    max_leaves=12,
)


def _cut(text: str, characters: int, shape: Shape) -> str | None:
    return truncate(text, lambda kept: len(kept) <= characters, shape=shape)


def test_prose_ends_after_a_sentence_and_else_after_a_word() -> None:
    assert _cut("One is here. Two is there. Three.", 28, Shape.PROSE) == "One is here. Two is there."
    assert _cut("One sentence that is too long", 14, Shape.PROSE) == "One sentence"
    assert _cut("許可は三月に出た。次の審査は四月。", 10, Shape.PROSE) == "許可は三月に出た。"


def test_no_sentence_ends_in_an_initial_a_title_or_an_ordinal() -> None:
    assert (
        _cut("It rained. Dr. J. Smith came on the 3. of May. Then he left.", 40, Shape.PROSE) == "It rained."
    )
    assert _cut("क्षेत्र अच्छा है। कल वर्षा होगी।", 22, Shape.PROSE) == "क्षेत्र अच्छा है।"


def test_a_log_keeps_its_last_lines_where_the_error_stands() -> None:
    assert _cut("start\nwork\nERROR disk full", 16, Shape.LOG) == "ERROR disk full"
    assert _cut("one long line ERROR disk full", 16, Shape.LOG) == "ERROR disk full"


def test_a_longer_rest_of_a_log_keeps_its_head_too_and_as_a_piece_of_its_own() -> None:
    lines = ["$ make all", *(f"step {number}" for number in range(20)), "warning: slow", "ERROR disk full"]
    cutter = Cutter.of_shape("\n".join(lines), Shape.LOG)

    assert cutter.longest(lambda pieces: len("\n".join(pieces)) <= 45) == (
        "$ make all",
        "warning: slow\nERROR disk full",
    )


TABLE = "# Plots\n\nAll of them.\n\n| plot | consent |\n|---|---|\n| 17 | refused |\n| 18 | granted |\n\nEnd."


def test_a_table_keeps_its_header_and_a_row_or_is_left_out() -> None:
    whole_row = TABLE.index("| 18")

    assert _cut(TABLE, whole_row, Shape.MARKDOWN) == TABLE[: whole_row - 1]
    assert _cut(TABLE, whole_row - 2, Shape.MARKDOWN) == "# Plots\n\nAll of them."
    assert _cut(TABLE, 12, Shape.MARKDOWN) == "# Plots\n\nAll"


def test_code_that_is_cut_is_closed_as_it_was_opened() -> None:
    text = "Run this:\n\n~~~~sh\nmake setup\nmake test\n~~~~\n\nThen wait."

    assert _cut(text, 36, Shape.MARKDOWN) == "Run this:\n\n~~~~sh\nmake setup\n~~~~"
    assert _cut(text, 20, Shape.MARKDOWN) == "Run this:"


@given(
    blocks=st.lists(
        st.sampled_from(
            [
                "# Head",
                "Plain words. And more | of them.",
                "```\ncode | x\n\n# no head\n```",
                "~~~py\n```\n~~~",
                "| a | b |\n| - | - |\n| 1 | 2 |\n| 3 | 4 |",
                "a|b\n:-|-:\n1|2",
                "- - -",
                "",
            ]
        ),
        max_size=6,
    ),
    characters=st.integers(0, 120),
)
def test_cut_markdown_has_closed_fences_and_whole_tables(blocks: list[str], characters: int) -> None:
    text = "\n\n".join(blocks)

    kept = _cut(text, characters, Shape.MARKDOWN)

    if kept is not None:
        assert len(kept) <= characters
        _assert_valid_markdown(kept)


def _assert_valid_markdown(text: str) -> None:
    tokens = MARKDOWN.parse(text)
    lines = text.split("\n")
    kinds = [token.type for token in tokens]
    assert kinds.count("table_open") == kinds.count("tbody_open")
    assert kinds[-1:] != ["heading_close"]
    for token in tokens:
        if token.type == "fence":
            assert token.map is not None
            assert token.map[1] - token.map[0] > 2
            assert lines[token.map[1] - 1].startswith(token.markup)


def test_rows_stay_whole_even_with_a_line_break_inside_quotes() -> None:
    table = 'id,note\n1,"two\nlines"\n2,plain\n3,last\n'

    kept = _cut(table, 30, Shape.ROWS)

    assert kept is not None
    assert list(csv.reader(io.StringIO(kept))) == [["id", "note"], ["1", "two\nlines"], ["2", "plain"]]


@given(value=JSON_VALUES, characters=st.integers(0, 80), indent=st.sampled_from([None, 1]))
def test_json_cut_anywhere_is_json(value: object, characters: int, indent: int | None) -> None:
    text = json.dumps(value, ensure_ascii=False, indent=indent)

    kept = _cut(text, characters, Shape.JSON)

    if kept is not None:
        assert len(kept) <= characters
        json.loads(kept)


def test_a_line_break_of_two_characters_is_never_halved() -> None:
    assert _cut("one\r\ntwo", 4, Shape.PROSE) == "one"
    assert _cut("\r\n", 1, Shape.PROSE) is None


CLUSTERS = st.sampled_from(
    [
        *(
            "\U0001f469\u200d\U0001f469\u200d\U0001f467",
            "\U0001f3f3\ufe0f\u200d\U0001f308",
            "\U0001f44d\U0001f3fd",
        ),
        *(
            "e\u0301",
            "a\u0308\u0323",
            "\u1100\u1161\u11a8",
            "\ud55c",
            "\U0001f1e9\U0001f1ea\U0001f1eb\U0001f1f7",
        ),
        *(
            "\u0915\u094d\u0937\u0947",
            "\u0939\u093f\u0928\u094d\u0926\u0940",
            "\u0e19\u0e49\u0e33",
            "1\ufe0f\u20e3",
        ),
        *("\r\n", "\n", " ", ". ", "\u0964 ", "a", "| b |", "```"),
    ]
)
"""Emoji that ZWJ joins, with skin tones and of flags; combining marks; Hangul; Devanagari; Thai; keycaps."""


@pytest.mark.parametrize("shape", [shape for shape in Shape if shape is not Shape.JSON])
@given(
    text=st.text(max_size=40) | st.lists(CLUSTERS, max_size=20).map("".join), characters=st.integers(0, 60)
)
def test_no_cut_splits_a_grapheme(shape: Shape, text: str, characters: int) -> None:
    kept = Cutter.of_shape(text, shape).longest(lambda pieces: len("\n".join(pieces)) <= characters)

    if kept is None:
        return
    boundaries = {0, *(match.end() for match in regex.finditer(r"\X", text))}
    first, last = kept[0], kept[-1]
    assert len("\n".join(kept)) <= characters
    if text.startswith(first):
        assert len(first) in boundaries
    elif shape is Shape.MARKDOWN:
        assert first.endswith("```")
        assert text.startswith(first[:-4])
    if len(kept) > 1 or not text.startswith(first):
        assert shape is Shape.MARKDOWN or len(text) - len(last) in boundaries


@given(elements=st.lists(CLUSTERS, max_size=8), characters=st.integers(0, 60))
def test_no_cut_of_json_splits_a_string(elements: list[str], characters: int) -> None:
    kept = _cut(json.dumps(elements, ensure_ascii=False), characters, Shape.JSON)

    if kept is not None:
        assert json.loads(kept) == elements[: len(json.loads(kept))]


def test_deep_json_is_cut_without_a_copy_of_what_is_open_for_each_place() -> None:
    depth = 50_000
    text = "[" * depth + "]" * depth

    assert _cut(text, 101, Shape.JSON) == "[" * 50 + "]" * 50


@pytest.mark.parametrize("shape", [shape for shape in Shape if shape is not Shape.WHOLE])
@pytest.mark.parametrize(
    "unit", [".", '."', " ", "\n", "\r\n", "a|b\n-|", "-|", "```\n", "\U0001f1e9", "J. ", "["]
)
def test_no_text_takes_the_square_of_its_length(shape: Shape, unit: str) -> None:
    text = unit * (100_000 // len(unit))

    begun = time.process_time()
    Cutter.of_shape(text, shape).longest(lambda pieces: sum(map(len, pieces)) <= 1_000)

    # A tenth of it is usual; the square would take minutes.
    assert time.process_time() - begun < 3


def test_a_beginning_of_json_leaves_out_a_number_that_may_go_on() -> None:
    assert beginning_of_json('{"a": [1, 23', lambda kept: len(kept) <= 40) == '{"a": [1]}'


def test_the_end_of_a_log_is_one_piece() -> None:
    assert end_of_log("one\ntwo\nthree\nfour", lambda kept: len(kept) <= 12) == "three\nfour"


def test_records_stay_whole() -> None:
    text = '{"id": 1}\n{"id": 2}\n{"id": 3}\n'

    assert _cut(text, 25, Shape.RECORDS) == '{"id": 1}\n{"id": 2}'
    assert _cut(text, 8, Shape.RECORDS) is None


def test_what_may_not_be_cut_is_not() -> None:
    assert _cut("a b c", 3, Shape.WHOLE) is None
    assert _cut("not json, at all", 5, Shape.JSON) is None
