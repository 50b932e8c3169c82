"""Lines, marks and axes of a drawing, as SVG. Each profile has a colour, a shape and a dash. Pure."""

from collections.abc import Callable, Sequence
from typing import Final

from service.entry.evaluate.page_parts import plain
from service.entry.evaluate.page_style import COLOURS

LEFT: Final = 150
RIGHT: Final = 690
ROW: Final = 34
_NAME_CHARACTERS: Final = 19
_SIZE: Final = 6


def scale(highest: float, lowest: float = 0.0) -> Callable[[float], float]:
    """Answer where a value stands between the left and the right edge."""
    width = (highest - lowest) or 1.0
    return lambda value: round(LEFT + (value - lowest) / width * (RIGHT - LEFT), 1)


def label(name: str, y: float) -> str:
    """Answer a row's name at its left; a long one is cut."""
    short = name if len(name) <= _NAME_CHARACTERS else f"{name[: _NAME_CHARACTERS - 1]}…"
    return f'<text x="{LEFT - 12}" y="{y + 4:.1f}" text-anchor="end">{plain(short)}</text>\n'


def note(words: str, x: float, y: float, *, anchor: str = "start") -> str:
    """Answer small words at a place."""
    return f'<text class="tick" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{plain(words)}</text>\n'


def axis(ticks: Sequence[tuple[float, str]], top: float, bottom: float) -> str:
    """Answer upright lines at `ticks`, each with its words below."""
    return "".join(
        f'<line class="axis" x1="{x}" x2="{x}" y1="{top}" y2="{bottom}"/>\n'
        + note(words, x, bottom + 16, anchor="middle")
        for x, words in ticks
    )


def line(number: int, x1: float, x2: float, y: float) -> str:
    """Answer a level line in the colour of a profile, with ends."""
    kind = number % COLOURS
    ends = "".join(
        f'<line class="l{kind} solid" x1="{x}" x2="{x}" y1="{y - 5:.1f}" y2="{y + 5:.1f}"/>' for x in (x1, x2)
    )
    return f'<line class="l{kind} solid" x1="{x1}" x2="{x2}" y1="{y:.1f}" y2="{y:.1f}"/>{ends}\n'


def mark(number: int, x: float, y: float) -> str:
    """Answer the mark of a profile: circle, square, diamond, triangle and their turned kin."""
    kind = number % COLOURS
    if kind == 0:
        return f'<circle class="f0" cx="{x}" cy="{y:.1f}" r="{_SIZE}"/>\n'
    return f'<polygon class="f{kind}" points="{_corners(kind, x, y)}"/>\n'


def _corners(kind: int, x: float, y: float) -> str:
    shapes = {
        1: ((-1, -1), (1, -1), (1, 1), (-1, 1)),
        2: ((0, -1.3), (1.3, 0), (0, 1.3), (-1.3, 0)),
        3: ((0, -1.2), (1.2, 1), (-1.2, 1)),
        4: ((-1.2, -1), (1.2, -1), (0, 1.2)),
        5: ((-1.2, -0.5), (0, -1.2), (1.2, -0.5), (0.8, 1), (-0.8, 1)),
    }
    return " ".join(f"{x + a * _SIZE:.1f},{y + b * _SIZE:.1f}" for a, b in shapes[kind])


def bar(number: int, x1: float, x2: float, y: float, *, pale: bool = False) -> str:
    """Answer a level bar in the colour of a profile."""
    kind = f"f{number % COLOURS}" + (" pale" if pale else "")
    return f'<rect class="{kind}" x="{x1}" y="{y - 9:.1f}" width="{max(x2 - x1, 0):.1f}" height="18"/>\n'
