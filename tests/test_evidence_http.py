"""Evidence over HTTP: statuses, shapes, refusals, and search that sees what was just written."""

import itertools
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from conftest import FixedClock
from evidence_site import SOURCE, body, delegated, open_evidence_site
from http_support import Site

from service.core.database import Database
from service.evidence.tables import EvidenceRow
from service.identity.model import Role

MISSING = "01936d7e-5d5c-7c3e-9d0a-6c1f0f3f7a11"


@pytest.fixture
def site(database: Database, tmp_path: Path, clock: FixedClock) -> Iterator[Site]:
    with open_evidence_site(database, tmp_path, clock, ("acme", "other")) as opened:
        yield opened


@pytest.fixture
def agent(site: Site) -> dict[str, str]:
    return site.headers()


def add(site: Site, headers: dict[str, str], *args: Any, **fields: Any) -> dict[str, Any]:
    answer = site.client.post("/v1/evidence", json=body(*args, **fields), headers=headers)
    assert answer.status_code in (200, 201), answer.text
    return dict(answer.json())


def search(site: Site, headers: dict[str, str], query: str, **filters: Any) -> list[dict[str, Any]]:
    wanted = {"project": "alpha", "query": query, "filters": filters}
    answer = site.client.post("/v1/evidence/search", json=wanted, headers=headers)
    assert answer.status_code == 200, answer.text
    return list(answer.json()["items"])


def test_a_text_is_kept_read_and_found_with_its_provenance(site: Site) -> None:
    registrar = site.headers(subject="registrar", sources=["register"])
    source = {**SOURCE, "uri": "register://plots/18", "kind": "record", "source_version": "v7"}
    sent = body("Plot 18: outline consent granted on 3 March.", source=source, title="Planning register")

    answer = site.client.post("/v1/evidence", json=sent, headers=registrar)

    kept = answer.json()
    assert (answer.status_code, answer.headers["ETag"]) == (201, '"1"')
    assert kept == {
        "id": kept["id"],
        "version": 1,
        "created": True,
        "sha256": kept["sha256"],
        "trust": "first_party",
        "authority": "system_of_record",
        "limited": None,
        "tokens": kept["tokens"],
        "chunks": 1,
        "flags": [],
    }
    read = site.client.get(f"/v1/evidence/{kept['id']}", headers=registrar).json()
    assert (read["text"], read["truncated"], read["readers"]) == (sent["text"], None, ["project:alpha"])
    assert read["source"] == {**source, "retrieved_by": "agent:registrar"}
    (found,) = search(site, delegated(site), "when was consent granted for plot 18?")
    assert (found["id"], found["text"], found["span"]) == (kept["id"], sent["text"], {"start": 0, "end": 44})
    assert found["source"]["uri"] == "register://plots/18"
    assert found["scores"]


def test_the_same_again_is_200_and_a_change_is_201_with_the_next_version(
    site: Site, agent: dict[str, str]
) -> None:
    answers = [
        site.client.post("/v1/evidence", json=body(text), headers=agent) for text in ("one", "one", "two")
    ]

    assert [answer.status_code for answer in answers] == [201, 200, 201]
    assert [answer.json()["version"] for answer in answers] == [1, 1, 2]
    assert [answer.json()["created"] for answer in answers] == [True, False, True]
    assert [found["text"] for found in search(site, agent, "one two")] == ["two"]


def test_what_a_credential_may_not_claim_is_said_in_the_answer(site: Site, agent: dict[str, str]) -> None:
    kept = add(site, agent, "granted", "register://plots/18", authority="system_of_record")

    assert (kept["trust"], kept["authority"]) == ("third_party", "document")
    assert kept["limited"]["code"] == "source_not_granted"


def test_search_finds_only_what_the_filters_take(site: Site, agent: dict[str, str]) -> None:
    add(site, agent, "consent in a document", "doc://a")
    add(
        site,
        agent,
        "consent in a tool result",
        "tool://b",
        source={**SOURCE, "uri": "tool://b", "kind": "tool"},
    )

    def texts(**filters: Any) -> set[str]:
        return {found["text"] for found in search(site, agent, "consent", **filters)}

    assert texts() == {"consent in a document", "consent in a tool result"}
    assert texts(authority=["document"]) == {"consent in a document"}
    assert texts(source_kind=["tool"]) == {"consent in a tool result"}
    assert texts(observed_after="2026-11-30T09:00:00Z") == set()
    assert len(texts(observed_after="2026-11-30T08:59:59+00:00")) == 2


