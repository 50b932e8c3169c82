"""What is made from something is noted as it is made: by whatever verb, and once."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import FixedClock
from quarantine_world import QuarantineWorld, quarantine_world

from service.core.database import Database
from service.core.lineage import Lineage


@pytest.fixture
def world(database: Database, tmp_path: Path, clock: FixedClock) -> Iterator[QuarantineWorld]:
    with quarantine_world(database, tmp_path, clock) as made:
        yield made


def sources(world: QuarantineWorld, kind: str, item_id: str) -> set[str]:
    tenant_id = world.site.tenants["acme"]
    with world.site.runtime.database.read(tenant_id) as session:
        return {str(node) for node in Lineage(session, tenant_id).sources_of(kind, [item_id])}


def test_a_memory_from_what_it_cites(world: QuarantineWorld) -> None:
    page, turn = world.page(), world.say(world.run(), "Fees are paid in advance.")

    by_page = world.remember("evidence", page)["memory"]["id"]
    by_turn = world.remember("turn", turn, key="other", text="Fees come first")["memory"]["id"]

    assert sources(world, "memory", by_page) == {f"evidence:{page}"}
    assert sources(world, "memory", by_turn) == {f"turn:{turn}"}


def test_what_was_denied_leaves_nothing(world: QuarantineWorld) -> None:
    page = world.page(uri="https://example.org/")
    assert world.ask_to_remember("evidence", page)["decision"] == "denied"

    tenant_id = world.site.tenants["acme"]
    with world.site.runtime.database.read(tenant_id) as session:
        assert Lineage(session, tenant_id).made_from("evidence", [page]) == []


def test_a_run_from_each_state_and_nothing_twice(world: QuarantineWorld) -> None:
    first, second, run = world.page(), world.page(uri="doc://two"), world.run()
    world.derive_state(run, f"evidence:{first}", "note:of-its-own")
    body = {"transition": "advance", "step": 2, "state": {"derived_from": [f"evidence:{second}"]}}

    path, headers = f"/executions/{run}/checkpoints", {**world.agent, "If-Match": '"2"'}
    world.call("POST", path, headers, body, expect=201)

    assert sources(world, "execution", run) == {f"evidence:{first}", f"evidence:{second}"}


def test_a_summary_from_what_it_names_and_the_one_that_it_takes_the_place_of(world: QuarantineWorld) -> None:
    first, second, run = world.page(), world.page(uri="doc://two"), world.run()
    world.say(run, "What is known?")
    older = world.summarise(run, f"evidence:{first}")["id"]

    refs = [f"evidence:{first}", f"evidence:{second}"]
    newer = world.summarise(run, *refs, supersedes=older)["id"]

    assert sources(world, "summary", older) == {f"evidence:{first}"}
    # What the older one rests on is found through it, so that long runs do not note everything anew.
    assert sources(world, "summary", newer) == {f"summary:{older}", f"evidence:{second}"}
    assert world.quarantine(refs[0])["affected"]["summaries"] == 2


def test_a_large_tool_result_and_its_evidence_from_each_other(world: QuarantineWorld) -> None:
    run = world.run()
    source = {"uri": "tool://mail", "kind": "tool", "observed_at": "2026-11-30T10:00:00Z"}
    body = {"source": source, "media_type": "text/plain", "content": "Fees are due. " * 2_000, "summary": "s"}
    path = f"/executions/{run}/observations"
    seen = world.call("POST", path, world.agent, body, expect=201)

    assert sources(world, "observation", seen["id"]) == {f"evidence:{seen['evidence_id']}"}
    assert sources(world, "evidence", seen["evidence_id"]) == {f"observation:{seen['id']}"}


def test_a_correction_from_what_it_cites_too(world: QuarantineWorld) -> None:
    world.consent()
    first, second = world.turn(), world.turn("Please write more.")
    memory = world.propose(first)["memory"]["id"]
    body = {"text": "Prefers long answers", "provenance": [{"kind": "turn", "id": second}]}

    headers = {**world.user, "If-Match": '"1"'}
    world.call("POST", f"/memories/{memory}/corrections", headers, body, expect=201)

    assert sources(world, "memory", memory) == {f"turn:{first}", f"turn:{second}"}
