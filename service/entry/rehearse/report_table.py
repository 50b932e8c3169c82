"""The report as tables for a person, readable in 80 columns."""

from collections.abc import Iterable, Sequence
from statistics import median

from rich.console import Console
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from service.entry.rehearse.model import Baseline, Code, Rehearsed, Verdict
from service.entry.rehearse.summary import Share, Tally, name_for, share, shares, slices, tally

_DETAILS_MAX = 40


def print_report(console: Console, rehearsed: Rehearsed) -> None:
    """Print what passed and what was found, by scenario, then added up."""
    tallies = tally(rehearsed.trials)
    for baseline in rehearsed.baselines:
        own = [one for one in tallies if (one.profile, one.scenario) == (baseline.profile, baseline.scenario)]
        name = name_for(baseline.scenario, baseline.profile)
        console.rule(f"[bold]{_plain(name)}")
        _print_baseline(console, baseline)
        if own:
            console.print(_interruptions(own))
    _print_details(console, tallies)
    if tallies:
        console.rule("[bold]Together")
        groups = [
            *shares(tallies, lambda one: [f"profile {one.profile}"] if one.profile else []),
            *shares(tallies, lambda one: [name_for(one.scenario, one.profile)]),
            *slices(rehearsed),
            share("everything", tallies),
        ]
        console.print(_shares(groups))
    _print_end(console, rehearsed, tallies)


def _print_baseline(console: Console, baseline: Baseline) -> None:
    if baseline.runs:
        calls = median(len(run.calls) for run in baseline.runs)
        seconds = median(run.seconds for run in baseline.runs)
        console.print(f"uninterrupted: {len(baseline.runs)} runs, {calls:g} calls, {seconds:.1f} s")
    for finding in baseline.findings:
        console.print(f"  [red]{finding.code}[/]: {_plain(finding.message)}")
    for fault in baseline.faults:
        console.print(f"  [yellow]{_plain(fault.code)}[/]: {_plain(fault.message)}")
    if not baseline.is_fit:
        for run in baseline.runs:
            if run.said:
                console.print(Text(_printable(run.said), style="dim"))
        console.print("Nothing was interrupted: there is nothing to hold interrupted runs against.")


def _interruptions(tallies: Sequence[Tally]) -> Table:
    table = Table(box=None, pad_edge=False)
    table.add_column("killed", overflow="fold", ratio=5)
    table.add_column("passed", justify="right", no_wrap=True)
    table.add_column("found", overflow="fold", ratio=4)
    for one in tallies:
        found = [f"{code}" + (f" x{count}" if count > 1 else "") for code, count in sorted(one.codes.items())]
        if one.not_reached:
            found.append(f"not reached x{one.not_reached}")
        if one.infrastructure:
            found.append(f"infrastructure x{one.infrastructure}")
        style = "green" if one.passed == one.judged and one.judged else "red" if one.codes else "yellow"
        table.add_row(
            _plain(str(one.interruption)),
            Text(f"{one.passed}/{one.judged}", style=style),
            _plain(", ".join(found)),
        )
    return table


def _print_details(console: Console, tallies: Sequence[Tally]) -> None:
    failed = [one for one in tallies if one.codes]
    if failed:
        console.rule("[bold]What was found")
    for one in failed[:_DETAILS_MAX]:
        console.print(_plain(f"{name_for(one.scenario, one.profile)}, {one.interruption}"))
        for finding in dict.fromkeys(found for trial in one.trials for found in trial.findings):
            console.print(f"  [red]{finding.code}[/]: {_plain(finding.message)}")
    if len(failed) > _DETAILS_MAX:
        console.print(f"and {len(failed) - _DETAILS_MAX} more; --json has all")
    faults = dict.fromkeys(fault for one in tallies for trial in one.trials for fault in trial.faults)
    if faults:
        console.rule("[bold]Failures of the rehearsal itself")
    for fault in list(faults)[:_DETAILS_MAX]:
        console.print(f"[yellow]{_plain(fault.code)}[/]: {_plain(fault.message)}")


def _shares(groups: Iterable[Share]) -> Table:
    table = Table(box=None, pad_edge=False)
    table.add_column("", overflow="fold")
    for heading in ("passed", "rate", "pass^k", "+seconds", "+calls", "+cost"):
        table.add_column(heading, justify="right", no_wrap=True)
    for one in groups:
        table.add_row(
            _plain(one.name),
            f"{one.passed}/{one.judged}",
            "-" if one.rate is None else f"{one.rate:.0%}",
            "-" if not one.pass_all else f"{one.pass_all[-1]:.0%} (k={len(one.pass_all)})",
            _signed(one.added_seconds, ".1f"),
            _signed(one.added_calls, "g"),
            "-" if one.added_cost is None else f"{one.added_cost:+f}",
        )
    return table


def _signed(value: float | None, form: str) -> str:
    return "-" if value is None else f"{value:+{form}}"


def _print_end(console: Console, rehearsed: Rehearsed, tallies: Sequence[Tally]) -> None:
    whole = share("", tallies)
    named = ", ".join(f"{code} x{whole.codes[code]}" for code in Code if whole.codes[code])
    unfit = sum(not one.is_fit for one in rehearsed.baselines)
    failed = sum(trial.verdict is Verdict.FAILED for trial in rehearsed.trials)
    console.print(
        f"\n{whole.passed} of {whole.judged} judged trials passed, {failed} failed,"
        f" {whole.not_reached} not reached, {whole.infrastructure} infrastructure;"
        f" {unfit} scenarios without a fit uninterrupted run. Seed {rehearsed.seed}."
    )
    if named:
        console.print(f"Found: [red]{named}[/]")


def _plain(text: str) -> str:
    """Answer text that neither the terminal nor the table's markup takes for more than text."""
    return escape(_printable(text))


def _printable(text: str) -> str:
    return "".join(sign if sign.isprintable() or sign == "\n" else "\ufffd" for sign in text)
