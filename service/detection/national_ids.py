"""Numbers that a state gives to a person, by their check digits; weak ones only where they are named."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from service.detection.checksums import iso_7064_11_10, luhn, verhoeff, weighted
from service.detection.model import Kind
from service.detection.reading import Reading

Hit = tuple[Kind, int, int]

_LETTERS_ES: Final = "trwagmyfpdxbnjzsqvhlcke"
_LETTERS_FI: Final = "0123456789abcdefhjklmnprstuvwxy"
_ODD_IT: Final = (
    1,
    0,
    5,
    7,
    9,
    13,
    15,
    17,
    19,
    21,
    2,
    4,
    18,
    20,
    11,
    3,
    6,
    8,
    12,
    14,
    16,
    10,
    22,
    25,
    24,
    23,
)
_CHARACTERS_BEFORE: Final = 60
_NAMED: Final = re.compile(
    r"\b(?:ssn|social security|sozialversicherung\w*|rentenversicherung\w*|steuer-?(?:id\w*|nummer)|idnr"
    r"|tax ?id\w*"
    r"|tin|national (?:id|insurance)|nino?|nhs|id(?:entity)? (?:card|number|no)|personal (?:id|number|code)"
    r"|personnummer|pesel|bsn|burgerservicenummer|rijksregister\w*|nir|securite sociale|dni|nie"
    r"|codice fiscale"
    r"|cpf|aadhaa?r|sin|social insurance|ahv|avs|passport|reisepass|personalausweis|ausweis\w*"
    r"|driver'?s? licen[cs]e|driving licen[cs]e|fuhrerschein\w*|licen[cs]e (?:number|no))\b"
)
_DOCUMENT: Final = re.compile(r"(?<![\w-])(?=[a-z0-9]*\d)[a-z]{0,3}[a-z0-9]{6,12}(?![\w-])")


@dataclass(frozen=True, slots=True)
class _Rule:
    """A country's number: its form, its check, and whether it counts only where it is named before."""

    form: re.Pattern[str]
    holds: Callable[[str], bool]
    named: bool = False


def _form(pattern: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w.,-])(?:{pattern})(?![\w-])")


def _us(number: str) -> bool:
    area, group, serial = number[:3], number[3:5], number[5:]
    return area not in ("000", "666") and area < "900" and group != "00" and serial != "0000"


def _german_tax(number: str) -> bool:
    counts = sorted(number[:10].count(digit) for digit in set(number[:10]))
    return number[0] != "0" and counts[-1] in (2, 3) and iso_7064_11_10(number)


def _french(number: str) -> bool:
    body = number[:13].replace("2a", "19").replace("2b", "18")
    return body.isdigit() and 97 - int(body) % 97 == int(number[13:])


def _spanish(number: str) -> bool:
    body = number[:-1].replace("x", "0").replace("y", "1").replace("z", "2")
    return number[-1] == _LETTERS_ES[int(body) % 23]


def _italian(code: str) -> bool:
    total = 0
    for position, character in enumerate(code[:15]):
        value = int(character) if character.isdigit() else ord(character) - ord("a")
        total += value if position % 2 else _ODD_IT[value]
    return code[15] == chr(ord("a") + total % 26)


def _finnish(code: str) -> bool:
    return code[-1] == _LETTERS_FI[int(code[:6] + code[7:10]) % 31]


def _belgian(number: str) -> bool:
    check = int(number[9:])
    return check in (97 - int(number[:9]) % 97, 97 - int("2" + number[:9]) % 97)


def _brazilian(number: str) -> bool:
    if len(set(number)) == 1:
        return False
    for length in (9, 10):
        total = sum(int(digit) * (length + 1 - place) for place, digit in enumerate(number[:length]))
        if total * 10 % 11 % 10 != int(number[length]):
            return False
    return True


def _chinese(code: str) -> bool:
    total = sum(int(digit) * (2 ** (17 - place) % 11) for place, digit in enumerate(code[:17]))
    return "10x98765432"[total % 11] == code[17]


