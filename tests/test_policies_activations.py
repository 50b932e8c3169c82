"""Another policy counts on the word of who may, as it was looked at; what is looser on two persons' words."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from activations_world import activate, admin_of, keep_memories, keep_plan, send
from conftest import FixedClock
from memories_world import MemoryWorld, memory_world

from service.core.database import Database
from service.core.ids import new_id

STRICTER = ("days: 365", "days: 364")
LOOSER = ("days: 365", "days: 366")


@pytest.fixture
def world(database: Database, tmp_path: Path, clock: FixedClock) -> Iterator[MemoryWorld]:
    with memory_world(database, tmp_path, clock) as world:
        _ = world.user
        yield world


def _version(world: MemoryWorld) -> tuple[str, int]:
    found = world.call("GET", "/policies", admin_of(world))
    return found["version"], found["revision"]


def _expiry_days(world: MemoryWorld) -> int:
    classes = world.call("GET", "/policies", admin_of(world))["classes"]
    return int(next(one for one in classes if one["name"] == "preference")["expiry"]["days"])


def test_a_stricter_version_counts_at_the_next_request(world: MemoryWorld) -> None:
    plan = keep_plan(world, STRICTER)

    done = activate(world, plan)

    assert (done.status_code, done.json()["status"], done.json()["revision"]) == (201, "active", 2)
    assert _version(world) == (plan.candidate_version, 2)
    assert _expiry_days(world) == 364
    kept = world.call("GET", "/policies/activations", world.of("auditor", "auditor-1"))["items"]
    assert [(one["kind"], one["status"], one["direction"]) for one in kept] == [
        ("activate", "active", "stricter")
    ]


def test_a_looser_version_waits_for_another_person(world: MemoryWorld) -> None:
    before = _version(world)
    plan = keep_plan(world, LOOSER)

    asked = activate(world, plan)
    path = f"/activations/{asked.json()['id']}/approve"
    own = send(world, path, None, admin_of(world), None)
    # The same person under another key is the same person.
    other_key = world.site.headers("policy_admin", subject="admin-a")
    again = send(world, path, None, other_key, None)
    unchanged = _version(world)
    done = send(world, path, None, admin_of(world, "admin-b"), None)
    twice = send(world, path, None, admin_of(world, "admin-b"), None)

    assert (asked.status_code, asked.json()["status"]) == (202, "pending_second_person")
    assert [own.status_code, again.status_code] == [403, 403]
    assert own.json()["code"] == "second_person_needed"
    assert unchanged == before
    assert (done.status_code, done.json()["status"], done.json()["revision"]) == (200, "active", 2)
    assert _expiry_days(world) == 366
    assert twice.json()["code"] == "activation_settled"


def test_only_what_was_looked_at_is_activated(world: MemoryWorld) -> None:
    plan = keep_plan(world, STRICTER)
    wrong_hash = {"plan": plan.id, "hash": "sha256:" + "0" * 64}

    mismatch = send(world, "/activations", wrong_hash, admin_of(world), 1)
    blind = send(world, "/activations", {"plan": plan.id, "hash": plan.hash}, admin_of(world), None)
    stale = activate(world, plan, revision=7)
    unknown = send(world, "/activations", {"plan": new_id(), "hash": plan.hash}, admin_of(world), 1)

    assert mismatch.json()["code"] == "plan_mismatch"
    assert (blind.status_code, stale.status_code, unknown.status_code) == (428, 412, 404)
    assert stale.json()["current_version"] == 1
    assert _version(world)[1] == 1


def test_a_plan_for_another_version_than_the_present_is_outdated(world: MemoryWorld) -> None:
    first, second = keep_plan(world, STRICTER), keep_plan(world, ("quota: 200", "quota: 199"))
    activate(world, first)

    late = activate(world, second, revision=2)

    assert late.json()["code"] == "plan_outdated"
    assert _version(world) == (first.candidate_version, 2)


def test_of_many_at_once_one_counts(world: MemoryWorld) -> None:
    plans = [keep_plan(world, ("quota: 200", f"quota: {number}")) for number in (101, 102, 103, 104)]
    admin = admin_of(world)

    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda plan: activate(world, plan, admin), plans))

    assert sorted(answer.status_code for answer in answers) == [201, 412, 412, 412]
    assert _version(world)[1] == 2


def test_what_would_affect_too_much_is_refused_by_the_policy_that_counts(world: MemoryWorld) -> None:
    keep_memories(world, 51)
    keep_memories(world, 49, class_name="workflow_setting", purpose="service")
    too_much = keep_plan(world, STRICTER)

    refused = activate(world, too_much)
    keep_memories(world, 2, class_name="workflow_setting", purpose="service")
    # Half of all, and no more.
    done = activate(world, keep_plan(world, STRICTER))

    assert too_much.effect.affected["memories"]["sooner"] == 51
    assert (refused.status_code, refused.json()["code"]) == (409, "blast_radius_exceeded")
    assert done.status_code == 201


def test_a_plan_is_outdated_when_the_data_have_moved(world: MemoryWorld, clock: FixedClock) -> None:
    keep_memories(world, 20)
    keep_memories(world, 30, class_name="workflow_setting", purpose="service")
    plan, looser = keep_plan(world, STRICTER), keep_plan(world, LOOSER)
    asked = activate(world, looser).json()["id"]
    keep_memories(world, 2)

    # Two of fifty are within five in a hundred, and a third is not. That time passes moves nothing.
    clock.advance(days=150)
    keep_memories(world, 1)
    late = activate(world, plan)
    approved = send(world, f"/activations/{asked}/approve", None, admin_of(world, "admin-b"), None)

    assert (late.status_code, late.json()["code"]) == (409, "plan_outdated")
    assert (approved.status_code, approved.json()["code"]) == (409, "plan_outdated")
    assert _version(world)[1] == 1
    assert activate(world, keep_plan(world, STRICTER)).status_code == 201


def test_data_that_moved_a_little_outdate_no_plan(world: MemoryWorld, clock: FixedClock) -> None:
    keep_memories(world, 20)
    keep_memories(world, 30, class_name="workflow_setting", purpose="service")
    plan = keep_plan(world, ("days: 365", "days: 100"))
    keep_memories(world, 2)
    # What would have ended sooner would have run out by now: time alone moves it from the one to the other.
    clock.advance(days=150)

    assert activate(world, plan).status_code == 201


def test_going_back_is_an_activation_too(world: MemoryWorld) -> None:
    first = _version(world)[0]
    activate(world, keep_plan(world, STRICTER))
    world.propose(None)

    asked = send(world, "/rollback", {"to": None}, admin_of(world), 2)
    unchanged = _version(world)[1]
    approved = send(world, f"/activations/{asked.json()['id']}/approve", None, admin_of(world, "b"), None)

    # Back to the longer time: looser, so two persons.
    assert (asked.status_code, asked.json()["kind"], asked.json()["to_version"]) == (202, "rollback", first)
    assert asked.json()["cannot_be_undone"] == {"memories_ended": 0, "proposals_denied": 1}
    assert unchanged == 2
    assert approved.json()["status"] == "active"
    assert _version(world) == (first, 3)
    back = send(world, "/rollback", {"to": None}, admin_of(world), 3)
    assert (back.status_code, _version(world)[1]) == (201, 4)


def test_there_is_nothing_to_go_back_to_at_first_and_no_foreign_version(world: MemoryWorld) -> None:
    first = send(world, "/rollback", {"to": None}, admin_of(world), 1)
    never = send(world, "/rollback", {"to": "sha256:" + "1" * 64}, admin_of(world), 1)

    assert first.json()["code"] == "nothing_to_activate"
    assert never.status_code == 404


def test_what_waits_is_called_off_or_gives_way_to_the_next(world: MemoryWorld) -> None:
    one = activate(world, keep_plan(world, LOOSER)).json()
    two = activate(world, keep_plan(world, ("quota: 200", "quota: 201"))).json()
    off = send(world, f"/activations/{two['id']}/cancel", None, admin_of(world, "admin-b"), None)

    late = [
        send(world, f"/activations/{name}/approve", None, admin_of(world, "admin-b"), None)
        for name in (one["id"], two["id"])
    ]

    assert off.json()["status"] == "cancelled"
    assert [answer.json()["code"] for answer in late] == ["activation_settled"] * 2
    assert _version(world)[1] == 1


@pytest.mark.parametrize("role", ["policy_author", "auditor", "user", "agent", "admin", "operator"])
def test_nobody_else_activates_approves_or_goes_back(world: MemoryWorld, role: str) -> None:
    plan = keep_plan(world, STRICTER)
    waiting = activate(world, keep_plan(world, LOOSER)).json()["id"]
    who = world.of(role, "somebody", for_user="user-1" if role == "agent" else None)

    answers = [
        activate(world, plan, who),
        send(world, f"/activations/{waiting}/approve", None, who, None),
        send(world, f"/activations/{waiting}/cancel", None, who, None),
        send(world, "/rollback", {"to": None}, who, 1),
    ]

    assert {answer.status_code for answer in answers} == {403}
    assert _version(world)[1] == 1


def test_another_tenant_knows_nothing_of_it(world: MemoryWorld) -> None:
    plan = keep_plan(world, STRICTER)
    waiting = activate(world, keep_plan(world, LOOSER)).json()["id"]
    stranger = admin_of(world, tenant="other")

    answers = [
        activate(world, plan, stranger),
        send(world, f"/activations/{waiting}/approve", None, stranger, None),
        send(world, f"/activations/{new_id()}/approve", None, stranger, None),
    ]

    assert {answer.status_code for answer in answers} == {404}
    assert world.call("GET", "/policies/activations", stranger)["items"] == []


def test_the_trail_tells_who_asked_and_who_said_yes(world: MemoryWorld) -> None:
    waiting = activate(world, keep_plan(world, LOOSER)).json()["id"]
    send(world, f"/activations/{waiting}/approve", None, admin_of(world, "admin-b"), None)

    events = world.call("GET", "/audit?kind=policy", world.of("auditor", "auditor-1"))["items"]

    assert [event["action"] for event in events] == ["policy.asked", "policy.activated"]
    assert len({event["principal"] for event in events}) == 2
