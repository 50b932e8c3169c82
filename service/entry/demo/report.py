"""Prints a package for a person: bars, omissions, citations, then the text itself."""

from typing import Any, Final

from rich.console import Console
from rich.markup import escape
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

_BAR_WIDTH: Final = 30


def print_package(console: Console, title: str, package: dict[str, Any]) -> None:
    """Print where the tokens went, what was left out and why, what can be cited, and the text."""
    limit = package["max_tokens"]
    console.rule(f"[bold]{escape(title)}")
    console.print(
        f"package {package['id']}\n{package['used_tokens']} of {limit} tokens used, exact"
        f" ({package['encoding']}); {package['overhead_tokens']} of them outside sections;"
        f" the first {package['stable_prefix_tokens']} are stable from call to call"
    )
    console.print(_sections(package["sections"]))
    if package["omissions"]:
        console.print(_omissions(package["omissions"]))
    cited = [item for section in package["sections"] for item in section["items"] if item.get("citation")]
    if cited:
        console.print(_citations(cited))
    console.print(
        Panel(Text(package["rendered"]["text"]), title="what the model is given", border_style="dim")
    )


def print_decision(console: Console, wish: str, answer: dict[str, Any]) -> None:
    """Print what the policy decided about one proposed memory, with its reasons."""
    colour = {"approved": "green", "denied": "red"}.get(answer["decision"], "yellow")
    reasons = ", ".join(reason["code"] for reason in answer["reasons"]) or "no objection"
    console.print(f"[{colour}]{answer['decision']:>9}[/]  {escape(wish)}  [dim]({escape(reasons)})[/]")


def print_resume(console: Console, found: str, answer: dict[str, Any]) -> None:
    """Print what one session found, what it has to do first, and what its lease lets it do."""
    lease = answer["lease"]
    reason = answer["reasons"][0]["message"] if answer["reasons"] else ""
    console.print(
        f"[cyan]{escape(answer['decision']):<24}[/]  {escape(found)}"
        f"  [dim](lease {lease['fencing_token']}, {lease['mode']}: {escape(reason)})[/]"
    )


def _sections(sections: list[dict[str, Any]]) -> Table:
    table = Table(box=None, pad_edge=False)
    for heading, justify in (("section", "left"), ("tokens", "right"), ("of", "right"), ("", "left")):
        table.add_column(heading, justify="right" if justify == "right" else "left")
    largest = max((section["used_tokens"] for section in sections), default=1) or 1
    for section in sections:
        filled = round(_BAR_WIDTH * section["used_tokens"] / largest)
        bar = Text("█" * filled, style="cyan") + Text("░" * (_BAR_WIDTH - filled), style="dim")
        table.add_row(section["name"], str(section["used_tokens"]), str(section["max_tokens"]), bar)
    return table


def _omissions(omissions: list[dict[str, Any]]) -> Table:
    table = Table(title="left out", title_justify="left", box=None, pad_edge=False)
    for heading in ("section", "what", "reason", "tokens"):
        table.add_column(heading)
    for omission in omissions:
        table.add_row(
            omission["section"],
            f"{omission['kind']} {omission['id']}",
            omission["reason"],
            str(omission["tokens"]),
        )
    return table


def _citations(items: list[dict[str, Any]]) -> Table:
    table = Table(title="citations", title_justify="left", box=None, pad_edge=False)
    for heading in ("", "source", "authority", "trust", "version"):
        table.add_column(heading)
    for item in items:
        source = (item.get("source") or {}).get("uri") or item["kind"]
        table.add_row(
            item["citation"],
            escape(source),
            item.get("authority") or "",
            item.get("trust") or "",
            str(item.get("version") or ""),
        )
    return table
