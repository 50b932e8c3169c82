"""The drawings of the report: recall, tokens, every question, differences, time. Pure."""

from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Final

from service.entry.evaluate.figures import money, percent, signed_interval, whole
from service.entry.evaluate.intervals import Interval
from service.entry.evaluate.model import Answer, Evaluation, Refused
from service.entry.evaluate.page_marks import LEFT, RIGHT, ROW, axis, bar, label, line, mark, note, scale
from service.entry.evaluate.page_parts import figure, plain, table, text
from service.entry.evaluate.page_style import COLOURS
from service.entry.evaluate.summary import Difference, Standing

_CELLS_MAX: Final = 270
"""More questions than this share a cell with their neighbours: narrower ones could not be seen."""
_STEPS_MAX: Final = 200
_ROOM_FOR_WORDS: Final = 1.6


def plot_recall(stood: Sequence[Standing]) -> str:
    """Draw each profile's mean recall with its interval."""
    place, bottom = scale(1.0), 10 + ROW * len(stood)
    ticks = [(place(tenth / 4), f"{tenth * 25} %") for tenth in range(5)]
    parts = [axis(ticks, 4, bottom)]
    for number, one in enumerate(stood):
        y = 10 + ROW * (number + 0.5)
        parts.append(label(one.tried.profile, y))
        if one.recall.low is not None and one.recall.high is not None:
            parts.append(line(number, place(one.recall.low), place(one.recall.high), y))
        parts.append(mark(number, place(one.recall.mean), y))
    rows = [
        [text(one.tried.profile), percent(one.recall.mean), _range(one.recall), str(one.all_found)]
        for one in stood
    ]
    most = max(one.recall.mean for one in stood)
    best = " and ".join(one.tried.profile for one in stood if one.recall.mean == most)
    says = (
        f"The most, {percent(most)} of the expected sources, stand in the packages of {best}. The lines"
        " show where 95 of 100 resamples of the questions lie."
    )
    numbers = table("Recall in budget", ["profile", "mean", "interval", "all found"], rows)
    return figure("recall", "Recall in budget", says, "".join(parts), height=bottom + 24, numbers=numbers)


def plot_tokens(stood: Sequence[Standing], evaluation: Evaluation) -> str:
    """Draw the tokens of a mean package: what a cache has, and what is sent anew."""
    means = [one.tokens.mean if one.tokens is not None else 0.0 for one in stood]
    place, bottom = scale(max([*means, 1.0]) * _ROOM_FOR_WORDS), 10 + ROW * len(stood)
    parts = [axis([(LEFT, "0")], 4, bottom)]
    rows = []
    for number, (one, mean) in enumerate(zip(stood, means, strict=True)):
        y = 10 + ROW * (number + 0.5)
        reused = _mean_reused(one)
        parts += [
            label(one.tried.profile, y),
            bar(number, LEFT, place(reused), y, pale=True),
            bar(number, place(reused), place(mean), y),
            note(f"{whole(mean)}{_price(one, evaluation)}", place(mean) + 6, y + 4),
        ]
        price = "-" if one.cost_each is None else money(one.cost_each * Decimal(1_000))
        rows.append([text(one.tried.profile), whole(mean), whole(reused), whole(mean - reused), price])
    says = (
        "Tokens of a mean package. The pale part was the same at the start of the call before, so that a"
        " provider's cache has it; the rest is read anew."
    )
    currency = evaluation.rates.currency if evaluation.rates is not None else "price"
    heads = ["profile", "tokens", "from the cache", "anew", f"{currency} for 1,000 calls"]
    numbers = table("Tokens and prefix reuse", heads, rows)
    return figure(
        "tokens", "Tokens and prefix reuse", says, "".join(parts), height=bottom + 24, numbers=numbers
    )


