"""The second stage in the service: it orders what may be read, and sees nothing else."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import FixedClock
from evidence_site import body, delegated, open_evidence_site
from http_support import Site

from service.adapters.bm25 import Bm25Encoder
from service.adapters.wordllama import WordllamaEmbedder
from service.core.database import Database
from service.retrieval.rerank.linear import LinearReranker
from service.retrieval.rerank.model import Piece, PieceKind

TALK = (
    "Ann: What did you get your dog for her birthday?",
    "Bob: A red ball from the market, she loves it.",
    "Ann: The weather is terrible today.",
    "Bob: I might read a book about ships later.",
)
ASKED = "What did Bob get his dog for her birthday?"


class Witnessed:
    """The built-in reranker, and what it was shown."""

    def __init__(self, folder: Path) -> None:
        self.built_in = LinearReranker(Bm25Encoder(), WordllamaEmbedder(folder))
        self.name = self.built_in.name
        self.seen: list[Piece] = []

    def rank(self, query: str, pieces: Any) -> Any:
        self.seen = list(pieces)
        return self.built_in.rank(query, pieces)


@pytest.fixture
def site(database: Database, tmp_path: Path, clock: FixedClock) -> Iterator[Site]:
    with open_evidence_site(database, tmp_path, clock, ("acme", "other")) as opened:
        yield opened


@pytest.fixture
def witness(site: Site, tmp_path: Path) -> Witnessed:
    witness = Witnessed(tmp_path)
    site.runtime.retriever.reranker = witness
    return witness


def tell(site: Site, headers: dict[str, str], name: str, *texts: str, **fields: Any) -> list[str]:
    ids = []
    for place, text in enumerate(texts):
        group = {"id": name, "title": "8 May, 2023", "sequence": place}
        sent = body(text, f"chat://{name}/{place}", group=group, **fields)
        answer = site.client.post("/v1/evidence", json=sent, headers=headers)
        assert answer.status_code == 201, answer.text
        ids.append(answer.json()["id"])
    return ids


def search(site: Site, headers: dict[str, str], **changes: Any) -> list[dict[str, Any]]:
    wanted = {"project": "alpha", "query": ASKED, **changes}
    answer = site.client.post("/v1/evidence/search", json=wanted, headers=headers)
    assert answer.status_code == 200, answer.text
    return list(answer.json()["items"])


def test_a_search_is_ordered_by_the_second_stage_and_shows_its_score(site: Site, witness: Witnessed) -> None:
    ids = tell(site, site.headers(), "talk", *TALK)

    found = search(site, delegated(site))

    assert found[0]["id"] == ids[1]
    assert {piece.kind for piece in witness.seen} == {PieceKind.CONVERSATION}
    weighted = [item["scores"]["weighted"] for item in found]
    assert weighted == sorted(weighted, reverse=True) == [item["score"] for item in found]
    assert {"fused", "sparse"} <= found[0]["scores"].keys()
    assert [item["id"] for item in search(site, delegated(site), limit=1)] == [ids[1]]


def test_it_sees_neither_other_readers_texts_nor_other_tenants(site: Site, witness: Witnessed) -> None:
    tell(site, site.headers(), "talk", *TALK)
    tell(site, site.headers(), "secret", "Ann: the dog's birthday is a secret", readers=["role:reviewer"])
    tell(site, site.headers(tenant="other"), "talk", "Ann: the other dog has no birthday")

    found = search(site, delegated(site))

    assert len(found) == len(witness.seen) > 0
    assert {piece.text for piece in witness.seen} <= set(TALK)


def test_what_is_deleted_takes_no_part_any_more(site: Site, witness: Witnessed) -> None:
    ids = tell(site, site.headers(), "talk", *TALK)

    site.client.delete(f"/v1/evidence/{ids[1]}", headers=site.headers())

    assert ids[1] not in [item["id"] for item in search(site, delegated(site))]
    assert TALK[1] not in [piece.text for piece in witness.seen]


def test_without_a_second_stage_the_first_one_s_order_is_answered(site: Site) -> None:
    tell(site, site.headers(), "talk", *TALK)
    site.runtime.retriever.reranker = None

    found = search(site, delegated(site))

    assert [item["score"] for item in found] == [item["scores"]["fused"] for item in found]
    assert not any("weighted" in item["scores"] for item in found)
