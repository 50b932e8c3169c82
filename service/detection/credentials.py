"""Secrets: keys by their provider's prefix, tokens, private keys, passwords that are told."""

import base64
import binascii
import json
import re
from bisect import bisect_left
from collections.abc import Iterator
from typing import Final

from service.detection.model import Kind
from service.detection.reading import Reading

Hit = tuple[Kind, int, int]

_PROVIDER_KEYS: Final = re.compile(
    r"(?<![A-Za-z0-9])(?:"
    r"(?:AKIA|ASIA|ABIA|ACCA|AGPA|AIDA|AROA|ANPA)[A-Z2-7]{16}"  # AWS
    r"|gh[opsur]_[A-Za-z0-9]{36,255}|github_pat_[A-Za-z0-9_]{22,255}"
    r"|gl(?:pat|oas|cbt|ptt|rt|dt|ft)-[A-Za-z0-9_.-]{20,64}"  # GitLab
    r"|xox[abeoprs]-[A-Za-z0-9-]{10,250}|xapp-\d-[A-Za-z0-9-]{10,250}"  # Slack
    r"|(?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]{16,250}|whsec_[A-Za-z0-9+/=]{24,80}"  # Stripe
    r"|AIza[A-Za-z0-9_-]{35}|GOCSPX-[A-Za-z0-9_-]{28}|ya29\.[A-Za-z0-9_-]{20,500}"  # Google
    r"|sk-(?:[a-z]{2,10}(?:\d\d)?-)?[A-Za-z0-9_-]{20,250}"  # OpenAI, Anthropic, OpenRouter
    r"|(?:gsk|hf|r8|npm|dckr_pat|figd|ntn|lin_api|pul|sbp|shpat|shpca|shppa|shpss)_[A-Za-z0-9_-]{24,250}"
    r"|pypi-[A-Za-z0-9_-]{16,250}|(?:xai|pplx|tvly|fc|nvapi)-[A-Za-z0-9_-]{30,250}"
    r"|SG\.[A-Za-z0-9_-]{16,64}\.[A-Za-z0-9_-]{16,64}"  # SendGrid
    r"|key-[0-9a-f]{32}|(?:AC|SK)[0-9a-f]{32}|dapi[0-9a-f]{32}"  # Mailgun, Twilio, Databricks
    r"|do[opr]_v1_[0-9a-f]{64}|gls[ac]_[A-Za-z0-9_=+/]{32,200}|hv[sbr]\.[A-Za-z0-9_-]{24,250}"
    r"|PMAK-[0-9a-f]{24}-[0-9a-f]{34}|NRAK-[A-Z0-9]{27}|dp\.(?:pt|st|ct)\.[A-Za-z0-9]{40,44}"
    r"|AGE-SECRET-KEY-1[0-9A-Z]{58}|mun_[A-Za-z0-9-]{4,64}_[A-Za-z0-9_-]{20,128}"
    r"|\d{8,10}:AA[A-Za-z0-9_-]{33}"  # Telegram
    r")(?![A-Za-z0-9])"
)
_JWT: Final = re.compile(
    r"(?<![A-Za-z0-9_-])(eyJ[A-Za-z0-9_-]{8,2000})\.[A-Za-z0-9_-]{8,8000}(?:\.[A-Za-z0-9_-]{0,2000})?"
)
_BEARER: Final = re.compile(
    r"\b(?:bearer|authorization\s?[:=]\s?(?:basic|token|bearer|apikey))\s{1,3}([a-z0-9._~+/-]{16,2000}={0,2})"
)
_KEY_BEGINS: Final = re.compile(
    r"-{4,5} ?BEGIN (?:[A-Z0-9]{2,12} ){0,3}PRIVATE KEY(?: BLOCK)? ?-{4,5}|PuTTY-User-Key-File-\d"
)
_KEY_ENDS: Final = re.compile(r"-{4,5} ?END (?:[A-Z0-9]{2,12} ){0,3}PRIVATE KEY(?: BLOCK)? ?-{4,5}")
_CONNECTION: Final = re.compile(
    r"(?<![a-z0-9+.-])[a-z][a-z0-9+.-]{1,24}://[^\s:/?#@]{0,128}:[^\s/?#@]{1,256}@[^\s/?#@]{1,256}"
    r"|(?:accountkey|sharedaccesskey|sharedaccesssignature)=[a-z0-9+/%=&._-]{20,500}"
)
_TOLD: Final = re.compile(
    r"\b(?:(?:pass ?words?|passwd|passphrase|pass ?code|passwort|kennwort|zugangscode|passw|pwd)"
    r"|(?:secret|private|api|access|auth|encryption|license|security|client)[ _-]?(?:keys?|tokens?|secret)"
    r"|login data|credentials?|zugangsdaten|client[ _-]?secret|pin(?:[ -]?code)?|recovery code"
    r"|mot de passe|contrasena|cvv2?|cvc2?)"
    r"(?:[ ](?:for|to|of|on|at|in|fur|zum|zur|vom|im)(?: [\w.-]{1,40}){1,4}?)?"
    r"\s{0,2}(?P<joint>[:=]{1,2}>?|->|is(?: now)?|ist(?: jetzt)?|was|lautet|heisst|est|es)\s{0,2}"
    r""
    r"(?:(?P<quote>[\"'`])(?P<quoted>[^\"'`\n]{3,100})(?P=quote)|(?P<value>[^\s\"'`<>]{3,200}))"
)
_NO_SECRET: Final = frozenset(
    # What is said about a secret instead of it.
    word
    for words in (
        "required optional needed mandatory missing invalid wrong correct incorrect expired weak strong",
        "set unset secret secure safe string text none null nil true false empty unknown changed reset",
        "stored encrypted hashed rotated shared hidden masked redacted protected valid ok not never",
        "always the a an in on to at disabled enabled managed provided unique random here below above",
        "different same new old kept saved falsch richtig geheim notig pflicht leer unbekannt gesetzt",
        "abgelaufen sicher hier unten siehe see ask password passwort todo tbd placeholder example",
        "changeme? your my",
    )
    for word in words.split()
)
_END_OF_STATEMENT: Final = re.compile(r"\s*(?:$|[\n.,;!)\]}])")
_ALGORITHM_CHARACTERS_MAX: Final = 2_000


