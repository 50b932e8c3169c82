"""A short document is shown whole, under one citation; a long one and a group's pieces in passages."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from http_support import PROJECT, TENANT, Site, open_site

from service.core.clock import Clock
from service.core.database import Database
from service.policies.read_folder import read_folder
from service.policies.seed import seed_bundle

ASKED = "Who must countersign the demolition of a listed chimney?"
ANSWER = "A listed chimney is demolished only when the conservation officer has countersigned."


@pytest.fixture
def site(database: Database, tmp_path: Path, clock: Clock) -> Iterator[Site]:
    with open_site(database, tmp_path, clock) as site:
        site.token()
        tenant_id = site.tenants[TENANT]
        with database.write(tenant_id) as session:
            seed_bundle(session, tenant_id, read_folder(Path(__file__).parents[1] / "policies"), now=clock())
        yield site


def _document(paragraphs: int) -> str:
    rules = [
        f"## Rule {number}\n\nFences along lane {number} are kept below {number + 3} feet, painted once in"
        f" {number + 2} years, and mended by whoever owns the meadow behind them. Gates open inwards, and"
        " none is left unlatched while sheep graze on either side of the lane or along the brook.\n\n"
        for number in range(paragraphs)
    ]
    return "".join(rules) + f"## Chimneys\n\n{ANSWER}\n"


def _add(site: Site, text: str, **fields: Any) -> dict[str, Any]:
    body = {"project": PROJECT, "text": text, "source": {"uri": "doc://rules/1", "kind": "document"}}
    answer = site.client.post(
        "/v1/evidence", headers=site.headers(on_behalf_of="user-1"), json={**body, **fields}
    )
    assert answer.status_code == 201, answer.text
    return dict(answer.json())


def _shown(site: Site, evidence_id: str, **fields: Any) -> list[dict[str, Any]]:
    body = {
        "project": PROJECT,
        "purpose": "service",
        "query": ASKED,
        "max_tokens": 6_000,
        "profile": "answer",
    }
    answer = site.client.post(
        "/v1/context-packages", headers=site.headers(on_behalf_of="user-1"), json={**body, **fields}
    )
    assert answer.status_code == 201, answer.text
    (section,) = [one for one in answer.json()["sections"] if one["name"] == "evidence"]
    return [item for item in section["items"] if item["id"] == evidence_id]


def test_a_short_document_stands_whole_where_one_of_its_passages_answers(site: Site) -> None:
    text = _document(8)
    kept = _add(site, text)
    assert kept["chunks"] > 1

    (item,) = _shown(site, kept["id"])

    assert item["text"] == text.strip("\n")
    assert (item["span"]["start"], item["span"]["end"]) == (0, len(text.strip("\n")))
    assert not item["card"]
    assert item["truncated"] is None


def test_a_long_document_stands_in_the_passages_that_were_found(site: Site) -> None:
    kept = _add(site, _document(40))

    items = _shown(site, kept["id"], sections={"evidence": {"max": 700}})

    whole = [item for item in items if not item["card"]]
    assert any(ANSWER in item["text"] for item in whole)
    assert all(item["span"]["end"] - item["span"]["start"] < len(_document(40)) // 2 for item in whole)


def test_a_piece_of_a_group_stays_what_it_is(site: Site) -> None:
    kept = _add(site, _document(8), group={"id": "minutes", "title": "Minutes", "sequence": 1})

    items = _shown(site, kept["id"])

    assert kept["chunks"] == len(items) > 1


def test_where_the_whole_does_not_fit_a_card_says_that_it_is_there(site: Site) -> None:
    kept = _add(site, _document(8))

    (item,) = _shown(site, kept["id"], sections={"evidence": {"max": 250}})

    assert item["card"]