def test_deleted_evidence_is_nowhere_and_the_index_holds_nothing_of_it(
    site: Site, agent: dict[str, str]
) -> None:
    kept = add(site, agent, "consent " * 2_000)
    tenant_id = site.tenants["acme"]
    assert site.runtime.index.count(tenant_id) == kept["chunks"] > 1

    answer = site.client.delete(f"/v1/evidence/{kept['id']}", headers=agent)

    assert (answer.status_code, answer.json()) == (200, {"id": kept["id"], "deleted": True})
    assert site.runtime.index.count(tenant_id) == 0
    assert search(site, agent, "consent") == []
    for path in ("", "/text"):
        assert site.client.get(f"/v1/evidence/{kept['id']}{path}", headers=agent).status_code == 404


def test_of_many_deletions_at_once_one_deletes(site: Site, agent: dict[str, str]) -> None:
    path = f"/v1/evidence/{add(site, agent, 'a')['id']}"

    with ThreadPoolExecutor(6) as pool:
        answers = list(pool.map(lambda _: site.client.delete(path, headers=agent), range(6)))

    assert sorted(answer.status_code for answer in answers) == [200, *[404] * 5]


def test_another_tenant_with_the_same_content_sees_only_its_own(site: Site, agent: dict[str, str]) -> None:
    other = site.headers(tenant="other")
    mine, theirs = (add(site, headers, "consent granted") for headers in (agent, other))

    assert mine["id"] != theirs["id"]
    assert [found["id"] for found in search(site, other, "consent")] == [theirs["id"]]
    bodies = [
        site.client.get(f"/v1/evidence/{evidence_id}", headers=other).json()
        for evidence_id in (mine["id"], MISSING, "nonsense")
    ]
    for problem in bodies:
        del problem["request_id"]
    assert bodies[0] == bodies[1] == bodies[2]
    assert bodies[0]["status"] == 404
    assert site.client.delete(f"/v1/evidence/{mine['id']}", headers=other).status_code == 404


def test_roles_do_what_the_matrix_says(site: Site, agent: dict[str, str]) -> None:
    kept = add(site, agent, "consent granted")
    expected = {
        Role.USER: (200, 201),
        Role.REVIEWER: (200, 201),
        Role.AUDITOR: (200, 403),
        Role.GRADER: (403, 403),
    }

    for role, statuses in expected.items():
        headers = site.headers(role, subject=f"{role}-1")
        read = site.client.get(f"/v1/evidence/{kept['id']}", headers=headers)
        written = site.client.post("/v1/evidence", json=body("x", f"doc://{role}"), headers=headers)
        assert (read.status_code, written.status_code) == statuses, role
    assert (
        site.client.delete(
            f"/v1/evidence/{kept['id']}", headers=site.headers(Role.USER, subject="user-1")
        ).status_code
        == 403
    )


@pytest.mark.parametrize(
    ("change", "pointer"),
    [
        ({"text": ""}, "/text"),
        ({"text": None}, "/text"),
        ({"source": {**SOURCE, "uri": "no scheme"}}, "/source/uri"),
        ({"source": {**SOURCE, "uri": "doc:// x"}}, "/source/uri"),
        ({"source": {**SOURCE, "kind": "Not A Kind"}}, "/source/kind"),
        ({"source": {**SOURCE, "observed_at": "2026-11-30"}}, "/source/observed_at"),
        ({"source": {**SOURCE, "observed_at": 1764500000}}, "/source/observed_at"),
        ({"source": {**SOURCE, "observed_at": "2026-11-30T10:05:01Z"}}, "/source/observed_at"),
        ({"authority": "gospel"}, "/authority"),
        ({"readers": ["everyone"]}, "/readers/0"),
        ({"readers": ["user:a"] * 51}, "/readers"),
        ({"group": {"id": "g", "sequence": 1.5}}, "/group/sequence"),
        ({"group": {"id": "g", "sequence": -1}}, "/group/sequence"),
        ({"metadata": {"x": "y" * 17_000}}, "/metadata"),
        ({"derived_from": ["nothing"]}, "/derived_from/0"),
        ({"fresh_until": "2026-11-30T10:00:00"}, "/fresh_until"),
        ({"tenant": "other"}, "/tenant"),
    ],
)
def test_a_body_that_means_nothing_is_refused_and_leaves_no_row(
    site: Site, agent: dict[str, str], change: dict[str, Any], pointer: str
) -> None:
    sent = {**body("text"), **change}

    answer = site.client.post("/v1/evidence", json=sent, headers=agent)

    assert answer.status_code == 422, answer.text
    assert answer.json()["errors"][0]["pointer"] == pointer
    assert site.count(EvidenceRow) == 0


