"""What points at one person or account: e-mail, phone, payment card and IBAN."""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final

from service.detection.checksums import luhn, mod_97
from service.detection.model import Kind
from service.detection.reading import Reading

Hit = tuple[Kind, int, int]

_EMAIL: Final = re.compile(
    r"(?<![\w.%+'-])(?!git@)\w[\w.%+'-]{0,63}"
    r"(?:@|\s?[(\[{]\s?(?:at|@)\s?[)\]}]\s?)"
    r"(?:[\w-]{1,63}(?:\.|\s?[(\[{]\s?(?:dot|punkt|\.)\s?[)\]}]\s?)){1,6}[^\W\d_]{2,24}(?![\w@])"
)
_DIGIT_RUN: Final = re.compile(r"(?<![\w.,/])\d(?:[ .-]?\d){11,59}(?!\w|-\w)")
_DIGITS: Final = re.compile(r"\d+")
_IBAN_HEAD: Final = re.compile(r"(?<![a-z0-9])[a-z]{2}\d{2}[ -]?(?=[a-z0-9])")

_CARD_LENGTHS: Final = (
    # Prefix ranges of issuers (ISO/IEC 7812 tables as published by them) and the lengths that they issue.
    (re.compile(r"4"), (13, 16, 19)),
    (re.compile(r"5[1-5]|222[1-9]|22[3-9]\d|2[3-6]\d\d|27[01]\d|2720"), (16,)),
    (re.compile(r"3[47]"), (15,)),
    (re.compile(r"6011|64[4-9]|65|62"), (16, 17, 18, 19)),
    (re.compile(r"30[0-5]|309|36|38|39"), (14, 16)),
    (re.compile(r"35(?:2[89]|[3-8]\d)"), (16, 17, 18, 19)),
    (re.compile(r"1800|2131"), (15,)),
    (re.compile(r"5018|5020|5038|5[678]|6304|6390|67"), (12, 13, 14, 15, 16, 17, 18, 19)),
    (re.compile(r"220[0-4]"), (16,)),
)
_IBAN_LENGTHS: Final = {
    # ISO 13616 registry.
    "ad": 24, "ae": 23, "al": 28, "at": 20, "az": 28, "ba": 20, "be": 16, "bg": 22, "bh": 22, "br": 29,
    "by": 28, "ch": 21, "cr": 22, "cy": 28, "cz": 24, "de": 22, "dk": 18, "do": 28, "ee": 20, "eg": 29,
    "es": 24, "fi": 18, "fo": 18, "fr": 27, "gb": 22, "ge": 22, "gi": 23, "gl": 18, "gr": 27, "gt": 28,
    "hr": 21, "hu": 28, "ie": 22, "il": 23, "iq": 23, "is": 26, "it": 27, "jo": 30, "kw": 30, "kz": 20,
    "lb": 28, "li": 21, "lt": 20, "lu": 20, "lv": 21, "mc": 27, "md": 24, "me": 22, "mk": 19, "mr": 27,
    "mt": 31, "mu": 30, "nl": 18, "no": 15, "pk": 24, "pl": 28, "ps": 29, "pt": 25, "qa": 29, "ro": 24,
    "rs": 22, "sa": 24, "se": 24, "si": 19, "sk": 24, "sm": 27, "tl": 23, "tn": 24, "tr": 26, "ua": 29,
    "vg": 24, "xk": 20,
}  # fmt: skip

_PHONE: Final = re.compile(
    r"(?<![\w+.,/-])(?:"
    r"(?:\+|(?<!\d )(?<!\d-)00)[1-9]\d{0,2}[ ()./-]{0,3}\d(?:[ ()./-]{0,2}\d){5,13}"
    r"|\(0?\d{2,5}\)[ /-]{0,2}\d(?:[ ./-]?\d){3,9}"
    r"|(?:1[ .-])?[2-9]\d\d([ .-])[2-9]\d\d\1\d{4}"
    r"|(?<!\d )(?<!\d-)0[1-9]\d{0,3}[ /-]{1,2}\d{2,4}(?:[ /-]?\d{2,5}){1,4}"
    r"|0\d(?:\.\d\d){4}|0\d{9,11}"
    r")(?:\s?(?:x|ext\.?|durchwahl)\s?\d{1,6})?(?![\w+])(?![.,/-]\d)"
)
_PHONE_TOLD: Final = re.compile(
    r"\b(?:phones?|telephone|tel|mobile|cell(?:phone)?|call|ring|dial|text me|whatsapp|sms|fax|handy"
    r"|telefon\w*"
    r"|mobil(?:nummer)?|ruf(?:nummer)?|erreichbar|number|nummer)\b[^\d\n+]{0,30}?"
    r"(?P<number>\+?\(?\d(?:[ ()./-]{0,2}\d){6,14})(?!\w)(?![.,/-]\d)"
)
_DATE: Final = re.compile(r"(?:19|20)\d\d[-./ ](?:0?[1-9]|1[0-2])[-./ ](?:0?[1-9]|[12]\d|3[01])\b")


