"""A signed bundle holds without the service, says what was changed in it, and tells nobody's words."""

import base64
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from bundles_world import SECRET, Evidence, verify_apart
from conftest import FixedClock
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from memories_world import memory_world
from sqlalchemy import text

from service.core.database import Database
from service.core.ids import new_id


@pytest.fixture
def evidence(database: Database, tmp_path: Path, clock: FixedClock) -> Iterator[Evidence]:
    with memory_world(database, tmp_path, clock) as world:
        yield Evidence(world)


def test_the_bundle_of_a_run_tells_what_was_done_and_by_whom(evidence: Evidence) -> None:
    checked = evidence.check(evidence.take("executions", evidence.run))

    assert (checked.findings, checked.is_proved) == ([], True)
    assert checked.document is not None
    contents = checked.document["contents"]
    assert contents["effects"][0]["operation_id"] == "order-8"
    assert contents["approvals"][0]["status"] == "pending"
    assert [package["id"] for package in contents["packages"]] == [evidence.package]
    assert contents["packages"][0]["policy_version"] in contents["policies"]
    actions = [event["content"]["action"] for event in contents["audit"]["events"]]
    assert {"execution.opened", "effect.intended", "approval.asked", "package.built"} <= set(actions)
    assert "agent:agent-1:for:user-1" in contents["audit"]["names"].values()


def test_the_bundle_of_a_memory_tells_where_it_came_from_and_was_used(evidence: Evidence) -> None:
    checked = evidence.check(evidence.take("memories", evidence.memory))

    assert (checked.findings, checked.is_proved) == ([], True)
    assert checked.document is not None
    contents = checked.document["contents"]
    assert contents["memory"]["status"] == "active"
    assert contents["versions"][0]["provenance"][0]["kind"] == "turn"
    assert contents["proposals"][0]["outcome"] == "approved"
    assert [package["id"] for package in contents["packages"]] == [evidence.package]
    actions = [event["content"]["action"] for event in contents["audit"]["events"]]
    assert actions == ["memory.proposed", "memory.kept"] or set(actions) == {"memory.proposed", "memory.kept"}


def test_no_bundle_holds_anybodys_words(evidence: Evidence) -> None:
    for kind, item in (("executions", evidence.run), ("memories", evidence.memory)):
        content = evidence.take(kind, item).decode()

        assert "Secret" not in content
        assert SECRET not in content
        assert "keep it short" not in content


def test_it_verifies_with_nothing_but_the_file_and_the_key(evidence: Evidence, tmp_path: Path) -> None:
    content = evidence.take("executions", evidence.run)

    code, told = verify_apart(tmp_path, content, key=evidence.key)

    assert (code, told["holds"], told["key_trusted"], told["findings"]) == (0, True, True, [])
    assert told["about"] == f"execution:{evidence.run}"
    code, told = verify_apart(tmp_path, content.replace(b"order-8", b"order-9"), key=evidence.key)
    assert code == 1
    assert "content_altered: effects" in told["findings"]


def test_it_verifies_with_plain_python_and_no_code_of_ours(evidence: Evidence) -> None:
    """As the documentation says it: a signature over the other members, with sorted names and no spaces."""
    document = json.loads(evidence.take("executions", evidence.run))
    signature = document.pop("signature")
    written = json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()

    key = Ed25519PublicKey.from_public_bytes(base64.b64decode(signature["public_key"]))
    key.verify(base64.b64decode(signature["value"]), written)


def test_a_person_takes_the_bundles_of_their_own_memories_alone(evidence: Evidence) -> None:
    world = evidence.world
    other = world.of("user", "user-2")

    assert evidence.check(evidence.take("memories", evidence.memory, world.user)).holds
    world.call("GET", f"/memories/{evidence.memory}/bundle", other, expect=404)
    world.call("GET", f"/executions/{evidence.run}/bundle", world.user, expect=403)
    world.call("GET", f"/memories/{evidence.memory}/bundle", world.agent, expect=403)


def test_another_tenants_auditor_and_an_unknown_id_find_nothing(evidence: Evidence) -> None:
    stranger = evidence.world.of("auditor", "auditor-1", tenant="other")

    for kind, item in (("executions", evidence.run), ("memories", evidence.memory)):
        evidence.world.call("GET", f"/{kind}/{item}/bundle", stranger, expect=404)
        evidence.world.call("GET", f"/{kind}/{new_id()}/bundle", evidence.auditor, expect=404)


def test_an_erased_memory_is_told_by_its_trail_and_receipt_and_to_auditors_alone(evidence: Evidence) -> None:
    world = evidence.world
    world.call("DELETE", f"/memories/{evidence.memory}", world.user)

    checked = evidence.check(evidence.take("memories", evidence.memory))

    assert checked.holds
    assert checked.document is not None
    contents = checked.document["contents"]
    assert (contents["memory"], contents["versions"]) == (None, [])
    assert contents["erasures"][0]["kind"] == "memory"
    world.call("GET", f"/memories/{evidence.memory}/bundle", world.user, expect=404)


def test_for_a_chain_that_does_not_hold_nothing_is_signed(evidence: Evidence) -> None:
    with evidence.world.site.runtime.database.write(evidence.world.site.tenants["acme"]) as session:
        session.connection().execute(text("UPDATE audit_heads SET seal = 'forged'"))

    refused = evidence.world.call("GET", f"/memories/{evidence.memory}/bundle", evidence.auditor, expect=409)

    assert refused["code"] == "audit_chain_broken"
