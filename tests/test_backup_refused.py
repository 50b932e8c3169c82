"""A backup that is not what it was, or is another's, changes nothing; a repeat makes good a crash."""

import json
import sqlite3
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from backup_world import BackupWorld, backup_world
from conftest import FixedClock

from service.core import failpoints
from service.core.database import Database
from service.core.failpoints import FailpointReached
from service.governance.backups.model import (
    BackupDamaged,
    BackupOfOtherKeys,
    FolderNotEmpty,
    KeepDaysInvalid,
    RecordNotEmpty,
    RestoreUnfinished,
)
from service.wiring import build_record
from service.wiring_backup import build_backup, build_restorer


@pytest.fixture
def world(database: Database, tmp_path: Path, clock: FixedClock) -> Iterator[BackupWorld]:
    with backup_world(database, tmp_path, clock) as world:
        world.site.evidence(world.site.user(), uri="doc://first")
        yield world


def test_a_damaged_backup_is_refused_and_changes_nothing(world: BackupWorld) -> None:
    folder = world.back_up()
    before = world.site.rows("acme")
    whole = {path: path.read_bytes() for path in folder.iterdir()}
    faults: dict[str, Callable[[bytes], bytes]] = {
        "evidence.jsonl": lambda content: content[:-1],
        "api_keys.jsonl": lambda content: content.replace(b'"user"', b'"admin"'),
        "audit_events.jsonl": lambda _content: b"",
        "manifest.json": lambda content: content.replace(b'"rows":1', b'"rows":2', 1),
    }
    for name, spoil in faults.items():
        path = folder / name
        path.write_bytes(spoil(whole[path]))
        with pytest.raises(BackupDamaged):
            world.restore(folder)
        path.write_bytes(whole[path])
    (folder / "tenants.jsonl").unlink()
    with pytest.raises(BackupDamaged):
        world.restore(folder)
    with pytest.raises(BackupDamaged):
        world.restore(folder.parent)

    assert world.site.rows("acme") == before
    assert world.runtime.backups.unfinished_restore() is None


def test_a_backup_of_other_keys_is_refused(
    world: BackupWorld, database: Database, tmp_path: Path, clock: FixedClock
) -> None:
    folder = world.back_up()

    with backup_world(database, tmp_path / "other", clock) as other, pytest.raises(BackupOfOtherKeys):
        build_restorer(other.runtime)(folder, replaces=True)


def test_a_record_in_use_is_replaced_only_when_asked(world: BackupWorld) -> None:
    folder = world.back_up()

    with pytest.raises(RecordNotEmpty):
        build_restorer(world.runtime)(folder, replaces=False)
    with pytest.raises(FolderNotEmpty):
        world.manifest("one")
    for days in (0, -1, 3_651):
        with pytest.raises(KeepDaysInvalid):
            world.manifest("two", keep_days=days)


@pytest.mark.parametrize(
    "point", ["restore.begun", "restore.loaded", "restore.committed", "restore.in_line", "restore.before_end"]
)
def test_a_restore_that_was_interrupted_keeps_the_record_shut_until_it_is_repeated(
    world: BackupWorld, point: str
) -> None:
    left = world.site.leave_traces()
    folder = world.back_up()
    world.site.call("DELETE", f"/memories/{left.memory}", world.site.user())

    failpoints.arm({point: "raise"})
    with pytest.raises(FailpointReached):
        world.restore(folder)
    failpoints.arm({})

    with pytest.raises(RestoreUnfinished):
        build_record(world.runtime.settings, clock=world.clock)
    # It may be repeated without being asked to replace anything.
    build_restorer(world.runtime)(folder, replaces=False)
    build_record(world.runtime.settings, clock=world.clock).close()
    assert world.site.call("GET", "/memories", world.site.user())["items"] == []


def test_a_backup_that_fails_leaves_no_trace(world: BackupWorld) -> None:
    failpoints.arm({"backup.before_manifest": "raise"})
    with pytest.raises(FailpointReached):
        world.manifest("one")
    failpoints.arm({})

    assert list((world.folder / "one").iterdir()) == []
    assert world.runtime.backups.list_all() == []


def test_each_trail_says_that_a_copy_was_made_and_a_trail_that_fails_keeps_it_from_being(
    world: BackupWorld,
) -> None:
    world.site.leave_traces()
    world.back_up("one")
    auditor = world.site.memories.of("auditor", "auditor-1")

    def refuse(backup_id: str) -> None:
        raise FailpointReached(backup_id)

    with pytest.raises(FailpointReached):
        replace(build_backup(world.runtime), announce=refuse)(world.folder / "two")

    events = world.site.call("GET", "/audit?kind=backup", auditor)["items"]
    [known] = build_backup(world.runtime).list_all()
    assert [(event["action"], event["ref"]) for event in events] == [("record.copied", known.id)]
    assert list((world.folder / "two").iterdir()) == []


def test_a_backup_holds_no_key_and_says_what_it_holds(world: BackupWorld) -> None:
    folder = world.back_up(keep_days=7)

    manifest = json.loads((folder / "manifest.json").read_bytes())
    assert {table["name"] for table in manifest["tables"]} >= {"tenants", "memories", "audit_events"}
    assert not {table["name"] for table in manifest["tables"]} & {"data_keys", "signing_keys", "tombstones"}
    keys = world.runtime.settings.data_dir / "keystore" / "keys.db"
    with sqlite3.connect(keys) as connection:
        wrapped = [row[0] for row in connection.execute("SELECT wrapped FROM data_keys")]
    everything = b"".join(path.read_bytes() for path in folder.iterdir())
    assert wrapped
    assert not any(key in everything for key in wrapped)
    [known] = world.runtime.backups.list_all()
    assert (known.id, known.expires_at - known.at) == (manifest["id"], timedelta(days=7))
    assert all(path.stat().st_mode & 0o077 == 0 for path in folder.iterdir())
