"""The difference between two texts: whole words, nothing lost, bounded."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.memories.diff import Operation, Piece, diff_words

KEEP, ADD, REMOVE = Operation.KEEP, Operation.ADD, Operation.REMOVE
WORDS = st.lists(
    st.sampled_from(["a", "b", " ", "word", "日", "本", "👩‍👩‍👧", "é", "\n", ".", "ก"]), max_size=30
)


def test_only_the_words_that_differ_are_marked() -> None:
    pieces = diff_words("Prefers detailed explanations", "Prefers concise explanations")

    assert pieces == (
        Piece(KEEP, "Prefers "),
        Piece(REMOVE, "detailed"),
        Piece(ADD, "concise"),
        Piece(KEEP, " explanations"),
    )


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("", "", ()),
        ("same", "same", (Piece(KEEP, "same"),)),
        ("", "new", (Piece(ADD, "new"),)),
        ("old", "", (Piece(REMOVE, "old"),)),
        ("東京に住む", "大阪に住む", (Piece(REMOVE, "東京"), Piece(ADD, "大阪"), Piece(KEEP, "に住む"))),
        ("a 👩‍👩‍👧", "a 👩‍👩‍👦", (Piece(KEEP, "a "), Piece(REMOVE, "👩‍👩‍👧"), Piece(ADD, "👩‍👩‍👦"))),
        ("at 10:30", "at 10:45", (Piece(KEEP, "at 10:"), Piece(REMOVE, "30"), Piece(ADD, "45"))),
    ],
)
def test_every_script_is_compared_in_its_own_pieces(old: str, new: str, expected: tuple[Piece, ...]) -> None:
    assert diff_words(old, new) == expected


@given(WORDS, WORDS)
def test_both_texts_can_be_read_out_of_it_again(old: list[str], new: list[str]) -> None:
    before, after = "".join(old), "".join(new)

    pieces = diff_words(before, after)

    assert "".join(piece.text for piece in pieces if piece.op is not ADD) == before
    assert "".join(piece.text for piece in pieces if piece.op is not REMOVE) == after


def test_what_differs_too_widely_counts_as_replaced_whole_and_takes_no_time() -> None:
    old = "head " + "a b " * 2_500 + "tail"
    new = "head " + "b c " * 2_500 + "tail"

    started = time.thread_time()
    pieces = diff_words(old, new)

    assert time.thread_time() - started < 1
    assert [piece.op for piece in pieces] == [KEEP, REMOVE, ADD, KEEP]
