"""An export goes round: what a person takes elsewhere is proposed there, and what was erased stays gone."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import FixedClock
from erasure_world import ErasureWorld, erasure_world
from http_support import listening

from service.core.database import Database
from service.entry.cli import main


@pytest.fixture
def world(database: Database, tmp_path: Path, clock: FixedClock) -> Iterator[ErasureWorld]:
    with erasure_world(database, tmp_path / "data", clock) as world:
        world.leave_traces()
        yield world


def _exported(world: ErasureWorld, folder: Path, tenant: str = "acme") -> tuple[Path, list[Any]]:
    found = world.call("GET", "/subjects/user-1/export", world.user(tenant))
    path = folder / f"{tenant}.json"
    path.write_text(json.dumps(found), encoding="utf-8")
    return path, found["contents"]["memories"]


def _import(world: ErasureWorld, path: Path, tenant: str) -> int:
    token = world.user(tenant)["Authorization"].removeprefix("Bearer ")
    with listening(world.memories.site) as address:
        return main(["import", str(path), "--as", token, "--url", address])


def test_an_export_round_trips_into_another_tenant(world: ErasureWorld, tmp_path: Path) -> None:
    path, memories = _exported(world, tmp_path)
    consent = {"subject": "user-1", "granted": True, "text_version": "2026-11"}
    world.call("PUT", "/consents/personalisation", world.user("globex"), consent)

    assert _import(world, path, "globex") == 0

    _path, found = _exported(world, tmp_path, "globex")
    kept = ("class", "key", "text", "value", "purpose", "confidence", "status")
    assert [[each[name] for name in kept] for each in found] == [
        [each[name] for name in kept] for each in memories
    ]


def test_what_the_policy_denies_leaves_nothing_behind(world: ErasureWorld, tmp_path: Path) -> None:
    path, _memories = _exported(world, tmp_path)
    world.user("globex")
    before = world.rows("globex")

    assert _import(world, path, "globex") == 1

    assert world.rows("globex") == before


def test_an_erased_memory_is_not_imported_again(world: ErasureWorld, tmp_path: Path) -> None:
    path, memories = _exported(world, tmp_path)
    world.call("DELETE", f"/memories/{memories[0]['id']}", world.user())

    assert _import(world, path, "acme") == 1

    assert world.call("GET", "/memories", world.user())["items"] == []


def test_only_the_person_imports_about_themselves(world: ErasureWorld, tmp_path: Path) -> None:
    _path, [memory] = _exported(world, tmp_path)
    taken = ("project", "class", "subject", "key", "text", "confidence", "purpose")
    body = {name: memory[name] for name in taken} | {"imported_from": memory["id"]}

    for who in (world.agent(), world.admin(), world.user(name="user-2")):
        world.call("POST", "/memory-imports", who, body, expect=403)


def test_another_file_is_no_export(tmp_path: Path) -> None:
    path = tmp_path / "other.json"
    path.write_text("[]", encoding="utf-8")

    assert main(["import", str(path), "--as", "mun_x_y"]) == 2
