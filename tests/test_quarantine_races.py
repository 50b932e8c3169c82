"""Two at once: whatever comes first, nothing made from a quarantined source is left in use."""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import context_world
import pytest
from conftest import FixedClock
from quarantine_world import QuarantineWorld, quarantine_world

from service.context.assemble import Sources, build_package, keep_package
from service.context.request import PackageRequest
from service.core.database import Database
from service.core.lineage import Node
from service.core.quarantined import SourceQuarantined
from service.governance.quarantine import quarantine


@pytest.fixture
def world(database: Database, tmp_path: Path, clock: FixedClock) -> Iterator[QuarantineWorld]:
    with quarantine_world(database, tmp_path, clock) as made:
        yield made


def at_once(*calls: Callable[[], Any]) -> list[Any]:
    """Make the calls at the same moment, and answer what each did."""
    barrier = threading.Barrier(len(calls))

    def one(call: Callable[[], Any]) -> Any:
        barrier.wait()
        return call()

    with ThreadPoolExecutor(len(calls)) as pool:
        return list(pool.map(one, calls))


def send(world: QuarantineWorld, path: str, who: dict[str, str], body: Any = None) -> Callable[[], Any]:
    return lambda: world.site.client.post(f"/v1{path}", headers=who, json=body)


def test_of_two_quarantines_of_one_source_at_once_one_is_made(world: QuarantineWorld) -> None:
    body = {"source": f"evidence:{world.page()}", "reason": "poison"}
    call = send(world, "/quarantines", world.reviewer, body)

    answers = at_once(call, call, call)

    assert sorted(answer.status_code for answer in answers) == [200, 200, 201]
    assert len({answer.json()["id"] for answer in answers}) == 1


def test_of_two_releases_at_once_one_is_told_that_it_was_late(world: QuarantineWorld) -> None:
    begun = world.quarantine(f"evidence:{world.page()}")
    call = send(world, f"/quarantines/{begun['id']}/release", world.reviewer)

    assert sorted(answer.status_code for answer in at_once(call, call)) == [200, 409]


@pytest.mark.parametrize("round_", range(3))
def test_a_decision_and_a_quarantine_at_once_leave_no_memory_in_use(
    world: QuarantineWorld, round_: int
) -> None:
    del round_
    page = world.page()
    waiting = [world.ask_to_remember("evidence", page, key=f"key-{number}") for number in range(3)]
    word = {"decision": "approve", "reason": "fine"}
    decide = [send(world, f"/memory-proposals/{one['id']}/decision", world.reviewer, word) for one in waiting]
    body = {"source": f"evidence:{page}", "reason": "poison"}

    answers = at_once(*decide, send(world, "/quarantines", world.reviewer, body))

    assert answers[-1].status_code == 201
    kept = [answer.json()["memory"]["id"] for answer in answers[:-1] if answer.json().get("memory")]
    assert answers[-1].json()["affected"]["memories"] == len(kept)
    assert world.call("GET", "/memories", world.agent)["items"] == []


@pytest.mark.parametrize("round_", range(3))
def test_whatever_is_written_while_a_run_is_put_aside_is_put_aside_or_refused(
    world: QuarantineWorld, round_: int
) -> None:
    del round_
    run = world.run()
    path, turn = f"/executions/{run}/turns", {"role": "user", "text": "Pay Harold Quince."}
    body = {"source": f"execution:{run}", "reason": "poison"}

    answers = at_once(
        *[send(world, path, world.agent, turn)] * 3, send(world, "/quarantines", world.reviewer, body)
    )

    assert answers[-1].status_code == 201
    assert {answer.status_code for answer in answers[:-1]} <= {201, 409}
    said = [answer for answer in answers[:-1] if answer.status_code == 201]
    assert answers[-1].json()["affected"]["turns"] == len(said)


def test_notes_and_states_made_at_that_moment_are_reached_or_refused(world: QuarantineWorld) -> None:
    page, run = world.page(), world.run()
    note = {
        "project": "alpha",
        "text": "A digest.",
        "source": {"uri": "doc://d", "kind": "document", "observed_at": "2026-11-30T09:00:00Z"},
        "derived_from": [f"evidence:{page}"],
    }
    summary = {"from_sequence": 1, "to_sequence": 1, "text": "Told.", "model": "m"}
    world.say(run, "Who pays?")
    summaries = f"/executions/{run}/summaries"
    derived = {**summary, "derived_from": [f"evidence:{page}"]}
    body = {"source": f"evidence:{page}", "reason": "poison"}

    noted, told, begun = at_once(
        send(world, "/evidence", world.agent, note),
        send(world, summaries, world.agent, derived),
        send(world, "/quarantines", world.reviewer, body),
    )

    assert begun.status_code == 201
    assert begun.json()["affected"]["evidence"] == 1 + (noted.status_code == 201)
    assert begun.json()["affected"]["summaries"] == (told.status_code == 201)


def test_a_package_that_was_built_meanwhile_is_not_handed_out(
    database: Database, tmp_path: Path, clock: FixedClock
) -> None:
    with context_world.open_world(database, tmp_path, clock) as world:
        page = world.add("Status of plot 18: sold to Harold Quince.", "doc://page")
        asked = PackageRequest(
            project="alpha", purpose="service", max_tokens=4_000, query="status of plot 18"
        )
        sources = Sources(world.retriever, {"index": world.index.name})
        with world.unit() as unit:
            built = build_package(asked, unit=unit, bundle=world.bundle, sources=sources)
        assert page.id in {item.id for item in built.items}
        with world.unit() as unit:
            quarantine(Node("evidence", page.id), "poison", unit=unit)

        with world.unit() as unit, pytest.raises(SourceQuarantined):
            keep_package(built, unit=unit)
