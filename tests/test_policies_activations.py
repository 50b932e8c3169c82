"""Another policy counts on the word of who may, as it was looked at; what is looser on two persons' words."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from conftest import FixedClock
from memories_world import POLICIES, MemoryWorld, memory_world

from service.authoring.model import Effect, Plan, hash_plan
from service.authoring.store_plans import PlanStore
from service.core.database import Database
from service.core.ids import new_id
from service.policies.differences import direction_of, rule_changes
from service.policies.load import load_bundle
from service.policies.read_folder import read_folder
from service.policies.store import PolicyStore

STRICTER = ("days: 365", "days: 364")
LOOSER = ("days: 365", "days: 366")


@pytest.fixture
def world(database: Database, tmp_path: Path, clock: FixedClock) -> Iterator[MemoryWorld]:
    with memory_world(database, tmp_path, clock) as world:
        _ = world.user
        yield world


def _admin(world: MemoryWorld, name: str = "admin-a", tenant: str = "acme") -> dict[str, str]:
    return world.of("policy_admin", name, tenant=tenant)


def _plan(world: MemoryWorld, change: tuple[str, str], memories: dict[str, int] | None = None) -> Plan:
    """Keep a plan as a simulation does, with a made-up effect."""
    files = dict(read_folder(POLICIES))
    files["classes.yaml"] = files["classes.yaml"].replace(*change, 1)
    tenant_id = world.site.tenants["acme"]
    with world.site.runtime.database.write(tenant_id) as session:
        store = PolicyStore(session, tenant_id)
        active = store.find_active()
        assert active is not None
        old = load_bundle(dict(store.find_files(active.version) or {}))
        new = load_bundle(files)
        store.add_version(new.version, files, now=world.site.clock())
        changes = rule_changes(old, new)
        parts: dict[str, Any] = {
            "candidate_version": new.version,
            "base_version": active.version,
            "base_revision": active.revision,
            "days": 30,
            "direction": direction_of(changes).value,
            "changes": [{"path": one.path} for one in changes],
            "effect": Effect({"memories": memories or {"total": 0}}, {}),
        }
        plan = Plan(id=new_id(), hash=hash_plan(**parts), made_by="x", made_at=world.site.clock(), **parts)
        PlanStore(session, tenant_id).add(plan)
    return plan


def _send(world: MemoryWorld, path: str, body: Any, who: dict[str, str], revision: int | None) -> Any:
    match = {} if revision is None else {"If-Match": f'"{revision}"'}
    return world.site.client.post(f"/v1/policies{path}", headers={**who, **match}, json=body)


def _activate(world: MemoryWorld, plan: Plan, who: dict[str, str] | None = None, revision: int = 1) -> Any:
    body = {"plan": plan.id, "hash": plan.hash}
    return _send(world, "/activations", body, who or _admin(world), revision)


def _version(world: MemoryWorld) -> tuple[str, int]:
    found = world.call("GET", "/policies", _admin(world))
    return found["version"], found["revision"]


def _expiry_days(world: MemoryWorld) -> int:
    classes = world.call("GET", "/policies", _admin(world))["classes"]
    return int(next(one for one in classes if one["name"] == "preference")["expiry"]["days"])


def test_a_stricter_version_counts_at_the_next_request(world: MemoryWorld) -> None:
    plan = _plan(world, STRICTER)

    done = _activate(world, plan)

    assert (done.status_code, done.json()["status"], done.json()["revision"]) == (201, "active", 2)
    assert _version(world) == (plan.candidate_version, 2)
    assert _expiry_days(world) == 364
    kept = world.call("GET", "/policies/activations", world.of("auditor", "auditor-1"))["items"]
    assert [(one["kind"], one["status"], one["direction"]) for one in kept] == [
        ("activate", "active", "stricter")
    ]


def test_a_looser_version_waits_for_another_person(world: MemoryWorld) -> None:
    before = _version(world)
    plan = _plan(world, LOOSER)

    asked = _activate(world, plan)
    path = f"/activations/{asked.json()['id']}/approve"
    own = _send(world, path, None, _admin(world), None)
    # The same person under another key is the same person.
    other_key = world.site.headers("policy_admin", subject="admin-a")
    again = _send(world, path, None, other_key, None)
    unchanged = _version(world)
    done = _send(world, path, None, _admin(world, "admin-b"), None)
    twice = _send(world, path, None, _admin(world, "admin-b"), None)

    assert (asked.status_code, asked.json()["status"]) == (202, "pending_second_person")
    assert [own.status_code, again.status_code] == [403, 403]
    assert own.json()["code"] == "second_person_needed"
    assert unchanged == before
    assert (done.status_code, done.json()["status"], done.json()["revision"]) == (200, "active", 2)
    assert _expiry_days(world) == 366
    assert twice.json()["code"] == "activation_settled"


def test_only_what_was_looked_at_is_activated(world: MemoryWorld) -> None:
    plan = _plan(world, STRICTER)
    wrong_hash = {"plan": plan.id, "hash": "sha256:" + "0" * 64}

    mismatch = _send(world, "/activations", wrong_hash, _admin(world), 1)
    blind = _send(world, "/activations", {"plan": plan.id, "hash": plan.hash}, _admin(world), None)
    stale = _activate(world, plan, revision=7)
    unknown = _send(world, "/activations", {"plan": new_id(), "hash": plan.hash}, _admin(world), 1)

    assert mismatch.json()["code"] == "plan_mismatch"
    assert (blind.status_code, stale.status_code, unknown.status_code) == (428, 412, 404)
    assert stale.json()["current_version"] == 1
    assert _version(world)[1] == 1


def test_a_plan_for_another_version_than_the_present_is_outdated(world: MemoryWorld) -> None:
    first, second = _plan(world, STRICTER), _plan(world, ("quota: 200", "quota: 199"))
    _activate(world, first)

    late = _activate(world, second, revision=2)

    assert late.json()["code"] == "plan_outdated"
    assert _version(world) == (first.candidate_version, 2)


def test_of_many_at_once_one_counts(world: MemoryWorld) -> None:
    plans = [_plan(world, ("quota: 200", f"quota: {number}")) for number in (101, 102, 103, 104)]
    admin = _admin(world)

    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda plan: _activate(world, plan, admin), plans))

    assert sorted(answer.status_code for answer in answers) == [201, 412, 412, 412]
    assert _version(world)[1] == 2


def test_what_would_affect_too_much_is_refused_by_the_policy_that_counts(world: MemoryWorld) -> None:
    half = _plan(world, STRICTER, {"total": 100, "sooner": 30, "now": 20, "hidden": 1})
    fine = _plan(world, STRICTER, {"total": 100, "sooner": 30, "now": 20})

    refused = _activate(world, half)

    assert (refused.status_code, refused.json()["code"]) == (409, "blast_radius_exceeded")
    assert _activate(world, fine).status_code == 201


def test_going_back_is_an_activation_too(world: MemoryWorld) -> None:
    first = _version(world)[0]
    _activate(world, _plan(world, STRICTER))
    world.propose(None)

    asked = _send(world, "/rollback", {"to": None}, _admin(world), 2)
    unchanged = _version(world)[1]
    approved = _send(world, f"/activations/{asked.json()['id']}/approve", None, _admin(world, "b"), None)

    # Back to the longer time: looser, so two persons.
    assert (asked.status_code, asked.json()["kind"], asked.json()["to_version"]) == (202, "rollback", first)
    assert asked.json()["cannot_be_undone"] == {"memories_ended": 0, "proposals_denied": 1}
    assert unchanged == 2
    assert approved.json()["status"] == "active"
    assert _version(world) == (first, 3)
    back = _send(world, "/rollback", {"to": None}, _admin(world), 3)
    assert (back.status_code, _version(world)[1]) == (201, 4)


def test_there_is_nothing_to_go_back_to_at_first_and_no_foreign_version(world: MemoryWorld) -> None:
    first = _send(world, "/rollback", {"to": None}, _admin(world), 1)
    never = _send(world, "/rollback", {"to": "sha256:" + "1" * 64}, _admin(world), 1)

    assert first.json()["code"] == "nothing_to_activate"
    assert never.status_code == 404


def test_what_waits_is_called_off_or_gives_way_to_the_next(world: MemoryWorld) -> None:
    one = _activate(world, _plan(world, LOOSER)).json()
    two = _activate(world, _plan(world, ("quota: 200", "quota: 201"))).json()
    off = _send(world, f"/activations/{two['id']}/cancel", None, _admin(world, "admin-b"), None)

    late = [
        _send(world, f"/activations/{name}/approve", None, _admin(world, "admin-b"), None)
        for name in (one["id"], two["id"])
    ]

    assert off.json()["status"] == "cancelled"
    assert [answer.json()["code"] for answer in late] == ["activation_settled"] * 2
    assert _version(world)[1] == 1


@pytest.mark.parametrize("role", ["policy_author", "auditor", "user", "agent", "admin", "operator"])
def test_nobody_else_activates_approves_or_goes_back(world: MemoryWorld, role: str) -> None:
    plan = _plan(world, STRICTER)
    waiting = _activate(world, _plan(world, LOOSER)).json()["id"]
    who = world.of(role, "somebody", for_user="user-1" if role == "agent" else None)

    answers = [
        _activate(world, plan, who),
        _send(world, f"/activations/{waiting}/approve", None, who, None),
        _send(world, f"/activations/{waiting}/cancel", None, who, None),
        _send(world, "/rollback", {"to": None}, who, 1),
    ]

    assert {answer.status_code for answer in answers} == {403}
    assert _version(world)[1] == 1


def test_another_tenant_knows_nothing_of_it(world: MemoryWorld) -> None:
    plan = _plan(world, STRICTER)
    waiting = _activate(world, _plan(world, LOOSER)).json()["id"]
    stranger = _admin(world, tenant="other")

    answers = [
        _activate(world, plan, stranger),
        _send(world, f"/activations/{waiting}/approve", None, stranger, None),
        _send(world, f"/activations/{new_id()}/approve", None, stranger, None),
    ]

    assert {answer.status_code for answer in answers} == {404}
    assert world.call("GET", "/policies/activations", stranger)["items"] == []


def test_the_trail_tells_who_asked_and_who_said_yes(world: MemoryWorld) -> None:
    waiting = _activate(world, _plan(world, LOOSER)).json()["id"]
    _send(world, f"/activations/{waiting}/approve", None, _admin(world, "admin-b"), None)

    events = world.call("GET", "/audit?kind=policy", world.of("auditor", "auditor-1"))["items"]

    assert [event["action"] for event in events] == ["policy.asked", "policy.activated"]
    assert len({event["principal"] for event in events}) == 2
