"""The difference between two texts: whole words, nothing lost, bounded."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from service.memories.diff import Operation, Piece, diff_words

KEEP, ADD, REMOVE = Operation.KEEP, Operation.ADD, Operation.REMOVE
TEXTS = st.text("ab. \n日本กé\u0301\u200d👩👧", max_size=40)


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


@settings(deadline=None, max_examples=60)
@given(TEXTS, TEXTS)
def test_both_texts_can_be_read_out_of_it_again(old: str, new: str) -> None:
    pieces = diff_words(old, new)

    assert "".join(piece.text for piece in pieces if piece.op is not ADD) == old
    assert "".join(piece.text for piece in pieces if piece.op is not REMOVE) == new


def test_what_differs_too_widely_counts_as_replaced_whole_and_takes_no_time() -> None:
    old = "head " + "a b " * 2_500 + "tail"
    new = "head " + "b c " * 2_500 + "tail"

    started = time.thread_time()
    pieces = diff_words(old, new)

    assert time.thread_time() - started < 1
    assert [piece.op for piece in pieces] == [KEEP, REMOVE, ADD, KEEP]
