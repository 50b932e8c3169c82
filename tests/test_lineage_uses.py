"""Where a memory was used: every package that showed it, for whom it is about and who may read it."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import FixedClock
from quarantine_world import QuarantineWorld, quarantine_world

from service.core.database import Database


@pytest.fixture
def world(database: Database, tmp_path: Path, clock: FixedClock) -> Iterator[QuarantineWorld]:
    with quarantine_world(database, tmp_path, clock) as made:
        yield made


def remembered(world: QuarantineWorld) -> str:
    world.consent()
    return str(world.propose(world.turn())["memory"]["id"])


def use(world: QuarantineWorld, execution: str | None = None) -> str:
    package = world.package(execution, query="how should replies be written?", purpose="personalisation")
    assert "concise" in package["rendered"]["text"]
    return str(package["id"])


def uses(world: QuarantineWorld, memory: str, who: dict[str, str], **query: Any) -> Any:
    asked = "&".join(f"{name}={value}" for name, value in query.items())
    return world.call("GET", f"/memories/{memory}/uses?{asked}", who)


def test_each_package_that_showed_it_is_listed_newest_first(world: QuarantineWorld) -> None:
    memory, run = remembered(world), world.run()
    first, second = use(world), use(world, run)

    listed = uses(world, memory, world.user)

    assert listed["next_cursor"] is None
    assert listed["items"] == [
        {
            "package_id": package,
            "execution_id": execution,
            "at": "2026-11-30T10:00:00Z",
            "by": "agent:agent-1:for:user-1",
            "purpose": "personalisation",
        }
        for package, execution in ((second, run), (first, None))
    ]


def test_a_long_list_is_read_in_pages_without_loss(world: QuarantineWorld) -> None:
    memory = remembered(world)
    made = [use(world) for _ in range(3)]

    page = uses(world, memory, world.user, limit=2)
    rest = uses(world, memory, world.user, limit=2, cursor=page["next_cursor"])

    assert [one["package_id"] for one in (*page["items"], *rest["items"])] == made[::-1]
    assert rest["next_cursor"] is None


def test_who_may_not_read_the_memory_is_told_nothing(world: QuarantineWorld) -> None:
    memory = remembered(world)
    use(world)

    for who in (
        world.of("user", "user-2"),
        world.of("agent", "agent-2", for_user="user-2"),
        world.of("agent", "agent-3"),
        world.of("user", "user-1", tenant="other"),
    ):
        world.call("GET", f"/memories/{memory}/uses", who, expect=404)
