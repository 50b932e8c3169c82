"""Chooses where to interrupt, from an uninterrupted run's calls, the manifest and the seed. Pure."""

import random
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Final

from service.entry.rehearse.manifest import Interruptions
from service.entry.rehearse.model import ActKind, Call, Channel, Interruption, KillPoint, Moment

_MOMENTS: Final = (Moment.BEFORE, Moment.AFTER)
_PAUSE_SECONDS_MIN: Final = 0.05
"""Shorter pauses are no thinking, and a kill in them would hit a call as likely as not."""
_PAUSE_SHARE: Final = (0.2, 0.8)
_OUTSIDE: Final = frozenset({ActKind.INTENT, ActKind.SETTLEMENT, ActKind.ORDER})


def plan_interruptions(
    calls: Sequence[Call], rule: Interruptions, *, seed: int, scenario: str
) -> tuple[Interruption, ...]:
    """Answer the interruptions to try, each once: chosen ones, then by call, in thought, at random.

    The same calls, rule, seed and scenario give the same plan.
    """
    # A text as seed: independent of the process's hash secret, and of the other scenarios.
    chance = random.Random(f"{seed}/{scenario}")  # noqa: S311 - for repetition, not for secrets
    placed = tuple(_place(calls))
    planned = [
        *_chosen(rule),
        *_by_call(placed, rule, chance),
        *_thinking(placed, rule, chance),
        *_random(placed, rule, chance),
    ]
    return tuple(dict.fromkeys(planned))


Placed = tuple[Call, int]
"""A call and which one of its pattern it is, from 1."""


def _place(calls: Iterable[Call]) -> Iterator[Placed]:
    seen: Counter[str] = Counter()
    for call in calls:
        seen[call.pattern] += 1
        yield call, seen[call.pattern]


def _chosen(rule: Interruptions) -> Iterator[Interruption]:
    for chosen in rule.chosen:
        yield Interruption(
            tuple(
                KillPoint(kill.moment, kill.call, kill.occurrence, kill.delay_seconds)
                for kill in chosen.kills
            )
        )


def _by_call(placed: Sequence[Placed], rule: Interruptions, chance: random.Random) -> list[Interruption]:
    last = {call.pattern: occurrence for call, occurrence in placed}
    points = [
        (call, KillPoint(moment, call.pattern, occurrence))
        for call, occurrence in placed
        if rule.calls == "all" or (rule.calls == "routes" and occurrence in (1, last[call.pattern]))
        for moment in rule.moments
    ]
    if len(points) > rule.calls_max:
        order = list(range(len(points)))
        chance.shuffle(order)
        order.sort(key=lambda index: not _acts_outside(points[index][0]))
        points = [points[index] for index in sorted(order[: rule.calls_max])]
    return [Interruption((point,)) for _, point in points]


def _acts_outside(call: Call) -> bool:
    return call.channel is Channel.DOWNSTREAM or (call.act is not None and call.act.kind in _OUTSIDE)


def _thinking(placed: Sequence[Placed], rule: Interruptions, chance: random.Random) -> list[Interruption]:
    pauses = [
        (following.started_seconds - call.ended_seconds, call, occurrence)
        for (call, occurrence), (following, _) in pairwise(placed)
    ]
    longest = sorted(
        (pause for pause in pauses if pause[0] >= _PAUSE_SECONDS_MIN),
        key=lambda pause: (-pause[0], pause[1].number),
    )
    return [
        Interruption(
            (
                KillPoint(
                    Moment.THINKING,
                    call.pattern,
                    occurrence,
                    round(seconds * chance.uniform(*_PAUSE_SHARE), 3),
                ),
            )
        )
        for seconds, call, occurrence in longest[: rule.thinking]
    ]


def _random(placed: Sequence[Placed], rule: Interruptions, chance: random.Random) -> list[Interruption]:
    return [_drawn(placed, rule, chance) for _ in range(rule.random if placed else 0)]


def _drawn(placed: Sequence[Placed], rule: Interruptions, chance: random.Random) -> Interruption:
    place = chance.randrange(len(placed))
    call, occurrence = placed[place]
    kills = [KillPoint(chance.choice(_MOMENTS), call.pattern, occurrence)]
    for _ in range(chance.randrange(rule.random_kills)):
        # What was done before the last kill should not come again: a place there would not be reached.
        place = chance.randrange(place, len(placed))
        kills.append(KillPoint(chance.choice(_MOMENTS), placed[place][0].pattern))
    return Interruption(tuple(kills))
