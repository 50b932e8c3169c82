"""Exact money: decimals of at most six places, kept as whole millionths."""

from decimal import Decimal
from typing import Final

_MICROS_PER_UNIT: Final = 1_000_000
MICROS_MAX: Final = 2**63 - 1
"""What a database's largest integer holds."""


def to_micros(amount: Decimal) -> int:
    """Answer the amount in millionths; it has no finer part, the wire takes six places."""
    micros = int(amount * _MICROS_PER_UNIT)
    assert Decimal(micros) / _MICROS_PER_UNIT == amount
    return micros


def from_micros(micros: int) -> Decimal:
    """Answer the amount with two places, and with more only where they are not zero."""
    whole, places = divmod(micros, _MICROS_PER_UNIT)
    return Decimal(f"{whole}.{f'{places:06d}'.rstrip('0').ljust(2, '0')}")
