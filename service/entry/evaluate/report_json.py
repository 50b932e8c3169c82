"""The report as one JSON document, for programs."""

from typing import Any, Final

from service.entry.evaluate.intervals import LEVEL_PERCENT, RESAMPLES, Interval, Spread
from service.entry.evaluate.model import Answer, Asked, Evaluation, Refused
from service.entry.evaluate.summary import (
    Difference,
    Disagreement,
    Standing,
    differences,
    disagreements,
    found_places,
    is_good_enough,
    standings,
)

SCHEMA_VERSION: Final = 1
_DIGITS: Final = 9


def report_fields(evaluation: Evaluation, *, recall_min: float) -> dict[str, Any]:
    """Answer everything that was measured, with each question's packages."""
    rates, budget = evaluation.rates, evaluation.budget
    return {
        "schema_version": SCHEMA_VERSION,
        "file": evaluation.file,
        "questions": len(evaluation.asked),
        "budget": {
            "max_tokens": budget.max_tokens,
            "reply_reserve": budget.reply_reserve,
            "encoding": budget.encoding,
            "model": budget.model,
        },
        "prices": None
        if rates is None
        else {
            "per_million": f"{rates.per_million:f}",
            "cached_per_million": f"{rates.cached_per_million:f}",
            "currency": rates.currency,
        },
        "intervals": {"level_percent": LEVEL_PERCENT, "resamples": RESAMPLES, "seed": evaluation.seed},
        "min_recall": recall_min,
        "passed": is_good_enough(evaluation, recall_min),
        "profiles": [_standing(one) for one in standings(evaluation)],
        "differences": [_difference(one) for one in differences(evaluation)],
        "disagreements": [_disagreement(one) for one in disagreements(evaluation)],
        "answers": [_answers(asked, number, evaluation) for number, asked in enumerate(evaluation.asked)],
    }


def _standing(standing: Standing) -> dict[str, Any]:
    each = standing.cost_each
    return {
        "profile": standing.tried.profile,
        "profile_version": standing.tried.profile_version,
        "policy_version": standing.tried.policy_version,
        "recall": _interval(standing.recall),
        "all_found": standing.all_found,
        "refused": standing.refused,
        "tokens": _spread(standing.tokens),
        "prefix_reuse": _interval(standing.reuse),
        "cost": None if standing.cost is None else f"{standing.cost:f}",
        "cost_each": None if each is None else f"{each:.8f}",
        "seconds": _spread(standing.seconds),
    }


def _difference(difference: Difference) -> dict[str, Any]:
    return {
        "profile": difference.profile,
        "against": difference.against,
        "measures": {name: _interval(value) for name, value in difference.measures.items()},
    }


def _disagreement(disagreement: Disagreement) -> dict[str, Any]:
    asked = disagreement.asked
    return {
        "number": asked.number,
        "id": asked.id,
        "line": asked.line,
        "found": {
            profile: [asked.expected[place].source for place in sorted(places)]
            for profile, places in disagreement.found.items()
        },
        "package_ids": dict(disagreement.package_ids),
    }


def _answers(asked: Asked, number: int, evaluation: Evaluation) -> dict[str, Any]:
    return {
        "number": asked.number,
        "id": asked.id,
        "line": asked.line,
        "question": asked.question,
        "expected": [source.source for source in asked.expected],
        "profiles": {tried.profile: _answer(tried.answers[number], asked) for tried in evaluation.tried},
    }


def _answer(answer: Answer | Refused, asked: Asked) -> dict[str, Any]:
    if isinstance(answer, Refused):
        return {"refused": answer.code, "detail": answer.detail}
    sources = asked.expected
    return {
        "package_id": answer.package_id,
        "recall": round(answer.recall, _DIGITS),
        "found": [sources[place].source for place in sorted(found_places(answer, asked))],
        "missing": [
            {"source": sources[place].source, "reason": reason}
            for place, reason in sorted(answer.missing.items())
        ],
        "tokens": answer.tokens,
        "reused_tokens": answer.reused_tokens,
        "cost": None if answer.cost is None else f"{answer.cost:f}",
        "seconds": round(answer.seconds, _DIGITS),
        "degraded": list(answer.degraded),
    }


def _interval(interval: Interval | None) -> dict[str, Any] | None:
    if interval is None:
        return None
    return {
        "mean": round(interval.mean, _DIGITS),
        "low": None if interval.low is None else round(interval.low, _DIGITS),
        "high": None if interval.high is None else round(interval.high, _DIGITS),
        "questions": interval.count,
    }


def _spread(spread: Spread | None) -> dict[str, Any] | None:
    if spread is None:
        return None
    return {
        "mean": round(spread.mean, _DIGITS),
        "median": round(spread.median, _DIGITS),
        "p95": round(spread.p95, _DIGITS),
        "highest": round(spread.highest, _DIGITS),
    }
