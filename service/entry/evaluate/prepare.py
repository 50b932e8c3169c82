"""Completes questions by what stands above them and on the command line. Pure."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from service.entry.evaluate.model import Asked, Budget, Rates
from service.entry.evaluate.questions import Prices, Question, QuestionFile
from service.entry.evaluate.read_questions import QuestionsInvalid, ReadQuestions
from service.policies.findings import Finding, Place
from service.policies.read_yaml import FINDINGS_MAX

_MAX_TOKENS: Final = 4_000
_PURPOSE: Final = "service"


@dataclass(frozen=True, slots=True)
class Overrides:
    """What the command line says; it counts before what the file says of all questions."""

    project: str | None = None
    purpose: str | None = None
    max_tokens: int | None = None
    rates: Rates | None = None


@dataclass(frozen=True, slots=True)
class Prepared:
    """Everything that is asked."""

    asked: tuple[Asked, ...]
    budget: Budget
    rates: Rates | None


def prepare(path: Path, read: ReadQuestions, overrides: Overrides) -> Prepared:
    """Answer every question complete. Raises `QuestionsInvalid` for one without a project."""
    file = read.file
    project = overrides.project or file.project
    missing = [
        Finding(
            str(path),
            Place(line),
            "missing_key",
            "`project` is missing: name it here, above all questions, or with --project",
        )
        for question, line in zip(file.questions, read.lines, strict=True)
        if question.project is None and project is None
    ]
    if missing:
        raise QuestionsInvalid(tuple(missing[:FINDINGS_MAX]))
    asked = tuple(
        _asked(question, number, line, project, overrides.purpose or file.purpose or _PURPOSE)
        for number, (question, line) in enumerate(zip(file.questions, read.lines, strict=True), start=1)
    )
    rates = None if file.prices is None else rates_of(file.prices)
    return Prepared(asked, _budget(file, overrides), overrides.rates or rates)


def _asked(question: Question, number: int, line: int, project: str | None, purpose: str) -> Asked:
    named = question.project or project
    assert named is not None, "a question without a project was found out before"
    return Asked(
        number=number,
        line=line,
        id=question.id,
        question=question.question,
        project=named,
        purpose=question.purpose or purpose,
        execution_id=question.execution_id,
        expected=question.expected,
    )


def _budget(file: QuestionFile, overrides: Overrides) -> Budget:
    chosen = overrides.max_tokens if overrides.max_tokens is not None else file.max_tokens
    return Budget(
        max_tokens=_MAX_TOKENS if chosen is None else chosen,
        reply_reserve=file.reply_reserve or 0,
        encoding=file.encoding,
        model=file.model,
    )


def rates_of(prices: Prices) -> Rates:
    """Answer prices with the one for cached tokens, which without a word is that of all."""
    cached = prices.cached_per_million
    return Rates(prices.per_million, prices.per_million if cached is None else cached, prices.currency)
