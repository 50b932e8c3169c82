"""One step puts a poisoned source aside with all that was made from it; another brings it all back."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import FixedClock
from quarantine_world import POISON, QuarantineWorld, omitted, quarantine_world

from service.core.database import Database
from service.retrieval.model import ItemKind


@pytest.fixture
def world(database: Database, tmp_path: Path, clock: FixedClock) -> Iterator[QuarantineWorld]:
    with quarantine_world(database, tmp_path, clock) as made:
        yield made


def poisoned(world: QuarantineWorld) -> dict[str, Any]:
    """Make a page, and a run, a summary, a memory, a note and a package out of it."""
    page = world.page()
    run = world.run()
    world.say(run, "What is known about the fees?")
    world.derive_state(run, f"evidence:{page}")
    summary = world.summarise(run, f"evidence:{page}")["id"]
    memory = world.remember("evidence", page)["memory"]["id"]
    note = world.page("A note on fees of plot 18.", uri="doc://note", derived_from=[f"evidence:{page}"])
    package = world.package(run)["id"]
    return {"page": page, "run": run, "summary": summary, "memory": memory, "note": note, "package": package}


def test_all_that_was_made_from_a_page_is_put_aside_with_it(world: QuarantineWorld) -> None:
    made = poisoned(world)

    begun = world.quarantine(f"evidence:{made['page']}")

    assert begun["affected"] == {
        "memories": 1,
        "summaries": 1,
        "packages": 1,
        "executions": 1,
        "evidence": 2,
        "observations": 0,
        "turns": 0,
    }
    assert begun["executions"] == [made["run"]]
    shown = world.call("GET", f"/quarantines/{begun['id']}", world.reviewer)
    assert {(item["kind"], item["id"]) for item in shown["items"]} == {
        ("evidence", made["page"]),
        ("evidence", made["note"]),
        ("memory", made["memory"]),
        ("summary", made["summary"]),
        ("execution", made["run"]),
        ("package", made["package"]),
    }


def test_what_one_holds_is_read_in_pages_without_loss(world: QuarantineWorld) -> None:
    made = poisoned(world)
    begun = world.quarantine(f"evidence:{made['page']}")
    path = f"/quarantines/{begun['id']}"

    found: list[str] = []
    cursor: str | None = ""
    while cursor is not None:
        page = world.call("GET", f"{path}?limit=2{cursor and f'&cursor={cursor}'}", world.reviewer)
        found += [item["id"] for item in page["items"]]
        cursor = page["next_cursor"]

    assert sorted(found) == sorted(made.values())


def test_what_is_put_aside_is_in_no_search_and_no_package_and_says_why(world: QuarantineWorld) -> None:
    made = poisoned(world)
    assert made["page"] in world.found()
    world.quarantine(f"evidence:{made['page']}")

    assert world.found() == []
    package = world.package(made["run"])
    assert "Harold Quince" not in package["rendered"]["text"]
    assert "Fees were told" not in package["rendered"]["text"]
    assert "in advance" not in package["rendered"]["text"]
    reasons = omitted(package)
    held = {made[name] for name in ("page", "note", "summary", "memory")}
    assert {item_id for item_id, reason in reasons.items() if reason == "quarantined"} == held
    body = {"query": "fees in advance", "purpose": "service"}
    assert world.call("POST", "/memories/search", world.agent, body)["items"] == []


def test_the_index_holds_nothing_of_it_until_it_is_released(world: QuarantineWorld) -> None:
    made = poisoned(world)
    index, tenant_id = world.site.runtime.index, world.site.tenants["acme"]

    def held() -> tuple[int, int]:
        evidence = index.count_items(tenant_id, ItemKind.EVIDENCE, [made["page"], made["note"]])
        return evidence, index.count_items(tenant_id, ItemKind.MEMORY, [made["memory"]])

    assert held() == (2, 1)
    begun = world.quarantine(f"evidence:{made['page']}")
    assert held() == (0, 0)
    world.release(begun)
    assert held() == (2, 1)


def test_the_run_goes_on_once_its_source_is_refreshed(world: QuarantineWorld) -> None:
    made = poisoned(world)
    world.quarantine(f"evidence:{made['page']}")

    answer = world.resume(made["run"])

    assert answer["decision"] == f"refresh:{made['page']}"
    assert world.call("GET", f"/executions/{made['run']}", world.agent)["status"] == "running"


def test_release_brings_everything_back_as_it_was(world: QuarantineWorld) -> None:
    made = poisoned(world)
    before = world.text(made["run"])
    begun = world.quarantine(f"evidence:{made['page']}")

    released = world.release(begun)

    assert released["status"] == "released"
    # The package that was built above is among them too.
    assert released["restored"] == {**begun["affected"], "packages": 2}
    assert set(world.found()) == {made["page"], made["note"]}
    assert world.text(made["run"]) == before
    found = world.call("GET", f"/memories/{made['memory']}", world.reviewer)
    assert found["status"] == "active"
    again = world.resume(made["run"])
    assert not again["decision"].startswith("refresh")


def test_a_quarantine_is_released_once(world: QuarantineWorld) -> None:
    begun = world.quarantine(f"evidence:{world.page()}")
    world.release(begun)

    answer = world.release(begun, expect=409)

    assert answer["code"] == "quarantine_released"


def test_a_second_quarantine_of_one_source_answers_the_first(world: QuarantineWorld) -> None:
    page = world.page()
    begun = world.quarantine(f"evidence:{page}")

    assert world.quarantine(f"evidence:{page}", expect=200)["id"] == begun["id"]
    world.release(begun)
    assert world.quarantine(f"evidence:{page}")["id"] != begun["id"]


def test_a_preview_counts_the_same_and_changes_nothing(world: QuarantineWorld) -> None:
    made = poisoned(world)

    seen = world.quarantine(f"evidence:{made['page']}", preview=True, expect=200)

    assert (seen["id"], seen["status"], seen["executions"]) == (None, "preview", [made["run"]])
    assert made["page"] in world.found()
    assert world.call("GET", "/quarantines", world.reviewer)["items"] == []
    assert world.quarantine(f"evidence:{made['page']}")["affected"] == seen["affected"]


def test_only_reviewers_and_auditors_read_the_text_that_is_put_aside(world: QuarantineWorld) -> None:
    page = world.page()
    world.quarantine(f"evidence:{page}")

    for part in ("", "/text"):
        world.call("GET", f"/evidence/{page}{part}", world.agent, expect=404)
        world.call("GET", f"/evidence/{page}{part}", world.user, expect=404)
    seen = world.call("GET", f"/evidence/{page}", world.reviewer)
    assert (seen["quarantined"], seen["text"]) == (True, POISON)
    assert world.call("GET", f"/evidence/{page}", world.of("auditor", "auditor-1"))["quarantined"] is True
