"""The parts of a page: text that stays text, tables, figures with the table behind them. Pure."""

import html
from collections.abc import Sequence


def text(value: str) -> str:
    """Answer text for the page: nothing in it is markup, moves its neighbours or hides itself."""
    return f"<bdi>{plain(value)}</bdi>"


def plain(value: str) -> str:
    """Answer the same for where no element may stand: titles, attributes, the words of a drawing."""
    shown = "".join(sign if sign.isprintable() or sign in " \n" else "\ufffd" for sign in value)
    return html.escape(shown, quote=True)


def table(
    caption: str, heads: Sequence[str], rows: Sequence[Sequence[str]], *, words: Sequence[int] = ()
) -> str:
    """Answer a table of cells that are markup already. `words` are the columns that hold sentences."""
    kinds = [' class="words"' if column in words else "" for column in range(len(heads))]
    head = "".join(f'<th scope="col"{kind}>{cell}</th>' for cell, kind in zip(heads, kinds, strict=True))
    body = "".join(
        f'<tr><th scope="row"{kinds[0]}>{row[0]}</th>'
        + "".join(f"<td{kind}>{cell}</td>" for cell, kind in zip(row[1:], kinds[1:], strict=False))
        + "</tr>\n"
        for row in rows
    )
    return (
        f'<div class="wide" tabindex="0" role="region" aria-label="{plain(caption)}"><table>'
        f"<caption>{plain(caption)}</caption>"
        f"<thead><tr>{head}</tr></thead>\n<tbody>\n{body}</tbody></table></div>\n"
    )


def figure(name: str, title: str, says: str, drawing: str, *, height: int, numbers: str) -> str:
    """Answer a drawing with its title, what it says in words, and the numbers behind it.

    `drawing` is SVG in a frame 720 wide; `name` is unique on the page.
    """
    return (
        f"<figure>\n<figcaption><strong>{plain(title)}</strong>"
        f'<span class="soft">{plain(says)}</span></figcaption>\n'
        f'<div class="wide" tabindex="0" role="region" aria-label="{plain(title)}: drawing">'
        f'<svg viewBox="0 0 720 {height}" role="img" aria-labelledby="{name}-title {name}-says">'
        f'<title id="{name}-title">{plain(title)}</title><desc id="{name}-says">{plain(says)}</desc>\n'
        f"{drawing}</svg></div>\n<details><summary>The numbers</summary>\n{numbers}</details>\n</figure>\n"
    )
