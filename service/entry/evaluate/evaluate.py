"""Asks every question under every profile, and measures each answer as it comes."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from service.client import Problem
from service.entry.evaluate.ask import Asker
from service.entry.evaluate.measures import cost, missing_sources, recall, reused_tokens
from service.entry.evaluate.model import Answer, Asked, Block, Package, Rates, Refused, Tried

_ASKED_WRONGLY: Final = frozenset(
    {"profile_unknown", "purpose_unknown", "encoding_unknown", "model_unknown", "request_inconsistent"}
)
_NOT_ALLOWED: Final = frozenset({"unauthenticated", "forbidden"})


class EvaluationStopped(Exception):
    """Nothing can be evaluated like this: `is_usage` says that the command was called wrongly."""

    def __init__(self, sentence: str, *, is_usage: bool) -> None:
        super().__init__(sentence)
        self.is_usage = is_usage


def evaluate(
    asked: Sequence[Asked],
    profiles: Sequence[str],
    asker: Asker,
    *,
    rates: Rates | None,
    answered: Callable[[], None],
) -> tuple[Tried, ...]:
    """Answer what each profile gave. `answered` is told after each package.

    Every other question begins with the last profile, so that a service that grows warmer or busier favours
    none. Raises `EvaluationStopped` for what no question could be answered with, and httpx's errors.
    """
    runs = [_Run(profile, asker, rates) for profile in profiles]
    for number, one in enumerate(asked):
        for run in runs if number % 2 == 0 else runs[::-1]:
            run.ask(one)
            answered()
    return tuple(run.tried() for run in runs)


@dataclass(slots=True)
class _Versions:
    """Under what packages were built: an evaluation over two policies compares nothing."""

    profile: str = ""
    policy: str = ""


class _Run:
    """One profile's answers so far, and the text that its last call left in a provider's cache."""

    def __init__(self, profile: str, asker: Asker, rates: Rates | None) -> None:
        self._profile = profile
        self._asker = asker
        self._rates = rates
        self._answers: list[Answer | Refused] = []
        self._before: tuple[Block, ...] | None = None
        self._versions = _Versions()

    def ask(self, asked: Asked) -> None:
        """Ask one question and keep its answer."""
        try:
            package, seconds = self._asker.build(asked, self._profile)
        except Problem as problem:
            self._answers.append(self._refused(problem, asked))
            return
        self._check_versions(package)
        self._answers.append(self._measure(asked, package, seconds))
        self._before = package.blocks

    def tried(self) -> Tried:
        """Answer all that was answered."""
        return Tried(self._profile, self._versions.profile, self._versions.policy, tuple(self._answers))

    def _measure(self, asked: Asked, package: Package, seconds: float) -> Answer:
        missing = missing_sources(asked.expected, package.shown, package.omitted, {})
        if any(not asked.expected[place].is_id for place in missing):
            # Only now is it worth asking which uri stands behind what was left out.
            uris = self._asker.ids_by_uri(package)
            missing = missing_sources(asked.expected, package.shown, package.omitted, uris)
        reused = None if self._before is None else reused_tokens(self._before, package.blocks)
        return Answer(
            package_id=package.id,
            recall=recall(len(asked.expected), len(missing)),
            missing=missing,
            tokens=package.tokens,
            reused_tokens=reused,
            cost=None if self._rates is None else cost(package.tokens, reused or 0, self._rates),
            seconds=seconds,
            degraded=package.degraded,
            holds_memories=package.holds_memories,
        )

    def _check_versions(self, package: Package) -> None:
        found = _Versions(package.profile_version, package.policy_version)
        if self._versions == _Versions():
            self._versions = found
        elif self._versions != found:
            sentence = (
                "Another policy was activated meanwhile: what came before cannot be compared. Start anew."
            )
            raise EvaluationStopped(sentence, is_usage=False)

    def _refused(self, problem: Problem, asked: Asked) -> Refused:
        if problem.code in _NOT_ALLOWED:
            sentence = f"The service refuses this credential ({problem.code})."
            raise EvaluationStopped(sentence, is_usage=False) from None
        if problem.code in _ASKED_WRONGLY:
            sentence = f"Profile {self._profile}, line {asked.line}: {problem.code}: {problem.detail}"
            raise EvaluationStopped(sentence, is_usage=True) from None
        return Refused(problem.code, problem.detail)
