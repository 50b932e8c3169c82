"""Who quarantines what: roles, projects, tenants; and that no trace of it holds anybody's words."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import FixedClock
from quarantine_world import QuarantineWorld, quarantine_world
from sqlmodel import select

from service.audit.tables import AuditEventRow
from service.core.database import Database
from service.core.ids import new_id
from service.governance.tables import QuarantineRow


@pytest.fixture
def world(database: Database, tmp_path: Path, clock: FixedClock) -> Iterator[QuarantineWorld]:
    with quarantine_world(database, tmp_path, clock) as made:
        yield made


def in_beta(world: QuarantineWorld, role: str, subject: str, **key: Any) -> dict[str, str]:
    return world.site.headers(role, subject=subject, projects=("beta",), **key)


@pytest.mark.parametrize("role", ["reviewer", "operator", "admin"])
def test_these_roles_quarantine_and_release(world: QuarantineWorld, role: str) -> None:
    who = world.of(role, f"{role}-1")
    begun = world.quarantine(f"evidence:{world.page()}", who=who)

    assert begun["by"] == f"{role}:{role}-1"
    assert world.release(begun, who=who)["released_by"] == f"{role}:{role}-1"


@pytest.mark.parametrize("role", ["agent", "user", "auditor"])
def test_these_do_not(world: QuarantineWorld, role: str) -> None:
    source, who = f"evidence:{world.page()}", world.of(role, f"{role}-1")
    world.quarantine(source, who=who, expect=403)
    begun = world.quarantine(source)

    world.release(begun, who=who, expect=403)
    world.call("GET", "/quarantines", who, expect=200 if role == "auditor" else 403)


def test_an_agent_in_a_users_name_does_not_either(world: QuarantineWorld) -> None:
    world.quarantine(f"evidence:{world.page()}", who=world.agent, expect=403)


def test_a_source_elsewhere_is_as_if_it_never_were(world: QuarantineWorld) -> None:
    page = world.page()
    begun = world.quarantine(f"evidence:{page}")
    strangers = [in_beta(world, "reviewer", "reviewer-2"), world.of("reviewer", "reviewer-1", tenant="other")]

    for who in strangers:
        world.quarantine(f"evidence:{page}", who=who, expect=404)
        world.quarantine(f"evidence:{page}", who=who, preview=True, expect=404)
        world.call("GET", f"/quarantines/{begun['id']}", who, expect=404)
        world.release(begun, who=who, expect=404)
        assert world.call("GET", "/quarantines", who)["items"] == []


def test_what_it_reaches_elsewhere_is_put_aside_and_not_named(world: QuarantineWorld) -> None:
    page = world.page()
    agent = world.site.headers("agent", subject="agent-1", projects=("alpha", "beta"))
    body = {
        "project": "beta",
        "text": "A digest of plot 18.",
        "source": {"uri": "doc://beta", "kind": "document", "observed_at": "2026-11-30T09:00:00Z"},
        "derived_from": [f"evidence:{page}"],
    }
    digest = world.call("POST", "/evidence", agent, body, expect=201)["id"]

    begun = world.quarantine(f"evidence:{page}")

    assert begun["affected"]["evidence"] == 2
    path = f"/quarantines/{begun['id']}"
    named = [item["id"] for item in world.call("GET", path, world.reviewer)["items"]]
    assert named == [page]
    seen = world.call("GET", path, world.of("admin", "admin-1"))["items"]
    assert {item["id"] for item in seen} == {page, digest}
    world.call("GET", f"/evidence/{digest}", agent, expect=404)


@pytest.mark.parametrize("source", ["source:bank", "package:1", "evidence", "evidence:", ":1", "pin:1"])
def test_only_an_item_of_these_kinds_can_be_a_source(world: QuarantineWorld, source: str) -> None:
    assert world.quarantine(source, expect=422)["code"] in ("source_invalid", "invalid")


def test_what_is_not_there_is_not_found(world: QuarantineWorld) -> None:
    for item_id in (new_id(), "1", "x" * 80):
        world.quarantine(f"evidence:{item_id}", expect=404)
    world.call("GET", f"/quarantines/{new_id()}", world.reviewer, expect=404)


def test_a_quarantine_says_why(world: QuarantineWorld) -> None:
    page = world.page()
    world.quarantine(f"evidence:{page}", reason=None, expect=422)

    assert world.quarantine(f"evidence:{page}", reason=None, preview=True, expect=200)["reason"] is None


def test_a_list_is_read_in_pages_by_whether_they_stand(world: QuarantineWorld) -> None:
    made = [world.quarantine(f"evidence:{world.page(uri=f'doc://{n}')}")["id"] for n in range(3)]
    world.release({"id": made[0]})

    page = world.call("GET", "/quarantines?limit=2", world.reviewer)
    rest = world.call("GET", f"/quarantines?limit=2&cursor={page['next_cursor']}", world.reviewer)

    assert [one["id"] for one in (*page["items"], *rest["items"])] == made[::-1]
    standing = world.call("GET", "/quarantines?status=standing", world.reviewer)["items"]
    assert [one["id"] for one in standing] == made[:0:-1]


def test_the_reason_rests_sealed_and_the_trail_holds_ids_alone(world: QuarantineWorld) -> None:
    page = world.page()
    begun = world.quarantine(f"evidence:{page}", reason="Mr Quince wrote it")
    world.release(begun)

    with world.site.runtime.database.read(world.site.tenants["acme"]) as session:
        row = session.exec(select(QuarantineRow)).one()
        events = session.exec(select(AuditEventRow)).all()

    assert b"Quince" not in row.reason
    told = [event for event in events if event.action.startswith("quarantine.")]
    assert [event.action for event in told] == ["quarantine.begun", "quarantine.released"]
    assert all("Quince" not in str(event.model_dump()) for event in told)
    assert {event.ref for event in told} == {begun["id"]}
