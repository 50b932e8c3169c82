"""How figures are written for people. Pure."""

from decimal import Decimal

from service.entry.evaluate.intervals import Interval


def percent(share: float) -> str:
    """Answer a share in hundredths: `87.5 %`."""
    return f"{share * 100:.1f} %"


def whole(value: float) -> str:
    """Answer a number without a fraction: `1,204`; below ten with one digit of it."""
    return f"{value:,.0f}" if value >= 10 else f"{value:.1f}"  # noqa: PLR2004 - two digits say enough


def money(amount: Decimal) -> str:
    """Answer an amount with at least two digits that say something."""
    return f"{amount:,.2f}" if amount >= 1 or not amount else f"{amount:.2g}"


def signed_interval(interval: Interval, scale: float, form: str) -> str:
    """Answer a mean with its interval, each times `scale`: `+2.1 [-0.5, +4.7]`."""
    mean = f"{interval.mean * scale:{form}}"
    if interval.low is None or interval.high is None:
        return mean
    return f"{mean} [{interval.low * scale:{form}}, {interval.high * scale:{form}}]"
