"""Six scripts: words of each are told apart, questions find their notices, and no cut splits a character."""

from collections.abc import Iterator
from typing import Any, Final

import pytest
import regex
from conftest import FixedClock, sqlite_record
from evidence_site import delegated, open_evidence_site
from http_support import Site
from languages import NOTICES, TOPICS
from tiktoken_reference import count

from service.adapters.bm25 import Bm25Encoder
from service.context.blocks import card_text
from service.context.model import Candidate, Part, Shape
from service.context.truncate import truncate

PARTS: Final = (
    "Genehmigung zum Bau", "Gebühr zum Parken", "Versorgung mit Wasser", "Fahrplan vom Bus",
    "Bücherei der Stadt", "alte Geräte mit Strom", "Befall durch einen Pilz", "Ruhe in der Nacht",
)  # fmt: skip
"""Each names the parts of a compound of the German notice in its place, and no whole word of it."""
CLUSTERS: Final = {
    "Hindi": "क्षेत्र में कृषि की स्थिति अच्छी है। " * 12,
    "Thai": "น้ำที่นี่ใช้ได้ทั้งปี " * 20,
    "Arabic": "مُحَمَّدٌ يَكْتُبُ رِسَالَةً طَوِيلَةً. " * 12,
    "Japanese": "か\u3099ぎの数は三つです。葛\U000e0100城市の記録。" * 12,
    "German": "u\u0308ber die Ma\u00dfnahmen der Bu\u0308rgermeisterin hinaus. " * 12,
    "Russian": "и\u0306од и е\u0308лка стоя\u0301т у доро\u0301ги. " * 12,  # noqa: RUF001 - Cyrillic
    "emoji": "👩‍👩‍👧 🏳️‍🌈 👍🏽 1️⃣ 🇩🇪🇫🇷 ❤️ " * 12,
}
"""Texts whose characters are several code points each."""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    folder = tmp_path_factory.mktemp("languages")
    database = sqlite_record(folder / "record.db")
    with open_evidence_site(database, folder / "data", FixedClock()) as site:
        for language, notices in NOTICES.items():
            for topic, (text, _) in zip(TOPICS, notices, strict=True):
                _keep(site, text, f"doc://{language}/{topic}")
        yield site
    database.close()


def _keep(site: Site, text: str, uri: str, project: str = "alpha") -> None:
    body = {"project": project, "text": text, "source": {"uri": uri, "kind": "document"}}
    answer = site.client.post("/v1/evidence", headers=delegated(site), json=body)
    assert answer.status_code == 201, answer.text


def _ranks(site: Site, question: str) -> list[str]:
    search = {"project": "alpha", "query": question, "limit": 60}
    answer = site.client.post("/v1/evidence/search", headers=delegated(site), json=search)
    return [item["source"]["uri"] for item in answer.json()["items"]]


def _package(site: Site, **fields: Any) -> Any:
    asked = {"project": "alpha", "purpose": "service", "profile": "answer", "max_tokens": 700}
    answer = site.client.post("/v1/context-packages", headers=delegated(site), json={**asked, **fields})
    assert answer.status_code == 201, answer.text
    return answer.json()


def _items(package: Any) -> list[Any]:
    return [item for section in package["sections"] for item in section["items"]]


def _evidence(package: Any) -> list[Any]:
    return [
        item for section in package["sections"] if section["name"] == "evidence" for item in section["items"]
    ]


@pytest.mark.parametrize("language", NOTICES)
def test_a_paragraph_is_many_words_to_the_sparse_encoder(language: str) -> None:
    encoder = Bm25Encoder()

    for text, question in NOTICES[language]:
        (vector,) = encoder.encode_documents([text])
        # A term for every twelve characters at least, compounds and all; and a question shares some of them.
        assert len(vector.indices) >= len(text) / 12
        assert len(set(encoder.encode_query(question).indices) & set(vector.indices)) >= 1


@pytest.mark.parametrize("language", NOTICES)
def test_a_question_finds_its_notice_first_among_seven_near_ones_and_six_other_languages(
    site: Site, language: str
) -> None:
    found = [_ranks(site, question)[0] for _, question in NOTICES[language]]

    assert found == [f"doc://{language}/{topic}" for topic in TOPICS]


