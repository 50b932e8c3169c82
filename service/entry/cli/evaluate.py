"""`muniment evaluate`: a user's own questions, and what each context profile finds for them."""

import json
import sys
from pathlib import Path
from typing import Annotated, Final, Self

import httpx
import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from service.client import Muniment, Problem
from service.entry.cli.output import AsJson, note
from service.entry.evaluate.ask import Asker
from service.entry.evaluate.evaluate import EvaluationStopped
from service.entry.evaluate.evaluate import evaluate as run_evaluation
from service.entry.evaluate.model import Evaluation, Rates, Tried
from service.entry.evaluate.prepare import Overrides, Prepared, prepare, rates_of
from service.entry.evaluate.questions import Prices
from service.entry.evaluate.read_questions import QuestionsInvalid, read_questions
from service.entry.evaluate.report_json import report_fields
from service.entry.evaluate.report_page import report_page
from service.entry.evaluate.report_table import print_report
from service.entry.evaluate.summary import is_good_enough
from service.wire.packages import TOKENS_MAX

_USAGE: Final = 2
_PROFILES_MAX: Final = 6
_DEFAULT_PROFILE: Final = "default"


def evaluate(
    file: Annotated[Path, typer.Argument(help="Questions with their expected sources: YAML or JSON Lines.")],
    *,
    token: Annotated[
        str, typer.Option(envvar="MUNIMENT_TOKEN", help="An API key.", show_envvar=True, show_default=False)
    ],
    profile: Annotated[
        list[str] | None, typer.Option("--profile", help="A context profile; may be repeated.")
    ] = None,
    url: Annotated[str, typer.Option(help="Where the service is.")] = "http://127.0.0.1:8080",
    project: Annotated[str | None, typer.Option(help="For questions that name none.")] = None,
    purpose: Annotated[str | None, typer.Option(help="For questions that name none.")] = None,
    max_tokens: Annotated[
        int | None, typer.Option("--max-tokens", min=0, max=TOKENS_MAX, help="In place of the file's.")
    ] = None,
    price: Annotated[
        str | None, typer.Option("--price", help="What a million tokens cost; in place of the file's.")
    ] = None,
    cached_price: Annotated[
        str | None, typer.Option("--cached-price", help="The same for tokens from the provider's cache.")
    ] = None,
    currency: Annotated[str, typer.Option("--currency", help="What --price is in.")] = "USD",
    seed: Annotated[int, typer.Option("--seed", min=0, help="Draws the same resamples again.")] = 0,
    min_recall: Annotated[
        float, typer.Option("--min-recall", min=0, max=1, help="Exit 1 where a profile finds less than that.")
    ] = 0.0,
    page: Annotated[
        Path | None, typer.Option("--page", dir_okay=False, help="Write a page with plots there.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Ask your own questions under each profile; report recall in budget, tokens, prefix reuse and cost.

    Exit code 0 when every question was answered and recall reaches --min-recall, 1 when not or when the
    service does not answer, 2 when the file or the call cannot be used.
    """
    profiles = _profiles(profile)
    rates = _rates(price, cached_price, currency)
    prepared = _prepare(file, Overrides(project, purpose, max_tokens, rates))
    if page is not None and not page.absolute().parent.is_dir():
        note(f"{page}: there is no such folder")
        raise typer.Exit(_USAGE)
    tried = _ask(file, prepared, profiles, url=url, token=token)
    evaluation = Evaluation(file.name, prepared.budget, prepared.rates, seed, prepared.asked, tried)
    if page is not None:
        page.write_text(report_page(evaluation), encoding="utf-8")
    if as_json:
        fields = report_fields(evaluation, recall_min=min_recall)
        sys.stdout.write(json.dumps(fields, ensure_ascii=False, indent=2) + "\n")
    else:
        print_report(Console(highlight=False), evaluation)
    raise typer.Exit(0 if is_good_enough(evaluation, min_recall) else 1)


def _ask(
    file: Path, prepared: Prepared, profiles: tuple[str, ...], *, url: str, token: str
) -> tuple[Tried, ...]:
    with Muniment(url, token) as client, _Shown(len(prepared.asked) * len(profiles)) as shown:
        asker = Asker(client, prepared.budget)
        try:
            return run_evaluation(
                prepared.asked, profiles, asker, rates=prepared.rates, answered=shown.answered
            )
        except EvaluationStopped as stopped:
            note(f"{file}: {stopped}")
            raise typer.Exit(_USAGE if stopped.is_usage else 1) from None
        except Problem as problem:
            note(f"The service refuses: {problem.code}: {problem.detail}")
            raise typer.Exit(1) from None
        except httpx.TransportError as failure:
            note(f"The service does not answer: {type(failure).__name__}")
            raise typer.Exit(1) from None


def _profiles(named: list[str] | None) -> tuple[str, ...]:
    profiles = tuple(dict.fromkeys(named or [_DEFAULT_PROFILE]))
    if len(profiles) > _PROFILES_MAX:
        note(f"at most {_PROFILES_MAX} profiles are compared at once")
        raise typer.Exit(_USAGE)
    return profiles


def _rates(price: str | None, cached_price: str | None, currency: str) -> Rates | None:
    if price is None:
        if cached_price is not None:
            note("--cached-price needs --price")
            raise typer.Exit(_USAGE)
        return None
    try:
        # As the file's are read: the same bounds, the same currency codes.
        fields = {"per_million": price, "cached_per_million": cached_price, "currency": currency}
        prices = Prices.model_validate(fields)
    except ValueError:
        note("a price is a decimal such as 2.50, a currency three capitals such as USD")
        raise typer.Exit(_USAGE) from None
    return rates_of(prices)


def _prepare(file: Path, overrides: Overrides) -> Prepared:
    try:
        return prepare(file, read_questions(file), overrides)
    except QuestionsInvalid as fault:
        for finding in fault.findings:
            note(str(finding))
        raise typer.Exit(_USAGE) from None


class _Shown:
    """Progress as a bar on standard error, where somebody watches."""

    def __init__(self, packages: int) -> None:
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        self._bar = Progress(
            *columns, console=Console(stderr=True), disable=not sys.stderr.isatty(), transient=True
        )
        self._task = self._bar.add_task("Asking", total=packages)

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self._bar.stop()

    def answered(self) -> None:
        """One package came."""
        self._bar.advance(self._task)
