"""The report as tables for a person."""

from collections.abc import Sequence
from typing import Final

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from service.entry.evaluate.figures import money, percent, signed_interval, whole
from service.entry.evaluate.intervals import Interval
from service.entry.evaluate.model import Answer, Evaluation, Refused
from service.entry.evaluate.summary import (
    Difference,
    Disagreement,
    Standing,
    differences,
    disagreements,
    standings,
)

_ROWS_MAX: Final = 40
_NAMED_MAX: Final = 3
_NONE: Final = "-"


def print_report(console: Console, evaluation: Evaluation) -> None:
    """Print the profiles side by side, then where they disagree and what no profile finds."""
    stood, differ = standings(evaluation), differences(evaluation)
    console.print(_figures(evaluation, stood, differ))
    if differ:
        console.print(
            "In brackets: 95 of 100 resamples of the questions lie there. * excludes no difference."
        )
    disagree = disagreements(evaluation)
    if disagree:
        console.print(f"\n{len(disagree)} questions for which profiles found different sources:")
        console.print(_disagreements(disagree))
        _say_more(console, len(disagree))
    missed = [
        (number, asked)
        for number, asked in enumerate(evaluation.asked)
        if all(isinstance(one := tried.answers[number], Refused) or one.missing for tried in evaluation.tried)
    ]
    if missed:
        console.print(f"\n{len(missed)} questions for which no profile found everything:")
        for number, asked in missed[:_ROWS_MAX]:
            console.print(f"  {_plain(asked.name)}: {_plain(_why(evaluation, number))}")
        _say_more(console, len(missed))
    for note in notes(evaluation):
        console.print(f"\n{_plain(note)}")


def notes(evaluation: Evaluation) -> tuple[str, ...]:
    """Answer what a reader of the figures has to know, in sentences."""
    found: list[str] = []
    for tried in evaluation.tried:
        answers = [answer for answer in tried.answers if isinstance(answer, Answer)]
        refused = [answer for answer in tried.answers if isinstance(answer, Refused)]
        if refused:
            codes = ", ".join(sorted({answer.code for answer in refused}))
            found.append(
                f"{tried.profile}: {len(refused)} questions were refused ({codes}):"
                " they count as nothing found."
            )
        degraded = sum(bool(answer.degraded) for answer in answers)
        if degraded:
            found.append(f"{tried.profile}: search was down for {degraded} packages: measure again.")
        memories = sum(answer.holds_memories for answer in answers)
        if memories:
            found.append(
                f"{tried.profile}: {memories} packages hold memories, which counts as their use;"
                " a key that acts for nobody sees none of a person."
            )
    return tuple(found)


def _figures(evaluation: Evaluation, stood: Sequence[Standing], differ: Sequence[Difference]) -> Table:
    table = Table(box=None, pad_edge=False)
    table.add_column("", no_wrap=True)
    for standing in stood:
        table.add_column(_plain(standing.tried.profile), justify="right", overflow="fold")
    for one in differ:
        table.add_column(_plain(f"{one.profile} less {one.against}"), justify="right", overflow="fold")
    currency = evaluation.rates.currency if evaluation.rates is not None else ""
    count = len(evaluation.asked)
    table.add_row(
        "recall in budget",
        *(percent(one.recall.mean) for one in stood),
        *(_points(one.measures["recall"]) for one in differ),
    )
    table.add_row("all sources found", *(f"{one.all_found} of {count}" for one in stood))
    table.add_row(
        "tokens, mean",
        *(_NONE if one.tokens is None else whole(one.tokens.mean) for one in stood),
        *(_shown(one.measures["tokens"], 1, "+,.0f") for one in differ),
    )
    table.add_row(
        "prefix reuse",
        *(_NONE if one.reuse is None else percent(one.reuse.mean) for one in stood),
        *(_points(one.measures["prefix_reuse"]) for one in differ),
    )
    if evaluation.rates is not None:
        table.add_row(
            f"{currency} for 1,000 calls",
            *(_NONE if one.cost_each is None else money(one.cost_each * 1_000) for one in stood),
            *(_shown(one.measures["cost"], 1_000, "+,.2f") for one in differ),
        )
    table.add_row(
        "ms, median",
        *(_NONE if one.seconds is None else whole(one.seconds.median * 1_000) for one in stood),
        *(_shown(one.measures["seconds"], 1_000, "+,.1f") for one in differ),
    )
    table.add_row(
        "ms, 95 of 100 within",
        *(_NONE if one.seconds is None else whole(one.seconds.p95 * 1_000) for one in stood),
    )
    return table


def _points(interval: Interval | None) -> str:
    return _shown(interval, 100, "+.1f")


def _shown(interval: Interval | None, scale: float, form: str) -> str:
    if interval is None:
        return _NONE
    return escape(signed_interval(interval, scale, form)) + (" *" if interval.excludes_zero else "")


def _disagreements(disagree: Sequence[Disagreement]) -> Table:
    table = Table(box=None, pad_edge=False)
    table.add_column("question", overflow="fold")
    for profile in disagree[0].found:
        table.add_column(_plain(profile), justify="right")
    table.add_column("only some found", overflow="fold")
    for one in disagree[:_ROWS_MAX]:
        count = len(one.asked.expected)
        everywhere = frozenset.intersection(*one.found.values())
        some = frozenset.union(*one.found.values()) - everywhere
        named = _named([one.asked.expected[place].source for place in sorted(some)])
        table.add_row(
            _plain(one.asked.name),
            *(f"{len(places)} of {count}" for places in one.found.values()),
            _plain(named),
        )
    return table


def _why(evaluation: Evaluation, number: int) -> str:
    asked = evaluation.asked[number]
    parts = []
    for tried in evaluation.tried:
        answer = tried.answers[number]
        if isinstance(answer, Refused):
            parts.append(f"{tried.profile} {answer.code}")
            continue
        by_reason: dict[str, list[str]] = {}
        for place, reason in sorted(answer.missing.items()):
            by_reason.setdefault(reason, []).append(asked.expected[place].source)
        parts += [f"{tried.profile} {reason} {_named(sources)}" for reason, sources in by_reason.items()]
    return "; ".join(parts)


def _named(sources: Sequence[str]) -> str:
    more = len(sources) - _NAMED_MAX
    return ", ".join(sources[:_NAMED_MAX]) + (f" and {more} more" if more > 0 else "")


def _say_more(console: Console, count: int) -> None:
    if count > _ROWS_MAX:
        console.print(f"  and {count - _ROWS_MAX} more; --json has all")


def _plain(text: str) -> str:
    """Answer text that neither the terminal nor the table's markup takes for more than text."""
    return escape("".join(sign if sign.isprintable() else "\ufffd" for sign in text))