def test_the_parts_of_a_compound_find_it_by_meaning(site: Site) -> None:
    ranks = [
        _ranks(site, question).index(f"doc://German/{topic}")
        for topic, question in zip(TOPICS, PARTS, strict=True)
    ]

    # No word is shared, so the dense vectors alone carry this: 5 of 8 first, all among the first five.
    assert max(ranks) < 5
    assert sum(rank == 0 for rank in ranks) >= 5


@pytest.mark.parametrize("language", NOTICES)
def test_a_package_holds_the_notice_that_answers_in_700_tokens(site: Site, language: str) -> None:
    for topic, (text, question) in zip(TOPICS, NOTICES[language], strict=True):
        package = _package(site, query=question)

        items = {item["source"]["uri"]: item for item in _evidence(package)}
        mine = items[f"doc://{language}/{topic}"]
        assert (mine["text"], mine["card"], mine["truncated"]) == (text, False, None)
        assert count(package["rendered"]["text"], "o200k_base") == package["used_tokens"] <= 700


@pytest.mark.parametrize("language", CLUSTERS)
def test_no_cut_at_any_length_splits_a_character(language: str) -> None:
    text = CLUSTERS[language]
    ends = {match.end() for match in regex.finditer(r"\X", text)}
    seen = set()

    for most in range(1, count(text, "o200k_base"), 3):
        kept = truncate(text, lambda part, most=most: count(part, "o200k_base") <= most, shape=Shape.PROSE)
        if kept is not None:
            assert text.startswith(kept)
            assert len(kept) in ends
            assert count(kept, "o200k_base") <= most
            seen.add(kept)
    assert len(seen) >= 10


@pytest.mark.parametrize("language", CLUSTERS)
def test_a_card_ends_where_a_character_does(language: str) -> None:
    text = CLUSTERS[language]
    shown = " ".join(text.split())
    ends = {match.end() for match in regex.finditer(r"\X", shown)}
    candidate = Candidate(
        kind="evidence", id="1", version=1, parts=(Part("", text),), sha256="", card_title="Letter"
    )

    for most in range(1, 64):
        card = card_text(candidate, most, lambda part: count(part, "o200k_base"))
        beginning = card.removeprefix("Letter: ")
        assert shown.startswith(beginning)
        assert len(beginning) in ends | {0}
        assert count(beginning, "o200k_base") <= most


def test_summaries_that_are_cut_keep_characters_whole_in_every_script(site: Site) -> None:
    for language, text in CLUSTERS.items():
        whole = text * 3
        run = _summarised(site, language, whole)
        ends = {match.end() for match in regex.finditer(r"\X", whole)}
        packages = [
            _package(site, query="?", max_tokens=most, execution_id=run, profile="default")
            for most in range(430, 1_600, 90)
        ]
        cut = [
            item["text"]
            for package in packages
            for item in _items(package)
            if item["kind"] == "summary" and item["truncated"]
        ]
        assert len(set(cut)) >= 2
        for kept in cut:
            assert whole.startswith(kept)
            assert len(kept) in ends


def test_a_turn_too_long_for_any_package_ends_where_a_character_does(site: Site) -> None:
    run = _summarised(site, "long", "a summary")
    # The family is one character that begins at the last place but one that a turn is shown to.
    text = "plot " * 39_999 + "1234" + "\U0001f468\u200d\U0001f469\u200d\U0001f467 and more"
    answer = site.client.post(
        f"/v1/executions/{run}/turns", headers=delegated(site), json={"role": "user", "text": text}
    )

    package = _package(site, query="plot", max_tokens=200_000, execution_id=run, profile="default")

    (item,) = [item for item in _items(package) if item["id"] == answer.json()["id"]]
    assert item["text"] == "plot " * 39_999 + "1234"


def _summarised(site: Site, name: str, text: str) -> str:
    """Open a run of which only a summary is left in the window, and answer its id."""
    headers = delegated(site)

    def post(path: str, body: dict[str, Any]) -> Any:
        answer = site.client.post(f"/v1/executions{path}", headers=headers, json=body)
        assert answer.status_code == 201, answer.text
        return answer.json()

    run = post("", {"project": "alpha", "external_ref": name, "objective": "Answer", "requirements": []})[
        "id"
    ]
    for number in range(12):
        post(f"/{run}/turns", {"role": "user", "text": f"{number}: {text[:80]}"})
    post(f"/{run}/summaries", {"from_sequence": 1, "to_sequence": 10, "text": text, "model": "m"})
    return str(run)
