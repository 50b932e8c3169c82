"""Rights that ended after a backup was made do not come back with it, and nothing happens twice."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from backup_world import BackupWorld, backup_world
from conftest import FixedClock

from service.audit.checkpoint import left_behind, note_head
from service.audit.model import Checkpoint
from service.audit.record import record
from service.audit.verify import verify_chain
from service.core.database import Database
from service.identity.projects import get_project, remove_member
from service.jobs.system_unit import SystemUnits


@pytest.fixture
def world(database: Database, tmp_path: Path, clock: FixedClock) -> Iterator[BackupWorld]:
    with backup_world(database, tmp_path, clock) as world:
        yield world


def test_rights_that_ended_after_the_backup_stay_ended(world: BackupWorld) -> None:
    site, user, agent = world.site, world.site.user(), world.site.agent()
    left = site.leave_traces()
    site.leave_traces(name="user-2")
    second = site.call("GET", "/memories", site.user(name="user-2"))["items"][0]["id"]
    folder = world.back_up()
    site.memories.consent(granted=False)
    site.call("PUT", "/refusals", user, {"subject": "user-1", "class": None, "refused": True})
    site.call("POST", f"/memories/{second}/pause", site.user(name="user-2"))
    reviewer = site.memories.of("reviewer", "reviewer-1")
    source = {"source": f"evidence:{left.evidence}", "reason": "poisoned"}
    site.call("POST", "/quarantines", reviewer, source, expect=201)
    key_id = site.call("GET", "/delegations", user)["items"][0]["id"]
    answer = site.memories.site.client.delete(f"/v1/delegations/{key_id}", headers=user)
    assert answer.status_code == 204

    done = world.restore(folder)

    assert done[0].rights_ended == 5
    site.call("GET", "/memories", agent, expect=401)
    [consent] = site.call("GET", "/consents?subject=user-1", user)["items"]
    assert not consent["granted"]
    assert len(site.call("GET", "/refusals?subject=user-1", user)["items"]) == 1
    paused = site.call("GET", "/memories?status=paused", site.user(name="user-2"))["items"]
    assert [memory["id"] for memory in paused] == [second]
    found = site.call("POST", "/evidence/search", user, {"project": "alpha", "query": "About"})["items"]
    assert left.evidence not in {item["id"] for item in found}


def test_a_right_that_ended_before_the_backup_and_was_given_again_stands(world: BackupWorld) -> None:
    world.site.leave_traces()
    world.site.memories.consent(granted=False)
    world.clock.advance(seconds=1)
    world.site.memories.consent()
    folder = world.back_up()

    done = world.restore(folder)

    assert done[0].rights_ended == 0
    assert len(world.site.memories.search(world.site.agent())) == 1


def test_an_ended_membership_does_not_come_back(world: BackupWorld) -> None:
    world.site.leave_traces()
    folder = world.back_up()
    runtime = world.runtime
    units = SystemUnits(
        runtime.database, runtime.ciphers, runtime.tokens, runtime.clock, runtime.ids, runtime.erasing.ledger
    )
    with units.write(world.site.memories.site.tenants["acme"]) as unit:
        assert remove_member(get_project("alpha", unit=unit), "user-1", unit=unit, trail=record)

    done = world.restore(folder)

    assert done[0].rights_ended == 1
    world.site.call("GET", "/executions?project=alpha", world.site.user(), expect=404)


def test_nothing_happens_twice(world: BackupWorld) -> None:
    site = world.site
    left = site.leave_traces()
    folder = world.back_up()

    world.restore(folder)

    agent = site.agent()
    [effect] = site.call("GET", f"/executions/{left.run}/handoff", agent)["effects"]
    assert effect == {"operation_id": "order-8", "status": "unknown"}
    # A kept answer is no longer known: the same proposal is told that it is a duplicate.
    again = site.call("POST", "/memory-proposals", left.keyed, left.body, expect=201)
    assert again["decision"] != "approved"


def test_the_trail_says_that_it_was_put_back_and_goes_on(world: BackupWorld) -> None:
    site, runtime = world.site, world.runtime
    site.leave_traces()
    tenant_id = site.memories.site.tenants["acme"]
    cipher = runtime.ciphers.for_tenant(tenant_id)
    folder = world.back_up()
    site.evidence(site.user(), uri="doc://later")
    with runtime.database.read(tenant_id) as session:
        assert note_head(session, tenant_id, cipher=cipher, witness=runtime.witness, now=world.clock()).intact
    ahead = runtime.witness.recall(tenant_id)
    assert ahead is not None
    world.clock.advance(seconds=1)

    sequence = world.restore(folder)[0].audit_sequence
    site.evidence(site.user(), uri="doc://after")
    site.evidence(site.user(), uri="doc://after/2")

    known = runtime.witness.recall(tenant_id)
    assert known is not None
    assert (known.rewinds[0].sequence, known.rewinds[0].former_sequence) == (sequence, ahead.sequence)
    with runtime.database.read(tenant_id) as session:
        verdict = verify_chain(session, tenant_id, cipher=cipher, checkpoints=[known])
        assert verdict.intact, verdict
        assert note_head(session, tenant_id, cipher=cipher, witness=runtime.witness, now=world.clock()).intact
    now = runtime.witness.recall(tenant_id)
    assert now is not None
    assert now.rewinds == known.rewinds
    assert left_behind(ahead, now) == now.rewinds[0]
    assert left_behind(Checkpoint(tenant_id, 1, "sha256:0", ahead.at), now) is None
