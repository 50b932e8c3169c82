"""A cut text is still valid and ends where a reader would stop."""

import csv
import io
import json

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

from service.context.model import Shape
from service.context.truncate import truncate

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


def test_a_log_keeps_its_last_lines_where_the_error_stands() -> None:
    assert _cut("start\nwork\nERROR disk full", 16, Shape.LOG) == "ERROR disk full"


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


@pytest.mark.parametrize("shape", [Shape.PROSE, Shape.LINES, Shape.LOG])
@given(text=st.text(max_size=40), characters=st.integers(0, 40))
def test_no_cut_splits_a_grapheme(shape: Shape, text: str, characters: int) -> None:
    kept = _cut(text, characters, shape)

    if kept is not None:
        graphemes = [0, *(match.end() for match in regex.finditer(r"\X", text))]
        assert len(kept) <= characters
        if shape is Shape.LOG:
            assert len(text) - len(kept) in graphemes
        else:
            assert len(kept) in graphemes


def test_what_may_not_be_cut_is_not() -> None:
    assert _cut("a b c", 3, Shape.WHOLE) is None
    assert _cut("not json, at all", 5, Shape.JSON) is None
