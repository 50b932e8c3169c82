"""What nobody decides in its time is denied, and its words are gone; a hold keeps them."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import FixedClock
from memories_world import MemoryWorld, memory_world
from sqlmodel import select

from service.core.database import Database
from service.jobs.sweep_memories import SweepMemories
from service.jobs.system_unit import SystemUnits
from service.memories.tables import ProposalRow

TEN_DAYS = {
    "automatic_when: {confidence_min: 0.7}": "automatic_when: {confidence_min: 0.7}\n      waits_days: 10"
}


@pytest.fixture
def world(database: Database, tmp_path: Path, clock: FixedClock) -> Iterator[MemoryWorld]:
    with memory_world(database, tmp_path, clock, changes=TEN_DAYS) as world:
        world.consent()
        yield world


def _waiting(world: MemoryWorld, **changes: Any) -> str:
    answer = world.propose(world.turn(), **{"confidence": 0.6, **changes})
    assert answer["decision"] == "pending_review", answer
    return str(answer["id"])


def _sweep(world: MemoryWorld) -> None:
    runtime = world.site.runtime
    units = SystemUnits(runtime.database, runtime.ciphers, runtime.tokens, runtime.clock, runtime.ids)
    SweepMemories(units).sweep(world.site.tenants["acme"])


def _row(world: MemoryWorld, proposal_id: str) -> ProposalRow:
    with world.site.runtime.database.read(world.site.tenants["acme"]) as session:
        return session.exec(select(ProposalRow).where(ProposalRow.id == proposal_id)).one()


def _approve(world: MemoryWorld, proposal_id: str, *, expect: int) -> Any:
    path = f"/memory-proposals/{proposal_id}/decision"
    return world.call("POST", path, world.user, {"decision": "approve"}, expect=expect)


def test_a_proposal_waits_as_long_as_its_class_says(world: MemoryWorld, clock: FixedClock) -> None:
    proposal = _waiting(world)
    clock.advance(days=9, hours=23)
    _sweep(world)

    assert _approve(world, proposal, expect=200)["decision"] == "approved"


def test_after_that_nobody_can_approve_it_whether_or_not_the_sweep_ran(
    world: MemoryWorld, clock: FixedClock
) -> None:
    proposal = _waiting(world)
    clock.advance(days=10)

    before = _approve(world, proposal, expect=409)
    _sweep(world)
    _sweep(world)
    after = _approve(world, proposal, expect=409)

    assert (before["code"], after["code"]) == ("review_lapsed", "proposal_decided")
    row = _row(world, proposal)
    assert (row.outcome, row.codes, row.content) == ("denied", ["review_lapsed"], None)
    assert row.decided_by == "system:muniment"
    assert world.search(world.agent) == []
    path = "/audit?action=memory_proposal.decided"
    trail = world.call("GET", path, world.of("auditor", "auditor-1"))["items"]
    assert [event["ref"] for event in trail] == [proposal]


def test_a_class_that_says_nothing_lets_it_wait_for_thirty_days(
    world: MemoryWorld, clock: FixedClock
) -> None:
    world.consent(purpose="contact")
    detail = {"class": "contact_detail", "purpose": "contact", "key": "phone", "text": "Call in the evening"}
    proposal = _waiting(world, **detail, confidence=0.9)
    clock.advance(days=29)
    _sweep(world)
    assert _row(world, proposal).outcome == "pending_review"

    clock.advance(days=1)
    _sweep(world)

    assert _row(world, proposal).outcome == "denied"


@pytest.mark.parametrize("scope", ["subject", "project"])
def test_what_a_hold_names_keeps_its_words_until_it_is_released(
    world: MemoryWorld, clock: FixedClock, scope: str
) -> None:
    proposal = _waiting(world)
    body = {"scope": scope, "ref": {"subject": "user-1", "project": "alpha"}[scope], "basis": "a claim"}
    hold = world.call("POST", "/holds", world.of("admin", "admin-1"), body, expect=201)
    clock.advance(days=11)

    _sweep(world)
    kept = _row(world, proposal).content
    world.call("DELETE", f"/holds/{hold['id']}", world.of("admin", "admin-1"))
    _sweep(world)

    assert kept is not None
    assert _row(world, proposal).content is None
