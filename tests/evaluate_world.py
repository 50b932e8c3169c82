"""Evaluations made by hand, and a small corpus with questions about it."""

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from service.entry.evaluate.model import Answer, Asked, Budget, Evaluation, Rates, Refused, Tried
from service.entry.evaluate.questions import ExpectedSource

RATES = Rates(Decimal("2.50"), Decimal("0.25"), "USD")
TOPICS = ("rainfall", "harvest", "tractor", "insurance")


def source(name: str, contains: str | None = None) -> ExpectedSource:
    return ExpectedSource(source=name, contains=contains)


def asked(number: int, *sources: str, question: str = "What?", name: str | None = None) -> Asked:
    return Asked(
        number=number,
        line=number,
        id=name,
        question=question,
        project="alpha",
        purpose="service",
        execution_id=None,
        expected=tuple(map(source, sources)),
    )


def answer(
    recall: float, *missing: int, tokens: int = 1_000, reused: int | None = 250, **more: Any
) -> Answer:
    fields = {
        "package_id": "01936d7e-5d5c-7c3e-9d0a-6c1f0f3f7a11",
        "recall": recall,
        "missing": dict.fromkeys(missing, "over_budget"),
        "tokens": tokens,
        "reused_tokens": reused,
        "cost": Decimal("0.0025"),
        "seconds": 0.04,
    }
    return Answer(**{**fields, **more})


def tried(profile: str, *answers: Answer | Refused) -> Tried:
    return Tried(profile, "sha256:" + "1" * 64, "sha256:" + "2" * 64, answers)


def evaluation(questions: Sequence[Asked], *profiles: Tried, file: str = "questions.yaml") -> Evaluation:
    return Evaluation(file, Budget(4_000, 0, None, None), RATES, 0, tuple(questions), profiles)