def plot_questions(evaluation: Evaluation) -> str:
    """Draw every question as a cell for each profile, filled as far as its sources were found."""
    count = len(evaluation.asked)
    share = -(-count // _CELLS_MAX)
    cells = -(-count // share)
    width = (RIGHT - LEFT) / cells
    bottom = 10 + ROW * len(evaluation.tried)
    parts = []
    for number, tried in enumerate(evaluation.tried):
        y = 10 + ROW * number + 4
        parts.append(label(tried.profile, y + 13))
        for cell in range(cells):
            few = tried.answers[cell * share : (cell + 1) * share]
            parts.append(_cell(number, LEFT + cell * width, y, width, few))
    parts += [
        note("question 1", LEFT, bottom + 16),
        note(f"question {count}", RIGHT, bottom + 16, anchor="end"),
    ]
    together = f" Each cell holds {share} questions." if share > 1 else ""
    says = (
        "One cell for each question, in the order of the file: full where all of its sources are in the"
        f" package, empty where none is, crossed out where the service refused.{together}"
    )
    rows = [
        [
            text(asked.name),
            text(asked.question),
            *(_share_of(tried.answers[place]) for tried in evaluation.tried),
        ]
        for place, asked in enumerate(evaluation.asked)
    ]
    heads = ["number", "question", *(text(tried.profile) for tried in evaluation.tried)]
    numbers = table("Recall of each question", heads, rows, words=(1,))
    return figure("questions", "Every question", says, "".join(parts), height=bottom + 24, numbers=numbers)


def plot_differences(differ: Sequence[Difference], currency: str) -> str:
    """Draw how each further profile differs from the first, each measure on its own scale around zero."""
    names = (
        ("recall", "recall, points", 100.0, "+.1f"),
        ("tokens", "tokens", 1.0, "+,.0f"),
        ("prefix_reuse", "reuse, points", 100.0, "+.1f"),
        ("cost", f"{currency} for 1,000", 1_000.0, "+,.2f"),
        ("seconds", "milliseconds", 1_000.0, "+,.1f"),
    )
    parts: list[str] = []
    rows: list[list[str]] = []
    y = 0.0
    for number, one in enumerate(differ, start=1):
        y += ROW * 0.8
        parts.append(note(f"{one.profile} less {one.against}", LEFT, y + 4))
        for key, name, times, form in names:
            interval = one.measures[key]
            if interval is None:
                continue
            y += ROW
            said = signed_interval(interval, times, form)
            parts += [label(name, y), _around_zero(number, interval, y, said)]
            holds = "more than chance" if interval.excludes_zero else "may be chance"
            rows.append([text(one.profile), plain(name), said, str(interval.count), holds])
    says = (
        "Question by question, with the interval that 95 of 100 resamples lie in; each measure has its own"
        " scale. What does not touch the dashed line is more than chance in the choice of questions."
    )
    numbers = table(
        "Differences to the first profile", ["profile", "measure", "mean", "questions", "is"], rows
    )
    return figure(
        "differences",
        "Differences to the first profile",
        says,
        "".join(parts),
        height=round(y + 24),
        numbers=numbers,
    )


def plot_seconds(stood: Sequence[Standing]) -> str:
    """Draw how many packages came within how many milliseconds."""
    times = [
        sorted(1_000 * answer.seconds for answer in one.tried.answers if isinstance(answer, Answer))
        for one in stood
    ]
    # One slow answer would press all others against the edge.
    longest = 1_300 * max((one.seconds.p95 for one in stood if one.seconds is not None), default=0.001)
    place, top, bottom = scale(longest), 10, 190
    ticks = [(place(longest * part / 4), f"{longest * part / 4:,.0f} ms") for part in range(5)]
    parts = [axis(ticks, top, bottom)]
    for number, values in enumerate(times):
        if values:
            parts.append(_steps(number, values, place, top, bottom))
        y = bottom + 44 + 20 * number
        parts += [
            f'<line class="l{number % COLOURS}" x1="{LEFT}" x2="{LEFT + 40}" y1="{y}" y2="{y}"/>\n',
            note(stood[number].tried.profile, LEFT + 50, y + 4),
        ]
    parts += [note("100 %", LEFT - 8, top + 8, anchor="end"), note("0 %", LEFT - 8, bottom, anchor="end")]
    rows = [
        [
            text(one.tried.profile),
            *(["-", "-", "-"] if one.seconds is None else _milliseconds(one)),
        ]
        for one in stood
    ]
    says = (
        "Share of the packages that came within so many milliseconds, measured at this end of the connection."
    )
    numbers = table("Milliseconds", ["profile", "median", "95 of 100 within", "longest"], rows)
    height = bottom + 44 + 20 * len(stood)
    return figure("seconds", "Time to a package", says, "".join(parts), height=height, numbers=numbers)


def _cell(number: int, x: float, y: float, width: float, few: Sequence[Answer | Refused]) -> str:
    recalls = [answer.recall for answer in few if isinstance(answer, Answer)]
    frame = f'x="{x:.2f}" y="{y}" width="{max(width - 0.6, 0.6):.2f}"'
    if not recalls:
        return (
            f'<rect class="refused" {frame} height="26"/>'
            f'<line class="refused" x1="{x:.2f}" x2="{x + width - 0.6:.2f}" y1="{y}" y2="{y + 26}"/>\n'
        )
    height = 26 * sum(recalls) / len(few)
    filled = f'<rect class="f{number % COLOURS}" x="{x:.2f}" y="{y + 26 - height:.1f}"'
    return (
        f'<rect class="cell" {frame} height="26"/>'
        f'{filled} width="{max(width - 0.6, 0.6):.2f}" height="{height:.1f}"/>\n'
    )


def _around_zero(number: int, interval: Interval, y: float, said: str) -> str:
    values = [value for value in (interval.low, interval.high, interval.mean) if value is not None]
    reach = max(map(abs, values)) or 1.0
    place = scale(reach * 1.7, -reach * 1.1)
    zero = place(0.0)
    parts = [f'<line class="zero" x1="{zero}" x2="{zero}" y1="{y - 14:.1f}" y2="{y + 14:.1f}"/>\n']
    if interval.low is not None and interval.high is not None:
        parts.append(line(number, place(interval.low), place(interval.high), y))
    parts += [mark(number, place(interval.mean), y), note(said, RIGHT, y + 4, anchor="end")]
    return "".join(parts)


def _steps(
    number: int, values: Sequence[float], place: Callable[[float], float], top: float, bottom: float
) -> str:
    every = max(1, len(values) // _STEPS_MAX)
    points = [f"{place(values[0])},{bottom}"]
    for rank in [*range(0, len(values), every), len(values) - 1]:
        share = (rank + 1) / len(values)
        points.append(f"{min(place(values[rank]), RIGHT)},{bottom - share * (bottom - top):.1f}")
    return f'<polyline class="l{number % COLOURS}" points="{" ".join(points)}"/>\n'


def _mean_reused(standing: Standing) -> float:
    reused = [answer.reused_tokens or 0 for answer in standing.tried.answers if isinstance(answer, Answer)]
    return sum(reused) / len(reused) if reused else 0.0


def _price(standing: Standing, evaluation: Evaluation) -> str:
    if standing.cost_each is None or evaluation.rates is None:
        return ""
    return f", {money(standing.cost_each * Decimal(1_000))} {evaluation.rates.currency} for 1,000"


def _range(interval: Interval) -> str:
    if interval.low is None or interval.high is None:
        return "-"
    return f"{percent(interval.low)} to {percent(interval.high)}"


def _share_of(answer: Answer | Refused) -> str:
    return f"refused: {plain(answer.code)}" if isinstance(answer, Refused) else percent(answer.recall)


def _milliseconds(standing: Standing) -> list[str]:
    assert standing.seconds is not None
    found = standing.seconds
    return [whole(value * 1_000) for value in (found.median, found.p95, found.highest)]
