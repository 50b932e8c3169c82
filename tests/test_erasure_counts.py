"""Three hundred erasures over three tenants: each takes what it names, and nobody else's count moves."""

import json
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import pytest
from conftest import FixedClock, sqlite_record
from erasure_world import CANARY, ErasureWorld, erasure_world
from sqlalchemy import text

pytestmark = [pytest.mark.timeout(900), pytest.mark.torture]

TENANTS: Final = ("acme", "globex", "initech")
LEAVERS: Final = tuple(f"leaver-{number}" for number in range(10))
"""Persons who are erased, with all that is theirs."""
STAYERS: Final = tuple(f"stayer-{number}" for number in range(5))
"""Persons who have single things erased. Everybody has the same name, words and keys in each tenant."""
ERASED_OF_STAYER: Final = 9
"""Memories, and as many items of evidence, that each of them erases; one of both stays."""
AT_ONCE: Final = 30
"""After so many requests the workers do what is due."""
TABLES: Final = ("memories", "evidence", "turns", "packages")

Owned = set[tuple[str, str]]
"""A table's name and a row's id, for each thing that somebody has."""


@dataclass
class Person:
    """Who has what, and how they call."""

    tenant: str
    name: str
    user: dict[str, str]
    run: str = ""
    memories: list[str] = field(default_factory=list)
    evidence: list[str] = field(default_factory=list)
    owned: Owned = field(default_factory=set)


@pytest.fixture
def world(tmp_path: Path, clock: FixedClock) -> Iterator[ErasureWorld]:
    # One database is enough here, and only SQLite shows the rows of all tenants to one query.
    database = sqlite_record(tmp_path / "record.db")
    with erasure_world(database, tmp_path / "data", clock) as world:
        yield world
    database.close()


def test_of_three_hundred_erasures_over_three_tenants_none_moves_anybody_elses_count(
    world: ErasureWorld,
) -> None:
    persons = [
        _settle(world, tenant, name, things=1 if name in LEAVERS else ERASED_OF_STAYER + 1)
        for tenant in TENANTS
        for name in (*LEAVERS, *STAYERS)
    ]
    requests = [request for person in persons for request in _requests(person)]
    assert len(requests) == 300
    random.Random(4).shuffle(requests)  # noqa: S311 - an order, the same in each run
    standing = _standing(world)
    assert standing == set().union(*(person.owned for person in persons))

    for start in range(0, len(requests), AT_ONCE):
        before, gone, begun = standing, set[tuple[str, str]](), []
        for person, path in requests[start : start + AT_ONCE]:
            named = person.owned if path.startswith("/subjects") else {_row(path)}
            begun.append((person, _erase(world, person, path)))
            left = _standing(world)
            assert standing - left <= named, path
            assert left <= standing, path
            standing, gone = left, gone | named
        world.carry_out()
        standing = _standing(world)
        assert before - standing == gone
        assert standing <= before
        for person, erasure_id in begun:
            _assert_receipt(world, person, erasure_id)

    for person in persons:
        _assert_lists(world, person)


def _settle(world: ErasureWorld, tenant: str, name: str, *, things: int) -> Person:
    """Let a person keep so many memories and items of evidence, a turn and a package that shows them."""
    person = Person(tenant, name, world.user(tenant, name))
    agent = world.agent(tenant, name)
    consent = {"subject": name, "granted": True, "text_version": "2026-11"}
    world.call("PUT", "/consents/personalisation", person.user, consent)
    opened = {"project": "alpha", "objective": "answer", "requirements": []}
    person.run = world.call("POST", "/executions", agent, opened, expect=201)["id"]
    said = {"role": "user", "text": f"Please keep it short, {CANARY}"}
    turn = world.call("POST", f"/executions/{person.run}/turns", agent, said, expect=201)["id"]
    person.evidence = _add_evidence(world, person, things)
    for number in range(things):
        body = world.memories.proposal(turn, subject=name, text=f"Likes {CANARY}", key=f"k-{number}")
        kept = world.call("POST", "/memory-proposals", agent, body, expect=201)
        person.memories.append(kept["memory"]["id"])
    asked = {"project": "alpha", "purpose": "personalisation", "query": CANARY, "max_tokens": 4_000}
    built = world.call("POST", "/context-packages", agent, asked, expect=201)
    person.owned = {("memories", each) for each in person.memories}
    person.owned |= {("evidence", each) for each in person.evidence}
    person.owned |= {("turns", turn), ("packages", built["id"])}
    return person


def _add_evidence(world: ErasureWorld, person: Person, things: int) -> list[str]:
    lines = [
        {
            "project": "alpha",
            "text": f"About {CANARY}",
            "source": {
                "uri": f"doc://{person.name}/{number}",
                "kind": "document",
                "observed_at": "2026-11-30T10:00:00Z",
            },
            "subjects": [person.name],
            "readers": [f"user:{person.name}"],
        }
        for number in range(things)
    ]
    answer = world.memories.site.client.post(
        "/v1/evidence/batch",
        headers=person.user | {"Content-Type": "application/x-ndjson"},
        content="\n".join(map(json.dumps, lines)),
    )
    return list(answer.json()["ids"])


def _requests(person: Person) -> Sequence[tuple[Person, str]]:
    if person.name in LEAVERS:
        return [(person, f"/subjects/{person.name}")]
    memories = [f"/memories/{each}" for each in person.memories[:ERASED_OF_STAYER]]
    evidence = [f"/evidence/{each}?derived=true" for each in person.evidence[:ERASED_OF_STAYER]]
    return [(person, path) for path in (*memories, *evidence)]


def _erase(world: ErasureWorld, person: Person, path: str) -> str:
    """Ask for one erasure by the person's own word, and answer its id."""
    if path.startswith("/memories"):
        return str(world.call("DELETE", path, person.user)["receipt"]["id"])
    return str(world.call("DELETE", path, person.user, expect=202)["id"])


def _assert_receipt(world: ErasureWorld, person: Person, erasure_id: str) -> None:
    erasure = world.call("GET", f"/erasures/{erasure_id}", person.user)
    assert (erasure["status"], erasure["failure"]) == ("completed", None)
    stores = erasure["receipt"]["stores"]
    assert stores
    assert all(store["verified"] and store["state"] == "done" for store in stores), stores


def _row(path: str) -> tuple[str, str]:
    _, table, rest = path.split("/")
    return table, rest.partition("?")[0]


def _standing(world: ErasureWorld) -> Owned:
    """Answer what all tenants together have in the record."""
    asked = " UNION ALL ".join(f"SELECT '{table}', id FROM {table}" for table in TABLES)  # noqa: S608 - our names
    database = world.memories.site.runtime.database
    with database.read(world.memories.site.tenants["acme"]) as session:
        return {(table, row_id) for table, row_id in session.connection().execute(text(asked))}


def _assert_lists(world: ErasureWorld, person: Person) -> None:
    """Assert what the person is shown: of one who left nothing, of one who stayed what they did not erase."""
    left = 0 if person.name in LEAVERS else 1
    shown = world.call("GET", "/memories", person.user)["items"]
    assert [(each["id"], each["text"]) for each in shown] == [
        (each, f"Likes {CANARY}") for each in person.memories[-1:] if left
    ]
    status = 200 if left else 404
    world.call("GET", f"/evidence/{person.evidence[-1]}", person.user, expect=status)
