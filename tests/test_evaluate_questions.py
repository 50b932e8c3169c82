"""A file of questions is read strictly; each fault is told with its line."""

from decimal import Decimal
from pathlib import Path

import pytest

from service.entry.evaluate.model import Rates
from service.entry.evaluate.prepare import Overrides, prepare
from service.entry.evaluate.read_questions import QuestionsInvalid, ReadQuestions, read_questions

ID = "01936d7e-5d5c-7c3e-9d0a-6c1f0f3f7a11"
SMALL = f"""\
project: alpha
max_tokens: 2000
prices: {{per_million: "2.50", cached_per_million: "0.25"}}
questions:
  - question: What is the status of plot 18?
    expected: [doc://cases/18]
  - question: Who asked for it?
    id: who
    project: beta
    purpose: contact
    expected:
      - evidence:{ID}
      - {{source: doc://letters/2, contains: the owner}}
"""


def read(folder: Path, text: str | bytes, name: str = "questions.yaml") -> ReadQuestions:
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_questions(path)


def faults(folder: Path, text: str | bytes, name: str = "questions.yaml") -> list[str]:
    with pytest.raises(QuestionsInvalid) as fault:
        read(folder, text, name)
    return [str(finding).removeprefix(f"{folder}/") for finding in fault.value.findings]


def test_what_stands_above_holds_for_each_question_that_does_not_say_otherwise(tmp_path: Path) -> None:
    prepared = prepare(Path("x"), read(tmp_path, SMALL), Overrides())

    first, second = prepared.asked
    assert (first.number, first.line, first.project, first.purpose) == (1, 5, "alpha", "service")
    assert (second.number, second.line, second.project, second.purpose) == (2, 7, "beta", "contact")
    assert [one.source for one in second.expected] == [ID, "doc://letters/2"]
    assert second.expected[1].contains == "the owner"
    assert prepared.budget.max_tokens == 2_000
    assert prepared.rates == Rates(Decimal("2.50"), Decimal("0.25"), "USD")


def test_the_command_line_counts_before_what_the_file_says_of_all(tmp_path: Path) -> None:
    rates = Rates(Decimal(1), Decimal(1), "EUR")
    overrides = Overrides(project="gamma", purpose="personalisation", max_tokens=500, rates=rates)

    prepared = prepare(Path("x"), read(tmp_path, SMALL), overrides)

    assert [one.project for one in prepared.asked] == ["gamma", "beta"]
    assert [one.purpose for one in prepared.asked] == ["personalisation", "contact"]
    assert (prepared.budget.max_tokens, prepared.rates) == (500, rates)


def test_json_lines_are_read_with_their_lines(tmp_path: Path) -> None:
    lines = b'{"question": "a?", "expected": ["doc://a"]}\n\n{"question": "\\ud83d\\ude00?", "expected": ["doc://b"]}\r\n'

    found = read(tmp_path, lines, "questions.jsonl")

    assert found.lines == (1, 3)
    assert [one.question for one in found.file.questions] == ["a?", "\U0001f600?"]


@pytest.mark.parametrize(
    ("old", "new", "place", "words"),
    [
        ("question: What", "qestion: What", "5:5", "did you mean `question`?"),
        ("    id: who\n", "    id: who\n    answer: me\n", "9:5", "`answer` is not known here"),
        ("expected: [doc://cases/18]", "expected: []", "6:15", "at least 1 item"),
        ("expected: [doc://cases/18]", "expected: [cases/18]", "6:16", "a uri"),
        ("expected: [doc://cases/18]", "expected: [7]", "6:16", ""),
        (f"evidence:{ID}", "evidence:18", "12:9", "the id of a piece of evidence"),
        ("contains: the owner", "contain: the owner", "13:35", "did you mean `contains`?"),
        ('per_million: "2.50"', 'per_million: "-1"', "3:23", "not negative"),
        ("max_tokens: 2000", "max_tokens: many", "2:13", "integer"),
        ("max_tokens: 2000", "max_tokens: 2000001", "2:13", "less than or equal"),
        ("questions:", "questions: &all", "4:12", "anchor"),
        ("project: alpha", "project: alpha\nproject: beta", "2:1", "stands on line 1 already"),
    ],
)
def test_each_fault_is_told_with_its_place(
    tmp_path: Path, old: str, new: str, place: str, words: str
) -> None:
    assert old in SMALL

    found = faults(tmp_path, SMALL.replace(old, new, 1))

    assert [
        fault for fault in found if fault.startswith(f"questions.yaml:{place}: error") and words in fault
    ], found


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (b"{", "not JSON"),
        (b'{"question": "a", "question": "b", "expected": ["doc://a"]}', "the same key twice"),
        (b'{"question": "a\\u0000", "expected": ["doc://a"]}', "NUL"),
        (b'{"question": "\\ud800", "expected": ["doc://a"]}', "surrogate"),
        (b'{"question": 7, "expected": ["doc://a"]}', "string"),
        (b'{"question": "a", "expected": "doc://a"}', "array"),
        (b'{"question": "a", "expected": ["doc://a"], "tenant": "other"}', "`tenant` is not known here"),
        (b'["a"]', "these keys"),
        (b"\xff", "UTF-8"),
        (b'{"question": "a"}', "`expected` is missing"),
        (b"[" * 40 + b"]" * 40, "nested deeper"),
    ],
)
def test_each_fault_of_a_line_is_told_with_its_number(tmp_path: Path, line: bytes, words: str) -> None:
    good = b'{"question": "a?", "expected": ["doc://a"]}\n'

    (found,) = faults(tmp_path, good + line + b"\n" + good, "q.jsonl")

    assert found.startswith("q.jsonl:2:1: error"), found
    assert words in found


def test_two_questions_of_one_id_could_not_be_told_apart(tmp_path: Path) -> None:
    line = '{"id": "x", "question": "a?", "expected": ["doc://a"]}\n'

    (found,) = faults(tmp_path, line + line, "q.jsonl")

    assert found == "q.jsonl:2:1: error duplicate_id: the question of line 1 has this id too"


def test_a_question_needs_a_project_from_somewhere(tmp_path: Path) -> None:
    found = read(tmp_path, '{"question": "a?", "expected": ["doc://a"]}\n', "q.jsonl")

    with pytest.raises(QuestionsInvalid, match=r"q\.jsonl:1:1: error missing_key: `project`"):
        prepare(tmp_path / "q.jsonl", found, Overrides())
    assert prepare(tmp_path / "q.jsonl", found, Overrides(project="alpha")).asked[0].project == "alpha"


def test_files_that_hold_nothing_or_cannot_be_read_say_so(tmp_path: Path) -> None:
    assert "no question" in faults(tmp_path, "\n\n", "q.jsonl")[0]
    assert "UTF-8" in faults(tmp_path, b"\xff")[0]
    assert "write more than that as .jsonl" in faults(tmp_path, b"#" * 300_000)[0]
    with pytest.raises(QuestionsInvalid, match="cannot be read"):
        read_questions(tmp_path / "none.yaml")
