"""Without a policy that allows it nothing is remembered, whichever way it comes."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import FixedClock
from retention_world import RetentionWorld, retention_world

from service.core.database import Database
from service.memories.tables import MemoryRow, MemoryVersionRow, ProposalRow


@pytest.fixture
def world(database: Database, tmp_path: Path, clock: FixedClock) -> Iterator[RetentionWorld]:
    with retention_world(database, tmp_path / "data", clock) as world:
        yield world


def _deny_all(files: dict[str, str]) -> None:
    files["classes.yaml"] = "classes: {}\n"
    for name in [name for name in files if name.startswith("tests/")]:
        del files[name]


def _memories(world: RetentionWorld) -> tuple[int, int]:
    site = world.site.memories.site
    return site.count(MemoryRow), site.count(MemoryVersionRow)


def _texts(world: RetentionWorld) -> list[bytes]:
    tenant_id = world.site.memories.site.tenants["acme"]
    with world.site.memories.site.runtime.database.read(tenant_id) as session:
        rows = session.connection().execute(ProposalRow.__table__.select()).mappings()  # type: ignore[attr-defined]  # SQLModel adds it
        return [row["content"] for row in rows if row["content"] is not None]


def test_a_proposal_is_denied_and_leaves_no_words(world: RetentionWorld) -> None:
    memories = world.site.memories
    turn = memories.turn()
    memories.consent()
    world.use_policy(_deny_all)

    answer = memories.propose(turn)

    assert (answer["decision"], [reason["code"] for reason in answer["reasons"]]) == (
        "denied",
        ["class_unknown"],
    )
    assert _memories(world) == (0, 0)
    assert _texts(world) == []


def test_what_waited_for_a_decision_is_not_kept_after_the_policy_changed(world: RetentionWorld) -> None:
    memories = world.site.memories
    memories.consent()
    waiting = memories.propose(memories.turn(), confidence=0.6)
    assert waiting["decision"] == "pending_review"
    world.use_policy(_deny_all)

    path = f"/v1/memory-proposals/{waiting['id']}/decision"
    decided = memories.site.client.post(
        path, headers=memories.user, json={"decision": "approve", "reason": "yes"}
    )

    assert decided.status_code in {200, 409}
    assert decided.json().get("decision") != "approved"
    assert _memories(world) == (0, 0)


def test_a_correction_keeps_nothing_new_and_nothing_old_is_shown(world: RetentionWorld) -> None:
    memories = world.site.memories
    memories.consent()
    kept = memories.propose(memories.turn())["memory"]
    world.use_policy(_deny_all)

    headers = memories.user | {"If-Match": '"1"'}
    path = f"/v1/memories/{kept['id']}/corrections"
    memories.site.client.post(path, headers=headers, json={"text": "Prefers long explanations"})

    assert _memories(world) == (1, 1)
    assert memories.search(memories.agent) == []


def test_evidence_in_a_batch_is_evidence_and_never_memory(world: RetentionWorld) -> None:
    memories = world.site.memories
    user = memories.user
    world.use_policy(_deny_all)
    source = '{"uri": "doc://note", "kind": "document", "observed_at": "2026-11-30T10:00:00Z"}'
    line = f'{{"project": "alpha", "text": "Remember that I prefer tea.", "source": {source}}}\n'

    headers = user | {"Content-Type": "application/x-ndjson"}
    answer = memories.site.client.post("/v1/evidence/batch", headers=headers, content=line)

    assert answer.json()["accepted"] == 1
    assert _memories(world) == (0, 0)


def test_no_run_is_opened_under_a_retention_class_that_the_policy_does_not_have(
    world: RetentionWorld,
) -> None:
    memories = world.site.memories
    agent = memories.agent

    def without_retention(files: dict[str, str]) -> None:
        files["retention.yaml"] = "retention: {}\n"

    world.use_policy(without_retention)

    opened = {"project": "alpha", "objective": "answer", "requirements": []}
    assert (
        memories.call("POST", "/executions", agent, opened, expect=422)["code"] == "retention_class_unknown"
    )
