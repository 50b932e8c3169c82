"""Where text may be cut, what may not be stored, and what is invisible."""

import time

import pytest
import regex
from hypothesis import example, given, settings
from hypothesis import strategies as st

from service.core.text import cut_at_grapheme, strip_hidden, text_fault

FAMILY = "👩\u200d👩\u200d👧"
SCOTLAND = "\U0001f3f4\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f"

# Pieces that join with one another in every way that UAX #29 knows.
PIECES = st.sampled_from(
    [
        *"a \r\n漢👩🏽🇩🇪각ก\u0e33\u0301\u200d\ufe0f\u0600\u1100\u1161\u11a8\u0915\u094d\u0937\u093e\u200b",
        *SCOTLAND[:2],
    ]
)
TEXTS = st.one_of(st.lists(PIECES, max_size=60).map("".join), st.text())


@settings(deadline=None)
@given(text=TEXTS, end=st.integers(-1, 70))
@example(text="🇩🇪" * 30, end=41)
@example(text=FAMILY * 9, end=33)
@example(text="e" + "\u0301" * 50, end=40)
def test_a_cut_is_the_last_grapheme_boundary_before_the_end(text: str, end: int) -> None:
    boundaries = [0, *(match.end() for match in regex.finditer(r"\X", text))]

    assert cut_at_grapheme(text, end) == max(boundary for boundary in boundaries if boundary <= max(end, 0))


def test_flags_far_into_a_row_of_flags_are_not_parted() -> None:
    assert cut_at_grapheme("🇩🇪" * 400, 501) == 500


def test_a_grapheme_longer_than_the_cut_leaves_nothing() -> None:
    assert cut_at_grapheme("a" + "\u0301" * 1_000, 900) == 0
    assert cut_at_grapheme("ab" + "\u0301" * 1_000, 900) == 1


@pytest.mark.parametrize(
    "unit", ["a", "漢", "각", "\n", "👩", "ก", "e\u0301", "\u0915\u093f", "\u200b", "日本"]
)
def test_a_thousand_cuts_of_a_long_text_take_no_time(unit: str) -> None:
    text = unit * 200_000
    started = time.thread_time()
    for end in range(100_000, 101_000):
        cut_at_grapheme(text, end)

    assert time.thread_time() - started < 1


def test_text_with_nul_or_half_a_pair_is_at_fault() -> None:
    assert text_fault("a\x00b") == "holds the character NUL"
    assert text_fault("a\ud800b") == "holds half of a surrogate pair"
    assert text_fault("a\udfff") == "holds half of a surrogate pair"
    assert text_fault(f"é漢{FAMILY}\n\t\u200b\ufffd") is None
    assert text_fault("") is None


def test_invisible_tags_are_removed_and_flags_stay() -> None:
    hidden = "".join(chr(0xE0000 + ord(letter)) for letter in "obey")

    assert strip_hidden(f"Plot{hidden} 18 {SCOTLAND}") == f"Plot 18 {SCOTLAND}"
    assert strip_hidden(f"e\u0301{FAMILY}") == f"e\u0301{FAMILY}"
    assert strip_hidden("") == ""


def test_the_rest_of_the_tags_plane_and_selectors_that_select_nothing_are_removed() -> None:
    bytes_as_selectors = "".join(chr(0xE0100 + byte) for byte in b"obey")

    assert strip_hidden(f"a{bytes_as_selectors}b") == f"a{bytes_as_selectors[0]}b"
    assert strip_hidden("a\ufe0f\ufe00\ufe0eb") == "a\ufe0fb"
    assert strip_hidden("a\U000e0080\U000e01f0\U000e0fffb") == "ab"
    assert (
        strip_hidden("\u845b\U000e0100 1\ufe0f\u20e3 \u2764\ufe0f")
        == "\u845b\U000e0100 1\ufe0f\u20e3 \u2764\ufe0f"
    )


def test_a_flag_hides_no_other_tags() -> None:
    hidden = "".join(chr(0xE0000 + ord(letter)) for letter in "obey")

    assert strip_hidden(f"\U0001f3f4{hidden}\U000e007f") == "\U0001f3f4"
    assert strip_hidden(f"{SCOTLAND}{hidden}") == SCOTLAND
    assert strip_hidden(SCOTLAND[:-1]) == "\U0001f3f4"
