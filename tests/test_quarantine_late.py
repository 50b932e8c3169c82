"""What comes later out of something under quarantine is refused, by whatever door it comes."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import FixedClock
from quarantine_world import QuarantineWorld, quarantine_world

from service.core.database import Database


@pytest.fixture
def world(database: Database, tmp_path: Path, clock: FixedClock) -> Iterator[QuarantineWorld]:
    with quarantine_world(database, tmp_path, clock) as made:
        yield made


def reasons(decided: dict[str, list[dict[str, str]]]) -> list[str]:
    return [reason["code"] for reason in decided["reasons"]]


@pytest.mark.parametrize("kind", ["evidence", "turn", "memory"])
def test_no_evidence_is_made_from_it(world: QuarantineWorld, kind: str) -> None:
    source = world.page()
    if kind == "memory":
        source = world.remember("evidence", source)["memory"]["id"]
    if kind == "turn":
        source = world.say(world.run(), "Fees are paid in advance.")
    world.quarantine(f"{kind}:{source}")
    body = {
        "project": "alpha",
        "text": "A digest.",
        "source": {"uri": "doc://d", "kind": "document", "observed_at": "2026-11-30T09:00:00Z"},
        "derived_from": [f"{kind}:{source}"],
    }

    refused = world.call("POST", "/evidence", world.agent, body, expect=404)

    assert refused["code"] == "reference_not_found"


def test_nothing_is_remembered_from_it(world: QuarantineWorld) -> None:
    page, said = world.page(), world.say(world.run(), "Fees are paid in advance.")
    world.quarantine(f"evidence:{page}")
    world.quarantine(f"turn:{said}")

    for kind, source in (("evidence", page), ("turn", said)):
        decided = world.ask_to_remember(kind, source)
        assert decided["decision"] == "denied"
        assert "provenance_invalid" in reasons(decided)


def test_a_proposal_that_waits_is_judged_by_what_its_source_is_now(world: QuarantineWorld) -> None:
    page = world.page()
    waiting = world.ask_to_remember("evidence", page)
    assert waiting["decision"] == "pending_review"
    world.quarantine(f"evidence:{page}")

    path, body = f"/memory-proposals/{waiting['id']}/decision", {"decision": "approve", "reason": "fine"}
    decided = world.call("POST", path, world.reviewer, body)

    assert (decided["decision"], decided["memory"]) == ("denied", None)
    assert "provenance_invalid" in reasons(decided)


def test_no_state_and_no_summary_rests_on_it(world: QuarantineWorld) -> None:
    page, run = world.page(), world.run()
    said = world.say(run, "Fees are paid in advance.")
    world.quarantine(f"evidence:{page}")

    assert world.derive_state(run, f"evidence:{page}", expect=404)["code"] == "reference_not_found"
    assert world.summarise(run, f"evidence:{page}", expect=404)["code"] == "reference_not_found"
    world.quarantine(f"turn:{said}")
    assert world.summarise(run, expect=409)["code"] == "source_quarantined"


def test_a_new_version_of_it_stays_aside_until_it_is_released(world: QuarantineWorld) -> None:
    page = world.page()
    begun = world.quarantine(f"evidence:{page}")

    assert world.page("Who pays the fees of plot 18 is not known.") == page
    assert world.found() == []
    world.release(begun)
    assert world.found() == [page]
    assert "not known" in world.call("GET", f"/evidence/{page}", world.agent)["text"]


def test_a_run_that_is_the_source_takes_nothing_until_it_is_released(world: QuarantineWorld) -> None:
    run = world.run()
    world.say(run, "Fees are paid in advance.")
    begun = world.quarantine(f"execution:{run}")
    path, body = f"/executions/{run}/turns", {"role": "user", "text": "And more."}

    assert world.call("POST", path, world.agent, body, expect=409)["code"] == "execution_quarantined"
    assert world.derive_state(run, expect=409)["code"] == "execution_quarantined"
    world.release(begun)
    world.call("POST", path, world.agent, body, expect=201)
