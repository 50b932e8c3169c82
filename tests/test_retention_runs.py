"""A run's content goes when its retention class says, and what was made from it lives on by its own rule."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import FixedClock
from retention_world import RetentionWorld, retention_world

from service.context.tables import PackageRow
from service.core.database import Database
from service.governance.tables import ErasureRow


@pytest.fixture
def world(database: Database, tmp_path: Path, clock: FixedClock) -> Iterator[RetentionWorld]:
    with retention_world(database, tmp_path / "data", clock) as world:
        yield world


def test_the_content_of_an_ended_run_goes_after_the_days_of_its_class(world: RetentionWorld) -> None:
    left = world.site.leave_traces()
    world.end(left.run)

    world.clock.advance(days=89)
    world.sweep()
    assert world.ciphertexts(left.run) != []

    world.clock.advance(days=1)
    world.sweep()

    assert world.ciphertexts(left.run) == []
    run = world.site.call("GET", f"/executions/{left.run}", world.site.user())
    assert (run["status"], run["objective"], run["external_ref"]) == ("cancelled", None, None)
    assert run["content_erased_at"] == "2027-02-28T10:00:00Z"


def test_an_open_run_keeps_its_content_however_long_it_takes(world: RetentionWorld) -> None:
    left = world.site.leave_traces()

    world.clock.advance(days=1_000)
    world.sweep()

    run = world.site.call("GET", f"/executions/{left.run}", world.site.user())
    assert (run["content_erased_at"], run["objective"] is None) == (None, False)


def test_memories_and_evidence_made_from_the_run_live_on(world: RetentionWorld) -> None:
    left = world.site.leave_traces()
    world.end(left.run)
    world.clock.advance(days=90)
    world.sweep()

    memory = world.site.call("GET", f"/memories/{left.memory}", world.site.user())

    assert memory["text"] is not None
    assert [cited["kind"] for cited in memory["provenance"]] == ["turn"]
    assert world.site.memories.search(world.site.agent()) == [memory["text"]]
    world.site.call("GET", f"/evidence/{left.evidence}", world.site.user())
    world.site.call("GET", f"/evidence/{left.derived}", world.site.user())


def test_a_package_of_the_run_still_explains_itself(world: RetentionWorld) -> None:
    left = world.site.leave_traces()
    world.end(left.run)
    world.clock.advance(days=90)
    world.sweep()

    path = f"/context-packages/{left.package}"
    assert world.site.call("GET", path, world.site.user())["id"] == left.package
    assert world.site.memories.site.count(PackageRow) == 1


def test_a_large_result_that_only_the_run_observed_goes_with_it(world: RetentionWorld) -> None:
    left = world.site.leave_traces()
    agent = world.site.agent()
    source = {"uri": "tool://register", "kind": "tool", "observed_at": "2026-11-30T10:00:00Z"}
    body = {"source": source, "content": "row of the register. " * 2_000, "summary": "many rows"}
    path = f"/executions/{left.run}/observations"
    kept = world.site.call("POST", path, agent, body, expect=201)["evidence_id"]
    world.end(left.run)

    world.clock.advance(days=90)
    world.sweep()

    world.site.call("GET", f"/evidence/{kept}", world.site.user(), expect=404)


def test_a_hold_wins_and_the_run_goes_once_it_ends(world: RetentionWorld) -> None:
    left = world.site.leave_traces()
    world.end(left.run)
    world.clock.advance(days=90)
    held = {"scope": "execution", "ref": left.run, "basis": "a claim is before the court"}
    hold = world.site.call("POST", "/holds", world.site.admin(), held, expect=201)["id"]

    world.sweep()
    assert world.ciphertexts(left.run) != []
    assert world.site.memories.site.count(ErasureRow) == 0

    release = world.site.memories.site.client.delete(f"/v1/holds/{hold}", headers=world.site.admin())
    assert release.status_code in {200, 204}
    world.sweep()
    assert world.ciphertexts(left.run) == []


def test_a_shortened_retention_counts_at_the_next_sweep(world: RetentionWorld) -> None:
    left = world.site.leave_traces()
    world.end(left.run)
    world.clock.advance(days=10)
    world.sweep()
    assert world.ciphertexts(left.run) != []

    def shorten(files: dict[str, str]) -> None:
        files["retention.yaml"] = files["retention.yaml"].replace("days: 90", "days: 10", 1)

    world.use_policy(shorten)
    world.sweep()

    assert world.ciphertexts(left.run) == []


def test_nothing_goes_because_the_policy_lost_the_name_of_a_class(world: RetentionWorld) -> None:
    left = world.site.leave_traces()
    world.end(left.run)

    def rename(files: dict[str, str]) -> None:
        files["retention.yaml"] = files["retention.yaml"].replace("operational:", "usual:", 1)

    world.use_policy(rename)
    world.clock.advance(days=400)
    world.sweep()

    assert world.ciphertexts(left.run) != []


def test_of_several_tenants_only_the_one_whose_run_is_over_loses_it(world: RetentionWorld) -> None:
    own, other = world.site.leave_traces(), world.site.leave_traces("globex")
    world.end(own.run)
    before = world.site.rows("globex")

    world.clock.advance(days=90)
    world.sweep()

    assert world.site.rows("globex") == before
    assert world.ciphertexts(other.run, "globex") != []


def test_the_trail_says_which_run_ended_and_a_repeated_sweep_adds_nothing(world: RetentionWorld) -> None:
    left = world.site.leave_traces()
    world.end(left.run)
    world.clock.advance(days=90)
    world.sweep()
    world.sweep()

    auditor = world.site.memories.of("auditor", "auditor-1")
    path = f"/audit?kind=execution&ref={left.run}&action=execution.content_ended"
    events = world.site.call("GET", path, auditor)["items"]

    assert len(events) == 1
    assert world.site.memories.site.count(ErasureRow) == 1
    receipt = world.site.call("GET", f"/erasures/{events[0]['details']['erasure']}", world.site.admin())
    assert (receipt["kind"], receipt["status"]) == ("retention", "completed")
