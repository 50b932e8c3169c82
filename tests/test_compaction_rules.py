"""Choosing sentences: any language, within the budget, the same each time; and the form of a summary."""

import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from service.adapters.tokens import TiktokenCounter
from service.context.recall import Outlined, recall
from service.executions.compaction.rules import Passage, Voice, choose_sentences, head_and_tail
from service.executions.compaction.sentences import (
    SENTENCE_CHARACTERS_MAX,
    is_courtesy,
    split_sentences,
    terms_of,
)
from service.executions.compaction.summary_text import SummaryText, read_summary, write_summary
from service.executions.conversation.model import TurnRole

TOKENS = TiktokenCounter(Path("/nowhere"))
ROUGH = st.text(st.sampled_from("ab1 .!?\n\r-#:'\"。\uff01ก谢e\u0301\u200d🏴\u2028\x85")) | st.text()
LINES = st.lists(ROUGH.filter(lambda text: bool(text) and not text.isspace()), max_size=5)


def _said(*texts: str, voice: Voice = Voice.PERSON) -> list[Passage]:
    return [Passage(f"turn {number} user", text, voice) for number, text in enumerate(texts, start=1)]


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("Plot 18 is 3.5 ha. Is it? Yes!", ["Plot 18 is 3.5 ha.", "Is it?", "Yes!"]),
        ('He said: "Go." Then he left.', ['He said: "Go."', "Then he left."]),
        ("1. Read\n2. Write", ["1. Read", "2. Write"]),
        (
            "计划已批准。他说\uff1a“好的。”然后走了\uff01",
            ["计划已批准。", "他说\uff1a“好的。”", "然后走了\uff01"],
        ),
        ("ما هذا؟ نعم.", ["ما هذا؟", "نعم."]),
        ("योजना मंज़ूर हुई। धन्यवाद।", ["योजना मंज़ूर हुई।", "धन्यवाद।"]),
        ("a\u2028b c", ["a b c"]),
        ("", []),
        ("...", ["..."]),
    ],
)
def test_text_is_cut_into_sentences(text: str, sentences: list[str]) -> None:
    assert list(split_sentences(text)) == sentences


@given(text=ROUGH)
def test_cutting_loses_nothing_but_white_space(text: str) -> None:
    sentences = split_sentences(text)

    assert "".join("".join(sentences).split()) == "".join(text.split())
    assert all(len(one) <= SENTENCE_CHARACTERS_MAX and "\n" not in one for one in sentences)


@pytest.mark.parametrize(
    "text",
    [
        "Hello!",
        "Thank you very much.",
        "Vielen Dank",
        "谢谢你\uff01",
        "ありがとうございます。",
        "¡Hola!",
        "OK",
        "!?",
        "",
    ],
)
def test_a_courtesy_says_nothing(text: str) -> None:
    assert is_courtesy(text)


@pytest.mark.parametrize("text", ["No.", "Yes", "Use PostgreSQL.", "18", "Thanks, but stop.", "不"])
def test_what_decides_something_is_no_courtesy(text: str) -> None:
    assert not is_courtesy(text)


def test_terms_are_words_and_pairs_of_characters_where_words_have_no_spaces() -> None:
    assert terms_of("Plot 18, PLOT") == {"plot", "18"}
    assert terms_of("计划批准") == {"计划", "划批", "批准"}


def test_what_is_said_twice_is_kept_once_as_it_was_said_last() -> None:
    passages = _said(
        "The river floods in March.", "The river floods in March!", "Owner Miller sold plot 19.", "Thanks."
    )

    lines = choose_sentences(passages, tokens_max=200, count=TOKENS.count)

    assert list(lines) == [
        "turn 2 user: The river floods in March!",
        "turn 3 user: Owner Miller sold plot 19.",
    ]


def test_a_small_budget_holds_what_tells_most() -> None:
    passages = _said("Well, so it is, as it is.", "Invoice 4417 of 3 March 2026 names Heron Ltd as payer.")

    [line] = choose_sentences(passages, tokens_max=30, count=TOKENS.count)

    assert "4417" in line


@settings(deadline=None)
@given(texts=st.lists(ROUGH, max_size=8), tokens_max=st.integers(1, 200))
def test_the_budget_holds_for_any_text(texts: list[str], tokens_max: int) -> None:
    lines = choose_sentences(_said(*texts), tokens_max=tokens_max, count=TOKENS.count)

    assert TOKENS.count("".join(f"- {line}\n" for line in lines)) <= tokens_max


def test_it_is_the_same_in_every_process() -> None:
    script = (
        "import sys; sys.path.insert(0, 'tests');"
        "from service.executions.compaction.rules import *;"
        "texts = [f'Parcel {n} of owner {n * 7} is at road {n % 5} near {n % 3}.' for n in range(80)];"
        "said = [Passage(f't{n}', text, Voice.PERSON) for n, text in enumerate(texts)];"
        "print(choose_sentences(said, tokens_max=120, count=len))"
    )
    root = Path(__file__).parents[1]

    found = {
        subprocess.run(
            [sys.executable, "-c", script],
            cwd=root,
            env={"PYTHONHASHSEED": seed, "PATH": ""},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("0", "1", "2")
    }

    assert len(found) == 1


@pytest.mark.parametrize(
    "text", ["a" * 500_000, "." * 500_000, " " * 500_000, "()\"'" * 100_000, "ก" * 200_000]
)
def test_texts_that_are_made_to_be_slow_are_not(text: str) -> None:
    begun = time.process_time()

    choose_sentences(_said(text, text), tokens_max=400, count=TOKENS.count)

    assert time.process_time() - begun < 5


def test_of_a_long_passage_head_and_tail_are_read() -> None:
    text = "begin " + "x" * 20_000 + " end"

    assert head_and_tail(text, 300).startswith("begin")
    assert head_and_tail(text, 300).endswith(" end")
    assert len(head_and_tail(text, 300)) <= 301


@given(surviving=LINES, references=LINES, said=LINES)
def test_a_summary_is_read_as_it_was_written(
    surviving: list[str], references: list[str], said: list[str]
) -> None:
    parts = SummaryText(tuple(surviving), tuple(references), tuple(said))

    assert read_summary(write_summary(parts)) == parts


@pytest.mark.parametrize(
    "text", ["They talked.", "# what must survive", "", "# what was said\n- a\n# references"]
)
def test_a_text_of_another_form_is_none_of_ours(text: str) -> None:
    assert read_summary(text) is None


def test_recalling_prefers_rare_words_and_keeps_a_tool_call_whole() -> None:
    turns = [
        Outlined(1, TurnRole.USER, "the heron painting hides the key"),
        Outlined(2, TurnRole.ASSISTANT, ""),
        Outlined(3, TurnRole.TOOL, "the register of keys"),
        Outlined(4, TurnRole.TOOL, "the heron register"),
        Outlined(5, TurnRole.USER, "the weather"),
        Outlined(6, TurnRole.USER, "the weather again"),
    ]

    assert list(recall(turns, "the heron", count=2)) == [1, 2, 3, 4]
    assert list(recall(turns, "the weather", count=1)) == [6]
    assert list(recall(turns, "", count=1)) == [6]
    assert list(recall([], "heron", count=3)) == []
