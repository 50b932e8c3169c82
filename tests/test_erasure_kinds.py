"""Erasing a run's content, a source and an item: what goes with it, and what stays."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from pathlib import Path

import pytest
from conftest import FixedClock
from erasure_world import ErasureWorld, erasure_world

from service.core.database import Database
from service.core.lineage import Lineage, Node
from service.core.quarantined import Quarantined
from service.executions.ledger.tables import EffectRow
from service.executions.tables import ExecutionRow


@pytest.fixture
def world(database: Database, tmp_path: Path, clock: FixedClock) -> Iterator[ErasureWorld]:
    with erasure_world(database, tmp_path / "data", clock) as world:
        yield world


def note(world: ErasureWorld, made: Node, *sources: Node) -> None:
    tenant_id = world.memories.site.tenants["acme"]
    with world.memories.site.runtime.database.write(tenant_id) as session:
        Lineage(session, tenant_id).note(made, sources)


def finish(world: ErasureWorld, begun: dict[str, str], who: dict[str, str]) -> dict[str, object]:
    world.carry_out()
    finished: dict[str, object] = world.call("GET", f"/erasures/{begun['id']}", who)
    assert finished["status"] == "completed"
    return finished


def test_a_conversation_goes_with_all_that_was_made_from_it(world: ErasureWorld) -> None:
    left = world.leave_traces()
    kept = world.memories.propose(world.memories.turn(), key="language", text="Prefers English")["memory"]
    waiting = world.memories.propose(left.body["provenance"][0]["id"], key="tone", confidence=0.6)
    note(world, Node("memory", left.memory), Node("turn", left.body["provenance"][0]["id"]))
    user = world.user()

    begun = world.call("DELETE", f"/executions/{left.run}/content", user, expect=202)
    # Hidden at once, before the job has done anything.
    world.call("GET", f"/memories/{left.memory}", user, expect=404)
    finish(world, begun, user)

    run = world.call("GET", f"/executions/{left.run}", user)
    assert (run["status"], run["objective"]) == ("cancelled", None)
    package = world.call("GET", f"/context-packages/{left.package}", user)
    assert "Zanzibar" not in str(package)
    assert world.call("POST", "/memory-proposals", left.keyed, left.body, expect=410)["code"] == "erased"
    proposals = world.call("GET", "/memory-proposals", user)["items"]
    assert waiting["id"] not in [proposal["id"] for proposal in proposals]
    assert [memory["id"] for memory in world.call("GET", "/memories", user)["items"]] == [kept["id"]]
    # What does not come from it stays, though it is about the same person.
    world.call("GET", f"/evidence/{left.evidence}", user)


def test_an_effect_of_unknown_outcome_is_reconciled_after_its_run_was_erased(world: ErasureWorld) -> None:
    left = world.leave_traces()
    operator = world.memories.of("operator", "operator-1")

    begun = world.call("DELETE", f"/executions/{left.run}/content", world.user(), expect=202)
    finish(world, begun, world.user())
    path = f"/executions/{left.run}/effects/order-8/reconcile"
    settled = world.call("POST", path, operator, {"outcome": "committed"})

    assert settled["status"] == "committed"
    tenant_id = world.memories.site.tenants["acme"]
    with world.memories.site.runtime.database.read(tenant_id) as session:
        effect = session.get_one(EffectRow, (tenant_id, left.run, "order-8"))
        run = session.get_one(ExecutionRow, (tenant_id, left.run))
        assert (effect.request, effect.command_hash) == (None, None)
        assert (run.external_ref, run.requirements, run.contract_hash) == (None, None, "erased:")
        assert run.content_erased_at is not None
    world.call(
        "POST", f"/executions/{left.run}/turns", world.agent(), {"role": "user", "text": "x"}, expect=409
    )


def test_a_source_goes_with_what_was_made_from_it_and_without_derived_alone(world: ErasureWorld) -> None:
    left = world.leave_traces()
    user = world.user()
    other = world.evidence(user, uri="doc://other")
    third = world.evidence(user, uri="doc://third", derived_from=[f"evidence:{left.derived}"])
    note(world, Node("memory", left.memory), Node("evidence", third))

    world.call("DELETE", f"/evidence/{left.evidence}", user)
    world.call("GET", f"/evidence/{left.derived}", user)
    world.call("DELETE", f"/evidence/{left.derived}?derived=true", world.agent(), expect=403)
    begun = world.call("DELETE", f"/evidence/{left.derived}?derived=true", user, expect=202)
    finish(world, begun, user)

    for path in (f"/evidence/{left.evidence}", f"/evidence/{left.derived}", f"/evidence/{third}"):
        world.call("GET", path, user, expect=404)
    world.call("GET", f"/memories/{left.memory}", user, expect=404)
    world.call("GET", f"/evidence/{other}", user)


def test_what_a_run_observed_goes_with_it_and_what_another_observed_stays(world: ErasureWorld) -> None:
    user, agent = world.user(), world.agent()
    runs = [
        world.call("POST", "/executions", agent, {"project": "alpha", "objective": "x"}, expect=201)["id"]
        for _ in range(2)
    ]
    source = {"uri": "tool://register", "kind": "tool", "observed_at": "2026-11-30T10:00:00Z"}
    large = {"source": source, "content": "granted " * 2_000, "summary": "granted"}
    kept = [
        world.call("POST", f"/executions/{run}/observations", agent, large, expect=201)["evidence_id"]
        for run in runs
    ]

    finish(world, world.call("DELETE", f"/executions/{runs[0]}/content", user, expect=202), user)

    world.call("GET", f"/evidence/{kept[0]}", agent, expect=404)
    world.call("GET", f"/evidence/{kept[1]}", agent)


def test_a_runs_content_is_its_persons_and_the_administrators_to_delete(world: ErasureWorld) -> None:
    left = world.leave_traces()
    path = f"/executions/{left.run}/content"

    world.call("DELETE", path, world.agent(), expect=403)
    world.call("DELETE", path, world.user(name="user-2"), expect=403)
    world.call("DELETE", path, world.user("globex"), expect=404)
    for role in ("reviewer", "auditor", "operator"):
        world.call("DELETE", path, world.memories.of(role, f"{role}-1"), expect=403)

    finish(world, world.call("DELETE", path, world.admin(), expect=202), world.admin())


def test_a_large_result_goes_with_what_was_made_of_it_in_a_run_that_stays(world: ErasureWorld) -> None:
    left = world.leave_traces()
    user, agent = world.user(), world.agent()
    source = {"uri": "tool://register", "kind": "tool", "observed_at": "2026-11-30T10:00:00Z"}
    large = {"source": source, "content": "granted " * 2_000, "summary": "granted, says Quagga"}
    path = f"/executions/{left.run}/observations"
    seen = world.call("POST", path, agent | {"Idempotency-Key": "k-9"}, large, expect=201)
    note(world, Node("memory", left.memory), Node("observation", seen["id"]))

    begun = world.call("DELETE", f"/evidence/{seen['evidence_id']}?derived=true", user, expect=202)
    finish(world, begun, user)

    world.call("GET", f"/memories/{left.memory}", user, expect=404)
    asked = {"project": "alpha", "execution_id": left.run, "purpose": "service", "max_tokens": 4_000}
    assert "Quagga" not in str(world.call("POST", "/context-packages", agent, asked, expect=201))
    assert world.call("POST", path, agent | {"Idempotency-Key": "k-9"}, large, expect=410)["code"] == "erased"
    assert world.call("GET", f"/executions/{left.run}", user)["status"] != "cancelled"


def test_what_is_being_made_of_a_source_while_it_goes_goes_too(world: ErasureWorld) -> None:
    left = world.leave_traces()
    tenant_id = world.memories.site.tenants["acme"]
    begun = world.call("DELETE", f"/evidence/{left.evidence}?derived=true", world.user(), expect=202)

    with ThreadPoolExecutor(1) as threads:
        with world.memories.site.runtime.database.write(tenant_id) as session:
            # What a proposal does that looked at the source before it went.
            Quarantined(session, tenant_id).share()
            made, source = Node("memory", left.memory), Node("evidence", left.evidence)
            Lineage(session, tenant_id).note(made, [source])
            job = threads.submit(world.carry_out)
            wait([job], timeout=1)
        job.result()

    finish(world, begun, world.user())
    world.call("GET", f"/memories/{left.memory}", world.user(), expect=404)
