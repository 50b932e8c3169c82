"""Release gives back exactly what no other quarantine holds, as it was, as far as that can still be."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import FixedClock
from quarantine_world import QuarantineWorld, quarantine_world

from service.core.database import Database


@pytest.fixture
def world(database: Database, tmp_path: Path, clock: FixedClock) -> Iterator[QuarantineWorld]:
    with quarantine_world(database, tmp_path, clock) as made:
        yield made


def own_memory(world: QuarantineWorld, turn: str, text: str = "Prefers concise explanations") -> str:
    return str(world.propose(turn, text=text)["memory"]["id"])


def status(world: QuarantineWorld, memory: str) -> Any:
    return world.call("GET", f"/memories/{memory}", world.user)["status"]


def test_what_two_quarantines_hold_comes_back_with_the_last(world: QuarantineWorld) -> None:
    first, second = world.page(), world.page("Fees of plot 18.", uri="doc://other")
    refs = [f"evidence:{first}", f"evidence:{second}"]
    digest = world.page("A digest of fees of plot 18.", uri="doc://digest", derived_from=refs)
    one, two = world.quarantine(refs[0]), world.quarantine(refs[1])

    released = world.release(one)

    assert released["restored"]["evidence"] == 1
    assert world.found() == [first]
    assert world.release(two)["restored"]["evidence"] == 2
    assert set(world.found()) == {first, second, digest}


@pytest.mark.parametrize("first", [0, 1])
def test_a_memory_in_two_quarantines_gets_the_status_that_it_had_before_both(
    world: QuarantineWorld, first: int
) -> None:
    world.consent()
    turn = world.turn()
    memory = own_memory(world, turn)
    begun = [world.quarantine(f"memory:{memory}"), world.quarantine(f"turn:{turn}")]

    world.release(begun[first])
    assert status(world, memory) == "quarantined"
    world.release(begun[1 - first])

    assert status(world, memory) == "active"
    assert world.search(world.agent) == ["Prefers concise explanations"]


def test_its_person_sees_it_listed_and_nobody_else_does(world: QuarantineWorld) -> None:
    world.consent()
    memory = own_memory(world, world.turn())
    world.quarantine(f"memory:{memory}")

    listed = world.call("GET", "/memories?status=quarantined", world.user)["items"]
    assert [one["id"] for one in listed] == [memory]
    world.call("GET", f"/memories/{memory}", world.agent, expect=404)
    assert world.call("GET", "/memories", world.agent)["items"] == []
    assert world.search(world.agent) == []


def test_a_value_that_is_put_aside_blocks_no_new_one_and_comes_back_superseded(
    world: QuarantineWorld,
) -> None:
    world.consent()
    memory = own_memory(world, world.turn())
    begun = world.quarantine(f"memory:{memory}")
    newer = own_memory(world, world.turn(), text="Prefers detailed explanations")

    world.release(begun)

    assert (status(world, memory), status(world, newer)) == ("superseded", "active")
    assert world.search(world.agent) == ["Prefers detailed explanations"]


def test_of_two_values_of_one_slot_the_newer_comes_back(world: QuarantineWorld) -> None:
    world.consent()
    turn = world.turn()
    older = own_memory(world, turn)
    one = world.quarantine(f"memory:{older}")
    newer = own_memory(world, turn, text="Prefers detailed explanations")
    both = world.quarantine(f"turn:{turn}")

    world.release(one)
    world.release(both)

    assert (status(world, older), status(world, newer)) == ("superseded", "active")


def test_what_ran_out_meanwhile_has_run_out(world: QuarantineWorld, clock: FixedClock) -> None:
    world.consent()
    memory = own_memory(world, world.turn())
    begun = world.quarantine(f"memory:{memory}")
    clock.advance(days=400)

    world.release(begun)

    assert status(world, memory) == "expired"
    assert world.search(world.agent) == []


def test_what_was_erased_meanwhile_stays_erased(world: QuarantineWorld) -> None:
    world.consent()
    turn = world.turn()
    memory = own_memory(world, turn)
    begun = world.quarantine(f"turn:{turn}")

    world.call("DELETE", f"/memories/{memory}", world.user)

    assert world.release(begun)["status"] == "released"
    world.call("GET", f"/memories/{memory}", world.user, expect=404)


def test_a_release_lifts_no_legal_hold(world: QuarantineWorld) -> None:
    world.consent()
    memory, admin = own_memory(world, world.turn()), world.of("admin", "admin-1")
    begun = world.quarantine(f"memory:{memory}")
    place = {"scope": "memory", "ref": memory, "basis": "A court asked for it", "until": None}
    hold = world.call("POST", "/holds", admin, place, expect=201)

    world.release(begun)

    assert status(world, memory) == "active"
    assert world.search(world.agent) == []
    world.call("DELETE", f"/holds/{hold['id']}", admin)
    assert world.search(world.agent) == ["Prefers concise explanations"]


def test_a_source_that_is_gone_is_released_by_who_stands_beside_the_projects(world: QuarantineWorld) -> None:
    page = world.page()
    note = world.page("A note on fees of plot 18.", uri="doc://note", derived_from=[f"evidence:{page}"])
    begun = world.quarantine(f"evidence:{page}")
    deleted = world.site.client.delete(f"/v1/evidence/{page}", headers=world.agent)
    assert deleted.status_code in (200, 202), deleted.text

    world.release(begun, expect=404)
    assert world.release(begun, who=world.of("operator", "operator-1"))["status"] == "released"
    assert world.found() == [note]


def test_a_repeat_never_shows_what_is_put_aside(world: QuarantineWorld) -> None:
    world.page()
    headers = {**world.agent, "Idempotency-Key": "one"}
    body: dict[str, Any] = {"project": "alpha", "purpose": "service", "query": "who pays the fees of plot 18"}
    body |= {"encoding": "o200k_base", "max_tokens": 3000, "render": "markdown"}
    first = world.call("POST", "/context-packages", headers, body, expect=201)
    assert "Harold Quince" in first["rendered"]["text"]

    world.quarantine(f"evidence:{world.found()[0]}")

    assert world.call("POST", "/context-packages", headers, body, expect=410)["code"] == "erased"


def test_many_that_are_put_aside_do_not_crowd_out_what_may_be_found(world: QuarantineWorld) -> None:
    root = world.page()
    good = world.page("Fees of plot 18 are paid by the buyer.", uri="doc://good")
    source = {"kind": "document", "observed_at": "2026-11-30T09:00:00Z"}
    for number in range(120):
        body = {
            "project": "alpha",
            "text": f"Who pays the fees of plot 18? Harold Quince, as page {number} says.",
            "source": {**source, "uri": f"doc://copy/{number}"},
            "derived_from": [f"evidence:{root}"],
        }
        world.call("POST", "/evidence", world.agent, body, expect=201)

    begun = world.quarantine(f"evidence:{root}")

    assert begun["affected"]["evidence"] == 121
    assert world.found() == [good]
