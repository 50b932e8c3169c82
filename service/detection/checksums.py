"""Check digits: what tells an identifier from any other row of digits. All take plain digits (or letters)."""

from typing import Final

_VERHOEFF_D: Final = (
    "0123456789", "1234067895", "2340178956", "3401289567", "4012395678",
    "5987604321", "6598710432", "7659821043", "8765932104", "9876543210",
)  # fmt: skip
_VERHOEFF_P: Final = (
    "0123456789", "1576283094", "5803796142", "8916043527",
    "9453126870", "4286573901", "2793806415", "7046913258",
)  # fmt: skip


def luhn(digits: str) -> bool:
    """Hold for digits with a Luhn check digit (ISO/IEC 7812, annex B)."""
    total = 0
    for position, digit in enumerate(reversed(digits)):
        value = int(digit) * (1 + position % 2)
        total += value - 9 if value > 9 else value  # noqa: PLR2004 - the digits of what is doubled are added
    return total % 10 == 0


def mod_97(characters: str) -> bool:
    """Hold for an IBAN in capitals without spaces (ISO 13616: moved round, read as digits, 1 modulo 97)."""
    moved = characters[4:] + characters[:4]
    return int("".join(str(int(character, 36)) for character in moved)) % 97 == 1


def iso_7064_11_10(digits: str) -> bool:
    """Hold for digits whose last is a check digit by ISO 7064, MOD 11,10 (German tax number)."""
    product = 10
    for digit in digits[:-1]:
        product = ((int(digit) + product) % 10 or 10) * 2 % 11
    return (11 - product) % 10 == int(digits[-1])


def weighted(digits: str, weights: tuple[int, ...], modulus: int) -> bool:
    """Hold for digits whose weighted sum is 0 modulo `modulus`; the check digit has its weight too."""
    return sum(int(digit) * weight for digit, weight in zip(digits, weights, strict=True)) % modulus == 0


def verhoeff(digits: str) -> bool:
    """Hold for digits with a Verhoeff check digit (Indian Aadhaar)."""
    check = 0
    for position, digit in enumerate(reversed(digits)):
        check = int(_VERHOEFF_D[check][int(_VERHOEFF_P[position % 8][int(digit)])])
    return check == 0