def find_identifiers(reading: Reading) -> Iterator[Hit]:
    """Yield every identifier that stands in the copy; what is an IBAN or a card is no telephone number."""
    for found in _EMAIL.finditer(reading.folded):
        yield Kind.EMAIL, *found.span()
    ibans = [(Kind.IBAN, start, end) for start, end in _ibans(reading.folded)]
    cards = [
        (Kind.PAYMENT_CARD, start, end)
        for start, end in _cards(reading.folded)
        if not _within(start, end, ibans)
    ]
    yield from ibans
    yield from cards
    for start, end in _phones(reading.folded):
        if not _within(start, end, [*ibans, *cards]):
            yield Kind.PHONE, start, end


def _within(start: int, end: int, hits: Sequence[Hit]) -> bool:
    return any(start < after and end > before for _, before, after in hits)


def _ibans(text: str) -> Iterator[tuple[int, int]]:
    for head in _IBAN_HEAD.finditer(text):
        wanted = _IBAN_LENGTHS.get(head.group()[:2])
        if wanted is None:
            continue
        kept: list[str] = []
        place = head.start()
        while place < len(text) and len(kept) < wanted:
            character = text[place]
            if character.isascii() and character.isalnum():
                kept.append(character)
            elif character not in " -.":
                break
            place += 1
        ends = place == len(text) or not text[place].isalnum()
        if len(kept) == wanted and ends and mod_97("".join(kept).upper()):
            yield head.start(), place


def _cards(text: str) -> Iterator[tuple[int, int]]:
    """Yield card numbers among groups of digits: a year before one, or a price after it, does not hide it."""
    for run in _DIGIT_RUN.finditer(text):
        groups = [(found.start(), found.end()) for found in _DIGITS.finditer(text, *run.span())]
        first = 0
        while first < len(groups):
            last = _card_end(text, groups, first)
            if last is not None:
                yield groups[first][0], groups[last][1]
                first = last
            first += 1


def _card_end(text: str, groups: Sequence[tuple[int, int]], first: int) -> int | None:
    digits = ""
    for position in range(first, len(groups)):
        digits += text[slice(*groups[position])]
        if len(digits) > 19:  # noqa: PLR2004 - the longest primary account number (ISO/IEC 7812)
            return None
        if _is_card(digits):
            return position
    return None


def _is_card(digits: str) -> bool:
    issued = any(len(digits) in lengths and prefix.match(digits) for prefix, lengths in _CARD_LENGTHS)
    return issued and len(set(digits)) > 1 and luhn(digits)


def _phones(text: str) -> Iterator[tuple[int, int]]:
    for found in _PHONE.finditer(text):
        if _DATE.match(found.group()) is None and _has_length(found.group()):
            yield found.span()
    for found in _PHONE_TOLD.finditer(text):
        number = found.group("number")
        if _DATE.match(number) is None and _has_length(number) and _is_grouped_like_one(number):
            yield found.span("number")


def _has_length(number: str) -> bool:
    digits = sum(character.isdigit() for character in number)
    return 7 <= digits <= 21  # noqa: PLR2004 - E.164 allows 15, an extension follows


def _is_grouped_like_one(number: str) -> bool:
    """Hold unless the digits are plain numbers in a row: groups of a telephone number are not all single."""
    places = [found.span() for found in _DIGITS.finditer(number)]
    return not places or all(after - before <= 3 for (_, before), (after, _) in pairwise(places))  # noqa: PLR2004
