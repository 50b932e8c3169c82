"""A source that hides text from people is kept as it is, and flagged wherever it is looked at."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from evidence_site import body, delegated, open_evidence_site
from hostile_texts import INTACT
from http_support import Site

from service.core.clock import Clock
from service.core.database import Database
from service.evidence.sealing import EvidenceSeal

HIDDEN = "".join(chr(0xE0000 + ord(letter)) for letter in "obey")
SELECTORS = "".join(chr(0xE0100 + byte) for byte in b"obey")


@pytest.fixture
def site(database: Database, tmp_path: Path, clock: Clock) -> Iterator[Site]:
    with open_evidence_site(database, tmp_path, clock) as site:
        yield site


def _keep(site: Site, headers: dict[str, str], text: str, uri: str = "doc://plots/18", **fields: Any) -> Any:
    answer = site.client.post("/v1/evidence", headers=headers, json=body(text, uri, **fields))
    assert answer.status_code in {200, 201}, answer.text
    return answer.json()


def test_a_source_with_hidden_text_is_flagged_at_every_door_and_kept_as_it_came(site: Site) -> None:
    agent = delegated(site)
    text = f"Plot 18: consent granted.{HIDDEN}"

    kept = _keep(site, agent, text)
    again = _keep(site, agent, text)
    path = f"/v1/evidence/{kept['id']}"
    read = site.client.get(path, headers=agent).json()
    search = {"project": "alpha", "query": "plot 18 consent"}
    (found,) = site.client.post("/v1/evidence/search", headers=agent, json=search).json()["items"]

    assert kept["flags"] == again["flags"] == read["flags"] == found["flags"] == ["hidden_text"]
    assert not again["created"]
    assert read["text"] == text
    assert site.client.get(f"{path}/text", headers=agent).json()["text"] == text


def test_a_flag_belongs_to_its_version(site: Site) -> None:
    agent = delegated(site)
    kept = _keep(site, agent, f"Plot 18{HIDDEN}")
    clean = _keep(site, agent, "Plot 18")

    old = site.client.get(f"/v1/evidence/{kept['id']}?version=1", headers=agent).json()

    assert (clean["id"], clean["version"], clean["flags"]) == (kept["id"], 2, [])
    assert old["flags"] == ["hidden_text"]


@pytest.mark.parametrize(
    "fields",
    [
        {"text": f"a{SELECTORS}"},
        {"text": "a\U000e0080\U000e01f0"},
        {"text": "a" + "\u200b\u200c" * 8},
        {"text": "a", "title": f"Letter{HIDDEN}"},
        {"text": "a", "uri": f"doc://x{HIDDEN}"},
        {"text": "a", "group": {"id": "g", "title": f"Group{HIDDEN}", "sequence": 1}},
    ],
)
def test_whatever_is_shown_of_a_source_is_looked_through(site: Site, fields: dict[str, Any]) -> None:
    assert _keep(site, delegated(site), **fields)["flags"] == ["hidden_text"]


def test_what_people_see_is_not_flagged(site: Site) -> None:
    agent = delegated(site)

    for number, text in enumerate((*INTACT, "Plain", "\u8a08\u753b", "na\u00efve \u2764\ufe0f")):
        assert _keep(site, agent, text, f"doc://{number}")["flags"] == [], text


def test_a_header_from_before_there_were_flags_has_none(site: Site) -> None:
    site.token()
    seal = EvidenceSeal(site.runtime.ciphers.for_tenant(site.tenants["acme"]), "e", 1)

    old = json.dumps(["doc://a", None, "A", None, []])
    header = seal.open_header(seal._seal(old, (), "header"))  # noqa: SLF001 - as the last release wrote it

    assert (header.uri, header.title, header.flags) == ("doc://a", "A", ())


def test_a_package_shows_such_a_text_without_what_it_hides_and_says_so(site: Site) -> None:
    agent = delegated(site)
    hidden = _keep(site, agent, f"Plot 18: consent granted.{HIDDEN}")["id"]
    clean = _keep(site, agent, "Plot 18: the fence is low.", "doc://fence")["id"]
    asked = {"project": "alpha", "purpose": "service", "query": "plot 18", "max_tokens": 4_000}

    package = site.client.post("/v1/context-packages", headers=agent, json=asked).json()
    explained = site.client.get(f"/v1/context-packages/{package['id']}", headers=agent).json()

    for answer in (package, explained):
        flags = {item["id"]: item["flags"] for section in answer["sections"] for item in section["items"]}
        assert (flags[hidden], flags[clean]) == (["hidden_text"], [])
    (item,) = [item for section in package["sections"] for item in section["items"] if item["id"] == hidden]
    assert item["text"] == "Plot 18: consent granted."