def test_hard_values_are_kept_exactly_and_forbidden_ones_wherever_they_hide_are_not(
    site: Site, agent: dict[str, str]
) -> None:
    hard = "👩‍👩‍👧 שלום <|endoftext|> \u2028 'quoted\" POL-358\r\n\t"
    kept = add(site, agent, hard, title="日本語", metadata={"ключ": {"a": [2**63 - 1, 1e300, "é"]}})
    read = site.client.get(f"/v1/evidence/{kept['id']}", headers=agent).json()
    assert (read["text"], read["title"]) == (hard, "日本語")
    assert read["metadata"] == {"ключ": {"a": [2**63 - 1, 1e300, "é"]}}

    for poison in (b'"\\u0000"', b'"\\ud800"', b"NaN", b"1e999", b"9223372036854775808"):
        raw = (
            b'{"project":"alpha","text":"x","source":{"uri":"doc://z","kind":"d"},"metadata":{"deep":[%b]}}'
            % poison
        )
        answer = site.client.post(
            "/v1/evidence", content=raw, headers={**agent, "Content-Type": "application/json"}
        )
        assert answer.status_code == 422, poison
    assert site.count(EvidenceRow) == 1


def test_the_longest_reference_that_is_taken_can_be_kept(site: Site, agent: dict[str, str]) -> None:
    add(site, agent, "a", derived_from=[f"turn:{'t' * 100}@999999999"])

    longer = site.client.post(
        "/v1/evidence", json=body("b", derived_from=[f"turn:{'t' * 101}"]), headers=agent
    )

    assert longer.status_code == 422


def test_text_is_read_on_and_searched_in_over_http(site: Site, agent: dict[str, str]) -> None:
    text = "".join(f"Row {number}; " for number in range(5_000))
    kept = add(site, agent, text)
    path = f"/v1/evidence/{kept['id']}"

    shown = site.client.get(path, headers=agent).json()
    part = site.client.get(f"{path}/text?start=100&end=140", headers=agent).json()
    found = site.client.post(f"{path}/grep", json={"pattern": "Row 4999;"}, headers=agent).json()

    assert (shown["truncated"], shown["text"]) == ({"kept": 20_000, "of": len(text)}, text[:20_000])
    assert (part["text"], part["characters"]) == (text[100:140], len(text))
    (match,) = found["matches"]
    assert text[match["span"]["start"] : match["span"]["end"]] == "Row 4999;"
    for wrong in (
        "start=-1",
        "start=9999999",
        "start=2147483648",
        "end=x",
        "start=5&end=2",
        "start=1&start=2",
    ):
        assert site.client.get(f"{path}/text?{wrong}", headers=agent).status_code == 422, wrong


def test_a_repeat_with_the_same_key_answers_the_first_again(site: Site, agent: dict[str, str]) -> None:
    headers = {**agent, "Idempotency-Key": "once"}
    first = site.client.post("/v1/evidence", json=body("one"), headers=headers)
    add(site, agent, "two")

    again = site.client.post("/v1/evidence", json=body("one"), headers=headers)

    assert (again.status_code, again.json()) == (201, first.json())
    assert again.headers["Idempotent-Replayed"] == "true"
    assert site.client.post("/v1/evidence", json=body("other"), headers=headers).status_code == 422


def test_a_foreign_reference_a_foreign_project_and_a_missing_one_answer_404(
    site: Site, agent: dict[str, str]
) -> None:
    foreign = add(site, site.headers(tenant="other"), "x")["id"]
    site.token(projects=["beta"], subject="somebody-else")
    rows = site.count(EvidenceRow)

    for change in itertools.chain(
        ({"supersedes": target} for target in (foreign, MISSING, "x")),
        ({"derived_from": [f"evidence:{target}"]} for target in (foreign, MISSING)),
        ({"project": name} for name in ("beta", "nowhere")),
        ({"readers": [f"project:{name}"]} for name in ("beta", "nowhere")),
    ):
        answer = site.client.post("/v1/evidence", json=body("y", "doc://y", **change), headers=agent)
        assert answer.status_code == 404, change
    assert site.count(EvidenceRow) == rows
