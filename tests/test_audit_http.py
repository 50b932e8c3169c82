"""Auditors look through the whole trail; a person sees what happened to their own memories, and no more."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import FixedClock
from http_support import Site
from memories_world import MemoryWorld, memory_world
from sqlalchemy import text
from sqlmodel import select

from service.adapters.subject_cipher import SubjectCiphers
from service.audit.verify import verify_chain
from service.core.database import Database
from service.identity.tables import ApiKeyRow


@pytest.fixture
def world(database: Database, tmp_path: Path, clock: FixedClock) -> Iterator[MemoryWorld]:
    with memory_world(database, tmp_path, clock) as opened:
        yield opened


def auditor(world: MemoryWorld, tenant: str = "acme") -> dict[str, str]:
    return world.of("auditor", "auditor-1", tenant=tenant)


def listed(world: MemoryWorld, who: dict[str, str], query: str = "") -> list[dict[str, Any]]:
    items = world.call("GET", f"/audit?{query}", who)["items"]
    assert isinstance(items, list)
    return items


def kept_memory(world: MemoryWorld) -> str:
    world.consent()
    return str(world.propose(world.turn())["memory"]["id"])


def test_an_auditor_sees_who_did_what_by_name(world: MemoryWorld) -> None:
    memory = kept_memory(world)

    [event] = listed(world, auditor(world), f"kind=memory&ref={memory}")

    assert (event["action"], event["principal"]) == ("memory.kept", "agent:agent-1:for:user-1")
    assert event["hash"].startswith("sha256:")
    assert event["details"]["version"] == 1


def test_the_trail_itself_names_nobody(world: MemoryWorld) -> None:
    kept_memory(world)

    with world.site.runtime.database.read(world.site.tenants["acme"]) as session:
        rows = session.connection().execute(text("SELECT * FROM audit_events")).all()

    assert rows
    assert "agent-1" not in str(rows)
    assert "user-1" not in str(rows)


def test_once_a_persons_key_is_destroyed_the_trail_tells_nobody_who_they_were(world: MemoryWorld) -> None:
    kept_memory(world)
    ciphers, tenant = world.site.runtime.ciphers, world.site.tenants["acme"]
    before = ciphers.for_tenant(tenant).pseudonym("user-1")
    assert isinstance(ciphers, SubjectCiphers)

    ciphers.keystore.destroy(tenant, "user-1")

    told = str(listed(world, auditor(world), "limit=100"))
    assert "user-1" not in told
    assert before in told
    assert listed(world, auditor(world), "principal=user:user-1") == []
    with world.site.runtime.database.read(tenant) as session:
        assert verify_chain(session, tenant, cipher=ciphers.for_tenant(tenant)).intact


def test_filters_hold_together_and_each_alone(world: MemoryWorld, clock: FixedClock) -> None:
    memory = kept_memory(world)
    clock.advance(hours=1)
    world.consent(granted=False)
    who = auditor(world)
    every = listed(world, who, "limit=100")

    def actions(query: str) -> list[str]:
        return [event["action"] for event in listed(world, who, query)]

    assert actions("action=consent.set") == ["consent.set"] * 2
    assert actions("principal=user:user-1") == ["consent.set"] * 2
    assert actions("principal=user:nobody") == []
    assert actions("from=2026-11-30T10:30:00Z") == ["consent.set"]
    assert len(actions("to=2026-11-30T10:30:00%2B00:00")) == len(every) - 1
    assert actions(f"kind=memory&ref={memory}&action=consent.set") == []
    assert actions(f"request_id={every[0]['request_id']}") == [every[0]["action"]]


def test_a_request_is_found_by_the_id_that_its_caller_made_up(world: MemoryWorld) -> None:
    headers = {**world.of("policy_author", "author-1"), "X-Request-ID": "my-request-1"}
    assert world.site.client.get("/v1/audit", headers=headers).status_code == 403

    [event] = listed(world, auditor(world), "request_id=my-request-1")

    assert (event["action"], event["ref"]) == ("request.refused", "GET:/v1/audit")
    assert "my-request-1" not in str(event)


@pytest.mark.parametrize("order", ["oldest", "newest"])
def test_pages_are_complete_under_equal_times(world: MemoryWorld, order: str) -> None:
    kept_memory(world)
    who = auditor(world)
    every = listed(world, who, f"limit=100&order={order}")

    pages: list[dict[str, Any]] = []
    cursor: str | None = ""
    while cursor is not None:
        page = world.call("GET", f"/audit?limit=1&order={order}{cursor and f'&cursor={cursor}'}", who)
        pages += page["items"]
        cursor = page["next_cursor"]

    assert pages == every
    numbers = [event["sequence"] for event in every]
    assert numbers == sorted(numbers, reverse=order == "newest") != []


def test_a_person_sees_the_events_of_their_own_memories_alone(world: MemoryWorld) -> None:
    memory = kept_memory(world)
    other = world.of("user", "user-2")

    assert [(event["kind"], event["ref"]) for event in listed(world, world.user)] == [("memory", memory)]
    assert listed(world, world.user, "kind=consent") == []
    assert listed(world, world.user, "kind=memory") == listed(world, world.user)
    assert listed(world, other) == []
    assert listed(world, other, f"kind=memory&ref={memory}") == []


def test_no_tenant_sees_anothers_trail(world: MemoryWorld) -> None:
    kept_memory(world)

    assert listed(world, auditor(world, "other")) == []


def test_a_key_that_names_one_project_does_not_read_the_trail_of_the_tenant(world: MemoryWorld) -> None:
    kept_memory(world)
    who = auditor(world)
    with world.site.runtime.database.write(world.site.tenants["acme"]) as session:
        connection = session.connection()
        project = connection.execute(text("SELECT id FROM projects")).scalar_one()
        key = who["Authorization"].split("_")[1]
        connection.execute(
            text("UPDATE api_keys SET project_id = :project WHERE id = :key"),
            {"project": project, "key": key},
        )

    world.call("GET", "/audit", who, expect=403)


@pytest.mark.parametrize("query", ["from=yesterday", "order=random", "kind=", "limit=0", "tenant=other"])
def test_a_question_that_means_nothing_is_refused(world: MemoryWorld, query: str) -> None:
    world.call("GET", f"/audit?{query}", auditor(world), expect=422)


def test_nothing_is_kept_when_the_trail_cannot_be_written(world: MemoryWorld) -> None:
    """A broken table of events, as a full disk or a broken trigger would make it."""
    world.consent()
    world.turn()
    before = _rows(world.site)
    _break_the_trail(world.site)

    body = {"project": "alpha", "objective": "answer", "requirements": []}
    response = world.site.client.post("/v1/executions", headers=world.agent, json=body)

    assert response.status_code >= 500
    assert _rows(world.site) == before


def _rows(site: Site) -> tuple[int, ...]:
    with site.runtime.database.read(site.tenants["acme"]) as session:
        names = ("executions", "turns", "outbox", "idempotency", "audit_events", "derivations")
        return tuple(
            session.connection().execute(text(f"SELECT count(*) FROM {name}")).scalar_one()  # noqa: S608 - our own names
            for name in names
        )


def _break_the_trail(site: Site) -> None:
    with site.runtime.database.write(None) as session:
        connection = session.connection()
        if site.runtime.database.is_sqlite:
            connection.execute(
                text(
                    "CREATE TRIGGER broken BEFORE INSERT ON audit_events"
                    " BEGIN SELECT RAISE(ABORT, 'broken'); END"
                )
            )
        else:
            connection.execute(text("ALTER TABLE audit_events ADD CHECK (sequence < 0) NOT VALID"))


def test_a_person_sees_and_ends_who_acts_in_their_name(world: MemoryWorld) -> None:
    _ = world.agent, world.of("agent", "agent-2", for_user="user-2"), world.of("agent", "agent-3")

    [mine] = world.call("GET", "/delegations", world.user)["items"]
    assert (mine["agent"], mine["project"], mine["expires_at"]) == ("agent-1", None, None)

    response = world.site.client.delete(f"/v1/delegations/{mine['id']}", headers=world.user)

    assert response.status_code == 204
    world.call("GET", "/executions", world.agent, expect=401)
    assert world.call("GET", "/delegations", world.user)["items"] == []
    world.call("DELETE", f"/delegations/{mine['id']}", world.user, expect=404)
    [event] = listed(world, auditor(world), "action=key.revoked")
    assert (event["ref"], event["principal"]) == (mine["id"], "user:user-1")


def test_a_key_that_acts_for_another_is_not_there(world: MemoryWorld) -> None:
    theirs = world.of("agent", "agent-2", for_user="user-2")
    key = theirs["Authorization"].split("_")[1]

    for address in (key, "x" * 16, "not-a-key", world.user["Authorization"].split("_")[1]):
        world.call("DELETE", f"/delegations/{address}", world.user, expect=404)

    world.call("GET", "/executions", theirs)
    world.call("GET", "/delegations", world.agent, expect=403)


def test_a_key_that_has_run_out_is_no_delegation(world: MemoryWorld, clock: FixedClock) -> None:
    _ = world.agent
    with world.site.runtime.database.write(world.site.tenants["acme"]) as session:
        for row in session.exec(select(ApiKeyRow)):
            row.expires_at = clock()

    assert world.site.count(ApiKeyRow) > 0
    clock.advance(seconds=1)
    fresh = world.site.headers("user", subject="user-1")
    assert world.call("GET", "/delegations", fresh)["items"] == []
