"""Reads a file of questions, YAML or JSON Lines: strict, bounded, each fault with its line."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from service.core.errors import Invalid
from service.core.hashing import Json
from service.entry.evaluate.questions import QUESTIONS_MAX, Question, QuestionFile
from service.policies.characters import FILE_BYTES_MAX
from service.policies.findings import Finding, Place
from service.policies.read_yaml import FINDINGS_MAX, Document, read_yaml
from service.policies.validate_file import check_file

LINES_SUFFIXES: Final = frozenset({".jsonl", ".ndjson"})
LINES_BYTES_MAX: Final = 32 * 1024 * 1024
_LINE_BYTES_MAX: Final = 256 * 1024


class QuestionsInvalid(ValueError):
    """The file cannot be used; `findings` says why, each with its place."""

    def __init__(self, findings: tuple[Finding, ...]) -> None:
        super().__init__("\n".join(map(str, findings)))
        self.findings = findings


@dataclass(frozen=True, slots=True)
class ReadQuestions:
    """What a file says, and on which line each of its questions begins."""

    file: QuestionFile
    lines: tuple[int, ...]


def read_questions(path: Path) -> ReadQuestions:
    """Answer what the file says. Raises `QuestionsInvalid`."""
    if path.suffix.lower() in LINES_SUFFIXES:
        return _read_lines(path, _bytes_of(path, LINES_BYTES_MAX))
    raw = _bytes_of(path, FILE_BYTES_MAX)
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError:
        raise QuestionsInvalid((_fault(path, 1, "encoding", "not UTF-8: save as UTF-8"),)) from None
    document, faults = read_yaml(str(path), text)
    if faults:
        raise QuestionsInvalid(faults)
    checked = check_file(document, QuestionFile)
    if checked.model is None:
        raise QuestionsInvalid(checked.findings)
    count = len(checked.model.questions)
    lines = tuple(document.place_of(("questions", number)).line for number in range(count))
    _refuse_repeated(path, checked.model, lines)
    return ReadQuestions(checked.model, lines)


def _read_lines(path: Path, raw: bytes) -> ReadQuestions:
    questions: list[Question] = []
    places: list[int] = []
    findings: list[Finding] = []
    for number, line in enumerate(raw.split(b"\n"), start=1):
        if not line.strip():
            continue
        if len(findings) >= FINDINGS_MAX:
            break
        found = _read_line(path, number, line)
        if isinstance(found, Question):
            questions.append(found)
            places.append(number)
        else:
            findings += found
        if len(questions) > QUESTIONS_MAX:
            message = f"more than {QUESTIONS_MAX} questions: split the file"
            findings.append(_fault(path, number, "too_many", message))
            break
    if not questions and not findings:
        findings.append(_fault(path, 1, "empty", "no question: write one JSON object a line"))
    if findings:
        raise QuestionsInvalid(tuple(findings))
    file = QuestionFile(questions=tuple(questions))
    _refuse_repeated(path, file, tuple(places))
    return ReadQuestions(file, tuple(places))


def _read_line(path: Path, number: int, line: bytes) -> Question | list[Finding]:
    if len(line) > _LINE_BYTES_MAX:
        return [_fault(path, number, "line_too_long", f"a line has at most {_LINE_BYTES_MAX} bytes")]
    # It brings the web framework along, which a YAML file does not need.
    from service.entry.http.strict_json import read_json  # noqa: PLC0415

    try:
        content = read_json(line)
    except Invalid as refusal:
        return [_fault(path, number, "syntax", refusal.detail.replace("The body", "the line"))]
    places = dict.fromkeys(_paths(content), Place(number))
    checked = check_file(Document(str(path), content, values=places), Question)
    return list(checked.findings) if checked.model is None else checked.model


def _paths(content: Json) -> Iterator[tuple[str | int, ...]]:
    """Yield where each value of a line stands in it."""
    waiting: list[tuple[tuple[str | int, ...], Json]] = [((), content)]
    while waiting:
        path, value = waiting.pop()
        yield path
        if isinstance(value, dict):
            waiting += [((*path, key), part) for key, part in value.items()]
        elif isinstance(value, list):
            waiting += [((*path, place), part) for place, part in enumerate(value)]


def _refuse_repeated(path: Path, file: QuestionFile, lines: tuple[int, ...]) -> None:
    """Refuse an id that two questions have: the report names questions by it."""
    first: dict[str, int] = {}
    findings = []
    for question, line in zip(file.questions, lines, strict=True):
        if question.id is None:
            continue
        if question.id in first:
            message = f"the question of line {first[question.id]} has this id too"
            findings.append(_fault(path, line, "duplicate_id", message))
        first.setdefault(question.id, line)
    if findings:
        raise QuestionsInvalid(tuple(findings[:FINDINGS_MAX]))


def _bytes_of(path: Path, bytes_max: int) -> bytes:
    try:
        with path.open("rb") as file:
            # One byte more tells a file that is too large from one that just fits.
            raw = file.read(bytes_max + 1)
    except OSError as fault:
        message = f"cannot be read ({fault.strerror or type(fault).__name__})"
        raise QuestionsInvalid((_fault(path, 1, "unreadable", message),)) from None
    if len(raw) > bytes_max:
        advice = "split it" if bytes_max == LINES_BYTES_MAX else "write more than that as .jsonl"
        message = f"more than {bytes_max} bytes: {advice}"
        raise QuestionsInvalid((_fault(path, 1, "file_too_large", message),))
    return raw


def _fault(path: Path, line: int, code: str, message: str) -> Finding:
    return Finding(str(path), Place(line), code, message)
