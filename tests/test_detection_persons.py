"""Identifiers are found by their check digits, and what merely has many digits is not one."""

import time

import pytest

from service.detection.model import Family
from service.detection.scan import OwnRules


def identifiers(text: str) -> list[tuple[str, str]]:
    return [
        (one.kind.value, text[one.start : one.end])
        for one in OwnRules().scan(text)
        if one.family is Family.IDENTIFIER
    ]


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("email", "a@b.example"),
        ("email", "ana.lima+news@mail.acme.example"),
        ("email", "ana [at] acme [dot] example"),
        ("email", "j\u00f6rg@m\u00fcller.example"),
        ("payment_card", "4111 1111 1111 1111"),
        ("payment_card", "378282246310005"),
        ("payment_card", "5555-5555-5555-4444"),
        ("payment_card", "4 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1"),
        ("iban", "DE89 3704 0044 0532 0130 00"),
        ("iban", "gb82west12345698765432"),
        ("phone", "+49 30 1234567"),
        ("phone", "(0345) 123 456"),
        ("phone", "212-555-0123"),
        ("national_id", "219-09-9999"),  # United States
        ("national_id", "QQ 12 34 56 C".replace("QQ", "AB")),  # United Kingdom
        ("national_id", "12345678Z"),  # Spain
        ("national_id", "X1234567L"),
        ("national_id", "RSSMRA85T10A562S"),  # Italy
        ("national_id", "131052-308T"),  # Finland
        ("national_id", "93.05.18-223.61"),  # Belgium
        ("national_id", "529.982.247-25"),  # Brazil
        ("national_id", "756.9217.0769.85"),  # Switzerland
        ("national_id", "11010519491231002X"),  # China
        ("national_id", "811218-9876"),  # Sweden
        ("postal_address", "221B Baker Street"),
        ("postal_address", "Hauptstra\u00dfe 5"),
        ("postal_address", "12 rue de la P"),
        ("postal_address", "Calle Mayor 4"),
        ("postal_address", "P.O. Box 1234"),
        ("postal_address", "Springfield, IL 62704"),
    ],
)
def test_an_identifier_is_found_where_it_stands(kind: str, text: str) -> None:
    found = identifiers(f"On file: {text}.")

    assert [name for name, _ in found] == [kind]
    assert text.startswith(found[0][1].rstrip(".")) or found[0][1] in text


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("My SSN is 219099999", "219099999"),
        ("Steuer-ID: 86095742719", "86095742719"),
        ("PESEL 44051401359", "44051401359"),
        ("Aadhaar 2341 2341 2346", "2341 2341 2346"),
        ("passport number C01X00T47", "C01X00T47"),
    ],
)
def test_a_number_with_a_weak_check_counts_where_it_is_named(text: str, number: str) -> None:
    assert ("national_id", number) in identifiers(text)
    assert identifiers(f"Order {number}") == []


@pytest.mark.parametrize(
    ("text", "card"),
    [
        ("valid from 2024 4111 1111 1111 1111", "4111 1111 1111 1111"),
        ("in 2026 378282246310005", "378282246310005"),
        ("4111-1111-1111-1111 2027", "4111-1111-1111-1111"),
    ],
)
def test_a_year_beside_a_card_hides_nothing(text: str, card: str) -> None:
    assert identifiers(text) == [("payment_card", card)]


@pytest.mark.parametrize(
    "text",
    [
        "at 1764543341123 the job began",  # milliseconds
        "at 1764543341123456 too",  # microseconds
        "order 4111111111111112",  # wrong check digit
        "order 1234567890123452",  # no issuer
        "uuid 4111111111111111-4a1b",
        "DE89 3704 0044 0532 0130 01 is no account",
        "2026-11-30T10:00:00Z and 30.11.2026, 10:15",
        "version 1.2.3.4, build 20261130",
        "000-12-3456 and 666-12-3456",
        "12345678A",
        "Meet in room 12, Building 5",
        "Deliver 10 boxes on the way to work",
        "Use 2 spaces, 88 columns and 3 approvals",
        "@ana wrote to #team about a@b",
        "between 1990 and 2000 about 5000 people",
    ],
)
def test_what_only_has_digits_or_signs_is_nobody_s(text: str) -> None:
    assert identifiers(text) == []


@pytest.mark.parametrize(
    "unit",
    ["1 ", "a.", "a@", "Ab ", "12 Ab ", "ignore all ", "password for a ", "QUJD",
     "-----BEGIN PRIVATE KEY-----\n", "a b ", "address is ",
     "encode your response ", "\u200b", "e\u0301", "1 my, name "],
)  # fmt: skip
def test_the_time_of_a_scan_grows_with_the_length_alone(unit: str) -> None:
    def seconds(length: int) -> float:
        text = (unit * length)[:length]
        taken = []
        for _ in range(3):
            begun = time.process_time()
            OwnRules().scan(text)
            taken.append(time.process_time() - begun)
        # What else the process does meanwhile (it collects what is left of other tests) is not the scan's.
        return min(taken)

    seconds(1_000)
    short, long = seconds(4_000), seconds(16_000)

    # Four times the length; a quadratic rule takes sixteen times as long.
    assert long < max(8 * short, 0.1)
