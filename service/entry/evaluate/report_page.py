"""The report as one page that needs nothing else: no script, no network, no font of its own. Pure."""

import base64
import hashlib
from collections.abc import Sequence
from typing import Final

from service.entry.evaluate.figures import money, percent, whole
from service.entry.evaluate.model import Evaluation, Refused
from service.entry.evaluate.page_parts import plain, table, text
from service.entry.evaluate.page_plots import (
    plot_differences,
    plot_questions,
    plot_recall,
    plot_seconds,
    plot_tokens,
)
from service.entry.evaluate.page_style import STYLE
from service.entry.evaluate.report_table import notes
from service.entry.evaluate.summary import (
    Disagreement,
    Standing,
    differences,
    disagreements,
    standings,
)

_HEAD: Final = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src '{style_hash}'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>Evaluation of {title}</title>
<style>{style}</style>
</head>
<body>
<main>
"""


def report_page(evaluation: Evaluation) -> str:
    """Answer the page. What users wrote is text on it, whatever it holds."""
    stood, differ = standings(evaluation), differences(evaluation)
    currency = evaluation.rates.currency if evaluation.rates is not None else ""
    digest = base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()
    return "".join(
        [
            _HEAD.format(style_hash=f"sha256-{digest}", title=plain(evaluation.file), style=STYLE),
            _intro(evaluation),
            _figures(stood, currency),
            "<h2>Plots</h2>\n",
            plot_recall(stood),
            plot_differences(differ, currency) if differ else "",
            plot_questions(evaluation),
            plot_tokens(stood, evaluation),
            plot_seconds(stood),
            _disagreements(disagreements(evaluation)),
            _missed(evaluation),
            _notes(evaluation),
            "</main>\n</body>\n</html>\n",
        ]
    )


def _intro(evaluation: Evaluation) -> str:
    budget, rates = evaluation.budget, evaluation.rates
    count = len(evaluation.asked)
    price = (
        ""
        if rates is None
        else f" A million tokens cost {rates.per_million:f} {rates.currency}, from the cache"
        f" {rates.cached_per_million:f}."
    )
    counted = budget.encoding or (f"the model {budget.model}" if budget.model else "o200k_base")
    profiles = ", ".join(text(tried.profile) for tried in evaluation.tried)
    return (
        f"<h1>Evaluation of {text(evaluation.file)}</h1>\n"
        f"<p>{count} question{'' if count == 1 else 's'} with expected sources; profiles: {profiles}."
        f" Each package may take {budget.max_tokens:,} tokens less {budget.reply_reserve:,} for the reply,"
        f" counted for {text(counted)}.{plain(price)}</p>\n"
    )


def _figures(stood: Sequence[Standing], currency: str) -> str:
    rows = [
        [
            text(one.tried.profile),
            percent(one.recall.mean),
            str(one.all_found),
            "-" if one.tokens is None else whole(one.tokens.mean),
            "-" if one.reuse is None else percent(one.reuse.mean),
            "-" if one.cost_each is None else money(one.cost_each * 1_000),
            "-" if one.seconds is None else whole(one.seconds.median * 1_000),
            str(one.refused),
        ]
        for one in stood
    ]
    heads = [
        "profile", "recall in budget", "all found", "tokens, mean", "prefix reuse",
        f"{currency or 'price'} for 1,000 calls", "ms, median", "refused",
    ]  # fmt: skip
    return table("The profiles side by side", heads, rows)


def _disagreements(found: Sequence[Disagreement]) -> str:
    if not found:
        return "<h2>Where profiles disagree</h2>\n<p>All found the same sources for every question.</p>\n"
    profiles = list(found[0].found)
    rows = [
        [
            text(one.asked.name),
            text(one.asked.question),
            *(_sources(one, profile) for profile in profiles),
        ]
        for one in found
    ]
    heads = ["number", "question", *(f"found by {text(profile)}" for profile in profiles)]
    words = tuple(range(1, len(heads)))
    return (
        "<h2>Where profiles disagree</h2>\n"
        "<p>The ids are those of the packages: <code>GET /v1/context-packages/ID</code> explains one,"
        " <code>…/ID/diff/OTHER</code> compares two.</p>\n"
        + table(f"{len(found)} questions for which not all found the same", heads, rows, words=words)
    )


def _sources(one: Disagreement, profile: str) -> str:
    sources = [one.asked.expected[place].source for place in sorted(one.found[profile])]
    named = "<br>".join(text(source) for source in sources) or "nothing"
    package_id = one.package_ids[profile]
    where = "refused" if package_id is None else f"<code>{plain(package_id)}</code>"
    return f"{named}<br>{where}"


def _missed(evaluation: Evaluation) -> str:
    rows = []
    for number, asked in enumerate(evaluation.asked):
        answers = [tried.answers[number] for tried in evaluation.tried]
        if all(isinstance(answer, Refused) or answer.missing for answer in answers):
            whys = [
                plain(answer.code)
                if isinstance(answer, Refused)
                else "<br>".join(
                    f"{text(asked.expected[place].source)}: {plain(reason)}"
                    for place, reason in sorted(answer.missing.items())
                )
                for answer in answers
            ]
            rows.append([text(asked.name), text(asked.question), *whys])
    if not rows:
        return ""
    heads = ["number", "question", *(f"missing for {text(tried.profile)}" for tried in evaluation.tried)]
    caption = f"{len(rows)} questions for which no profile found everything, and why"
    return f"<h2>What none found</h2>\n{table(caption, heads, rows, words=tuple(range(1, len(heads))))}"


def _notes(evaluation: Evaluation) -> str:
    said = "".join(f"<li>{plain(note)}</li>\n" for note in notes(evaluation))
    versions = "".join(
        f"<li>{text(tried.profile)}: profile <code>{plain(tried.profile_version)}</code>, policy"
        f" <code>{plain(tried.policy_version)}</code></li>\n"
        for tried in evaluation.tried
    )
    return f"<h2>Notes</h2>\n<ul>\n{said}{versions}</ul>\n"