def _british(code: str) -> bool:
    return code[:2] not in ("bg", "gb", "nk", "kn", "tn", "nt", "zz")


def _any(_number: str) -> bool:
    return True


_RULES: Final = (
    _Rule(_form(r"\d{3}-\d{2}-\d{4}|\d{3} \d{2} \d{4}"), _us),
    _Rule(_form(r"\d{9}"), _us, named=True),
    _Rule(_form(r"[1-9]\d ?\d{3} ?\d{3} ?\d{3}"), _german_tax, named=True),
    _Rule(_form(r"[abceghj-prstw-z][abceghj-nprstw-z] ?\d\d ?\d\d ?\d\d ?[a-d]"), _british),
    _Rule(
        _form(r"[12] ?\d\d ?(?:0[1-9]|1[0-2]|[2-9]\d) ?(?:\d\d|2[ab]) ?\d{3} ?\d{3} ?\d\d"), _french
    ),
    _Rule(_form(r"(?:\d{8}|[xyz]\d{7})-?[a-z]"), _spanish),
    _Rule(_form(r"[a-z]{6}\d\d[abcdehlmprst]\d\d[a-z]\d{3}[a-z]"), _italian),
    _Rule(_form(r"\d{6}[-+a]\d{3}[0-9a-y]"), _finnish),
    _Rule(_form(r"\d\d\.\d\d\.\d\d-\d{3}\.\d\d"), _belgian),
    _Rule(_form(r"\d{3}\.\d{3}\.\d{3}-\d\d"), _brazilian),
    _Rule(_form(r"\d{11}"), _brazilian, named=True),
    _Rule(_form(r"\d{2}(?:[02468][1-9]|[13579][0-2])[0-3]\d{6}"),
          lambda number: weighted(number, (1, 3, 7, 9, 1, 3, 7, 9, 1, 3, 1), 10), named=True),
    _Rule(_form(r"\d{9}"), lambda number: weighted(number, (9, 8, 7, 6, 5, 4, 3, 2, -1), 11), named=True),
    _Rule(_form(r"\d{3}[ -]?\d{3}[ -]?\d{3}"), luhn, named=True),
    _Rule(_form(r"\d{3} ?\d{3} ?\d{4}"),
          lambda number: weighted(number, (10, 9, 8, 7, 6, 5, 4, 3, 2, 1), 11), named=True),
    _Rule(_form(r"\d\d(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])[-+]\d{4}"), luhn),
    _Rule(_form(r"[2-9]\d{3} ?\d{4} ?\d{4}"), verhoeff, named=True),
    _Rule(_form(r"756\.\d{4}\.\d{4}\.\d\d"),
          lambda number: weighted(number, (1, 3, 1, 3, 1, 3, 1, 3, 1, 3, 1, 3, 1), 10)),
    _Rule(_form(r"[1-9]\d{5}(?:19|20)\d\d(?:0[1-9]|1[0-2])[0-3]\d{4}[0-9x]"), _chinese),
    _Rule(_DOCUMENT, _any, named=True),
)  # fmt: skip
_SEPARATORS: Final = re.compile(r"[ .-]")


def find_national_ids(reading: Reading) -> Iterator[Hit]:
    """Yield every number of a person that stands in the copy."""
    text = reading.folded
    named_at = [found.end() for found in _NAMED.finditer(text)]
    for rule in _RULES:
        if rule.named and not named_at:
            continue
        for found in rule.form.finditer(text):
            if rule.named and not _is_named(found.start(), named_at):
                continue
            if rule.holds(_plain(found.group(), rule)):
                yield Kind.NATIONAL_ID, *found.span()


def _plain(number: str, rule: _Rule) -> str:
    # The Finnish sign between date and number tells the century.
    return number if rule.holds is _finnish else _SEPARATORS.sub("", number)


def _is_named(start: int, named_at: list[int]) -> bool:
    return any(0 <= start - end <= _CHARACTERS_BEFORE for end in named_at)
