"""Adds answers up: each profile's figures, how others differ from the first, where they disagree. Pure."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from types import MappingProxyType
from typing import Final

from service.entry.evaluate.intervals import Interval, Spread, bootstrap, spread
from service.entry.evaluate.model import Answer, Asked, Evaluation, Refused, Tried


@dataclass(frozen=True, slots=True)
class Standing:
    """One profile's figures. What the service refused counts as nothing found, and has no other figure."""

    tried: Tried
    recall: Interval
    all_found: int
    refused: int
    tokens: Spread | None
    reuse: Interval | None
    """The share of a package that the call before left in a cache."""
    cost: Decimal | None
    seconds: Spread | None

    @property
    def cost_each(self) -> Decimal | None:
        """What one package costs."""
        answered = len(self.tried.answers) - self.refused
        return None if self.cost is None or not answered else self.cost / answered


@dataclass(frozen=True, slots=True)
class Difference:
    """How a profile differs from the first, question by question: each measure with its interval."""

    profile: str
    against: str
    measures: Mapping[str, Interval | None]


@dataclass(frozen=True, slots=True)
class Disagreement:
    """A question for which profiles found different sources."""

    asked: Asked
    found: Mapping[str, frozenset[int]]
    package_ids: Mapping[str, str | None]


def _reuse(answer: Answer) -> float | None:
    return None if answer.reused_tokens is None else answer.reused_tokens / answer.tokens


MEASURES: Final[Mapping[str, Callable[[Answer], float | None]]] = MappingProxyType(
    {
        "recall": lambda answer: answer.recall,
        "tokens": lambda answer: float(answer.tokens),
        "prefix_reuse": _reuse,
        "cost": lambda answer: None if answer.cost is None else float(answer.cost),
        "seconds": lambda answer: answer.seconds,
    }
)
"""What is compared of two answers to one question."""


def standings(evaluation: Evaluation) -> tuple[Standing, ...]:
    """Answer each profile's figures, in the order in which they were named."""
    return tuple(_standing(tried, evaluation.seed) for tried in evaluation.tried)


def differences(evaluation: Evaluation) -> tuple[Difference, ...]:
    """Answer how each further profile differs from the first."""
    first, *others = evaluation.tried
    return tuple(
        Difference(
            other.profile,
            first.profile,
            {name: bootstrap(list(_pairs(first, other, name)), seed=evaluation.seed) for name in MEASURES},
        )
        for other in others
    )


def disagreements(evaluation: Evaluation) -> tuple[Disagreement, ...]:
    """Answer the questions for which not all profiles found the same sources."""
    found: list[Disagreement] = []
    for number, asked in enumerate(evaluation.asked):
        answers = {tried.profile: tried.answers[number] for tried in evaluation.tried}
        sources = {profile: found_places(answer, asked) for profile, answer in answers.items()}
        if len(set(sources.values())) > 1:
            ids = {
                profile: None if isinstance(answer, Refused) else answer.package_id
                for profile, answer in answers.items()
            }
            found.append(Disagreement(asked, sources, ids))
    return tuple(found)


def found_places(answer: Answer | Refused, asked: Asked) -> frozenset[int]:
    """Answer the places of the expected sources that were found."""
    if isinstance(answer, Refused):
        return frozenset()
    return frozenset(place for place in range(len(asked.expected)) if place not in answer.missing)


def is_good_enough(evaluation: Evaluation, recall_min: float) -> bool:
    """Say whether every profile's mean recall reaches `recall_min`, and nothing was refused."""
    return all(
        standing.recall.mean >= recall_min and not standing.refused for standing in standings(evaluation)
    )


def _standing(tried: Tried, seed: int) -> Standing:
    answers = [answer for answer in tried.answers if isinstance(answer, Answer)]
    recalls = [0.0 if isinstance(answer, Refused) else answer.recall for answer in tried.answers]
    mean_recall = bootstrap(recalls, seed=seed)
    assert mean_recall is not None, "a file holds at least one question"
    costs = [answer.cost for answer in answers if answer.cost is not None]
    return Standing(
        tried=tried,
        recall=mean_recall,
        all_found=sum(not answer.missing for answer in answers),
        refused=len(tried.answers) - len(answers),
        tokens=spread([float(answer.tokens) for answer in answers]),
        reuse=bootstrap(_known(answers, "prefix_reuse"), seed=seed),
        cost=sum(costs, Decimal(0)) if costs else None,
        seconds=spread([answer.seconds for answer in answers]),
    )


def _known(answers: Sequence[Answer], measure: str) -> list[float]:
    values = (MEASURES[measure](answer) for answer in answers)
    return [value for value in values if value is not None]


def _pairs(first: Tried, other: Tried, measure: str) -> Iterator[float]:
    """Yield other less first for each question that has the figure under both."""
    for one, two in zip(first.answers, other.answers, strict=True):
        values = (_value(one, measure), _value(two, measure))
        if values[0] is not None and values[1] is not None:
            yield values[1] - values[0]


def _value(answer: Answer | Refused, measure: str) -> float | None:
    if isinstance(answer, Refused):
        return 0.0 if measure == "recall" else None
    return MEASURES[measure](answer)
