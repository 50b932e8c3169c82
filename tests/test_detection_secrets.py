"""Secrets are found by their form, and what is only said about a secret is not one."""

import base64
import json

import pytest

from service.detection.model import Family
from service.detection.scan import OwnRules

HEADER = base64.urlsafe_b64encode(json.dumps({"alg": "HS256", "typ": "JWT"}).encode()).decode().rstrip("=")
KEY = "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEAAAAA\n-----END OPENSSH PRIVATE KEY-----"


def secrets(text: str) -> list[tuple[str, str]]:
    return [
        (one.kind.value, text[one.start : one.end])
        for one in OwnRules().scan(text)
        if one.family is Family.CREDENTIAL
    ]


@pytest.mark.parametrize(
    "key",
    [
        "AKIA" + "IOSFODNN7EXAMPLE",
        "ghp_" + "a1B2" * 9,
        "github_pat_" + "a1B2_" * 10,
        "glpat-" + "a1B2c" * 4,
        "xoxb-" + "123456789012-abcdefABCDEF",
        "sk_live_" + "a1B2" * 6,
        "sk-proj-" + "a1B2" * 10,
        "sk-ant-api03-" + "a1B2" * 10,
        "AIza" + "a1B2c" * 7,
        "hf_" + "aB" * 17,
        "npm_" + "aB1" * 12,
        "SG." + "a1" * 11 + "." + "b2" * 20,
        "123456789:AA" + "a1B" * 11,
        "mun_0193_" + "a1B2" * 8,
    ],
)
def test_a_key_is_known_by_its_provider_s_prefix(key: str) -> None:
    assert secrets(f"Deploys use {key}, see the wiki") == [("provider_key", key)]


def test_tokens_private_keys_and_addresses_with_a_password_are_found_whole() -> None:
    token = f"{HEADER}.eyJzdWIiOiIxIn0abc.c2lnbmF0dXJl"

    assert secrets(f"use {token}") == [("token", token)]
    assert secrets("Authorization: Bearer abcDEF123.456-789_xyz0") == [("token", "abcDEF123.456-789_xyz0")]
    assert secrets(f"key:\n{KEY}\nthanks") == [("private_key", KEY)]
    address = "postgres://app:s3cr%20t@db.internal"
    assert secrets(f"connect to {address}:5432/x") == [("connection_string", f"{address}:5432")]


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("My password is hunter2", "hunter2"),
        ("password: swordfish", "swordfish"),
        ("The wifi password is 'correct horse'", "correct horse"),
        ("Das Passwort lautet Sommer2026!", "Sommer2026!"),
        ("api_key = 9f8e7d6c5b4a", "9f8e7d6c5b4a"),
        ("The PIN is 4711", "4711"),
        ("The password for the staging server is Tr0ub4dor", "Tr0ub4dor"),
        ("contrase\u00f1a: M4drid", "M4drid"),
    ],
)
def test_a_password_that_is_told_is_a_secret(text: str, secret: str) -> None:
    found = secrets(text)

    assert [kind for kind, _ in found] == ["password"]
    assert found[0][1].startswith(secret)


@pytest.mark.parametrize(
    "text",
    [
        "The password is required for every login",
        "password: optional",
        "Passwort: siehe Tresor",
        "Rotate the api key: never share it",
        "password: ********",
        "password: ${DB_PASSWORD}",
        "The token is stored in the vault",
        "A bearer of good news arrived",
        "eyJhbGciOiJ is only the beginning of one",
        "git@github.com:acme/app.git",
        "https://example.org:8443/path@home",
        "commit 9f8e7d6c5b4a3f2e1d0c9b8a7f6e5d4c3b2a1908",
        "sk-learn is a library for machine learning",
    ],
)
def test_what_is_said_about_a_secret_is_none(text: str) -> None:
    assert secrets(text) == []
