"""What counts more stands above what counts less on the same thing; conflicts and duplicates are shown."""

from collections.abc import Iterator
from pathlib import Path
from time import thread_time
from typing import Any

import pytest
from http_support import PROJECT, TENANT, Site, open_site
from policies_bundle import default_bundle
from tiktoken_reference import count

from service.context.model import Candidate, Part
from service.context.standing import put_standing_first
from service.core.clock import Clock
from service.core.database import Database
from service.policies.read_folder import read_folder
from service.policies.seed import seed_bundle

RECORD = "Plot 18 outline consent was granted on 3 March."
SAID = "Ann: I hear planning officers argue. Outline consent for plot 18 was granted on 9 March."
ASKED = "What did Ann hear planning officers argue about plot 18?"


@pytest.fixture
def site(database: Database, tmp_path: Path, clock: Clock) -> Iterator[Site]:
    with open_site(database, tmp_path, clock) as site:
        site.token()
        tenant_id = site.tenants[TENANT]
        with database.write(tenant_id) as session:
            seed_bundle(session, tenant_id, read_folder(Path(__file__).parents[1] / "policies"), now=clock())
        yield site


def _add(site: Site, text: str, uri: str, authority: str = "document", **fields: Any) -> str:
    kind = "conversation" if authority == "conversation" else "document"
    body = {"project": PROJECT, "text": text, "source": {"uri": uri, "kind": kind}, "authority": authority}
    answer = site.client.post(
        "/v1/evidence", headers=site.headers(on_behalf_of="user-1"), json={**body, **fields}
    )
    assert answer.status_code == 201, answer.text
    assert answer.json()["authority"] == authority
    return str(answer.json()["id"])


def _package(site: Site, **fields: Any) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    body = {"project": PROJECT, "purpose": "service", "query": ASKED, "max_tokens": 4_000}
    answer = site.client.post(
        "/v1/context-packages", headers=site.headers(on_behalf_of="user-1"), json={**body, **fields}
    )
    assert answer.status_code == 201, answer.text
    package = answer.json()
    (section,) = [one for one in package["sections"] if one["name"] == "evidence"]
    return package, section["items"]


def test_what_was_said_never_stands_above_business_evidence_and_is_shown_as_contested(site: Site) -> None:
    site.runtime.retriever.reranker = None  # words alone: whoever says more of the question is found first
    said = _add(site, SAID, "chat://1", "conversation")
    record = _add(site, RECORD, "doc://register")
    _add(site, "Meadow fences are painted green.", "doc://fences")

    package, items = _package(site)

    places = [item["id"] for item in items]
    scores = {item["id"]: item["scores"]["relevance"] for item in items}
    assert scores[said] > scores[record], "else the order would say nothing"
    assert places.index(record) < places.index(said)
    flags = {item["id"]: item["flags"] for item in items}
    assert flags[said] == ["contested"]
    assert flags[record] == []
    label = next(item["citation"] for item in items if item["id"] == said)
    assert f"[{label} contested] {SAID}" in package["rendered"]["text"]
    assert package["used_tokens"] == count(package["rendered"]["text"])


def test_who_says_the_same_or_speaks_of_something_else_is_not_contested(site: Site) -> None:
    agreeing = _add(
        site, "Ann: So outline consent was granted on 3 March, plot 18.", "chat://1", "conversation"
    )
    other = _add(site, "Bob: The fences by the brook need 40 new posts.", "chat://2", "conversation")
    _add(site, RECORD, "doc://register")

    _, items = _package(site, query="status of plot 18, and fences by the brook")

    assert {item["id"]: item["flags"] for item in items if item["id"] in (agreeing, other)} == {
        agreeing: [],
        other: [],
    }


def test_a_summary_never_stands_above_what_it_sums_up(site: Site) -> None:
    site.runtime.retriever.reranker = None
    summary = _add(
        site,
        "Planning officers argue, as Ann did hear. Outline consent for plot 18 was granted.",
        "sum://1",
        "model_summary",
    )
    said = _add(site, "Bob: Outline consent was granted for plot 18.", "chat://1", "conversation")
    _add(site, "Meadow fences are painted green.", "doc://fences")

    _, items = _package(site)

    scores = {item["id"]: item["scores"]["relevance"] for item in items}
    assert scores[summary] > scores[said], "else the order would say nothing"
    places = [item["id"] for item in items]
    assert places.index(said) < places.index(summary)


def test_near_duplicates_are_one_item_that_names_all_sources(site: Site) -> None:
    said = _add(site, "plot 18 outline consent was granted, on 3 March", "chat://1", "conversation")
    record = _add(site, RECORD, "doc://register")

    package, items = _package(site)

    (item,) = items
    assert item["id"] == record
    (merged,) = item["merged"]
    assert (merged["id"], merged["source"]["uri"], merged["version"]) == (said, "chat://1", 1)
    assert merged["span"] == {"start": 0, "end": 47}
    assert [(one["id"], one["reason"]) for one in package["omissions"]] == [(said, "duplicate")]


def test_what_was_superseded_is_not_shown(site: Site) -> None:
    old = _add(site, "Plot 18 outline consent was refused.", "doc://register/1")
    new = _add(site, RECORD, "doc://register/2", supersedes=old)

    package, items = _package(site)

    assert [item["id"] for item in items] == [new]
    assert old not in package["rendered"]["text"]


def test_each_score_is_shown_and_the_profile_weighs_them(site: Site) -> None:
    _add(site, RECORD, "doc://register")
    _add(site, "Bob: Plot 18 lies by the brook.", "chat://1", "conversation")
    weights = default_bundle().profiles["default"].weights

    _, items = _package(site)

    assert len(items) == 2
    total = weights.relevance + weights.authority + weights.freshness
    for item in items:
        scores = item["scores"]
        weighed = sum(
            getattr(weights, name) * scores[name] for name in ("relevance", "authority", "freshness")
        )
        assert scores["score"] == pytest.approx(weighed / total, abs=1e-5)


def test_texts_that_repeat_each_other_take_bounded_work_and_keep_their_order() -> None:
    repeated = "Outline consent for the plot was granted in March. "
    candidates = [
        Candidate(
            kind="evidence",
            id=str(number),
            version=1,
            parts=(Part("", "".join(f"{repeated}Item {number} of {other}. " for other in range(150))),),
            sha256="",
            authority="conversation" if number % 2 else "document",
        )
        for number in range(200)
    ]

    begun = thread_time()
    ordered = put_standing_first(candidates)

    assert thread_time() - begun < 5
    assert sorted(one.id for one in ordered) == sorted(one.id for one in candidates)
    for authority in ("conversation", "document"):
        own = [int(one.id) for one in ordered if one.authority == authority]
        assert own == sorted(own)