def find_credentials(reading: Reading) -> Iterator[Hit]:
    """Yield every secret that stands in the copy."""
    for found in _PROVIDER_KEYS.finditer(reading.text):
        yield Kind.PROVIDER_KEY, *found.span()
    for found in _JWT.finditer(reading.text):
        if _is_token_header(found.group(1)):
            yield Kind.TOKEN, *found.span()
    for found in _BEARER.finditer(reading.folded):
        # A word of letters alone follows "bearer" in prose.
        if not found.group(1).isalpha():
            yield Kind.TOKEN, *found.span(1)
    ends = [found.end() for found in _KEY_ENDS.finditer(reading.text)]
    for found in _KEY_BEGINS.finditer(reading.text):
        after = bisect_left(ends, found.end())
        yield Kind.PRIVATE_KEY, found.start(), ends[after] if after < len(ends) else found.end()
    for found in _CONNECTION.finditer(reading.folded):
        yield Kind.CONNECTION_STRING, *found.span()
    for found in _TOLD.finditer(reading.folded):
        if _is_told(found, reading):
            yield Kind.PASSWORD, *found.span(_said_in(found))


def _is_token_header(segment: str) -> bool:
    """Say whether a segment is the header of a JSON Web Token: an object that names an algorithm."""
    padded = segment[:_ALGORITHM_CHARACTERS_MAX] + "=" * (-len(segment) % 4)
    try:
        header = json.loads(base64.urlsafe_b64decode(padded))
    except (binascii.Error, ValueError):
        return False
    return isinstance(header, dict) and "alg" in header


def _said_in(found: re.Match[str]) -> str:
    return "value" if found["quoted"] is None else "quoted"


def _is_told(found: re.Match[str], reading: Reading) -> bool:
    """Say whether a statement tells the secret, and not something about it (`the password is required`)."""
    start, end = found.span(_said_in(found))
    value = reading.text[start:end].rstrip(".,;:!?)")
    word = value.lower()
    if not word or word in _NO_SECRET or set(word) <= set("*x.-_?#"):
        return False
    has_digit = any(character.isdigit() for character in word)
    if found.group().startswith(("pin", "cv")):
        return has_digit and len(word) <= 12  # noqa: PLR2004 - no PIN is longer (ISO 9564)
    if found.group("quote") or has_digit or not word.isalpha():
        return len(word) > 3 and not word.startswith(("${", "{{", "http"))  # noqa: PLR2004 - shorter is no secret
    is_mixed = not value.islower() and not value.istitle() and not value.isupper()
    return is_mixed or _END_OF_STATEMENT.match(reading.folded, start + len(value)) is not None
