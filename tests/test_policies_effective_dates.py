"""A time that was shortened ends nothing before its effective date; a longer one counts at once."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from activations_world import activate, admin_of, keep_memories, keep_plan, send
from conftest import FixedClock
from hypothesis import given, settings
from hypothesis import strategies as some
from memories_world import POLICIES, MemoryWorld, memory_world
from sqlmodel import select

from service.core.database import Database
from service.governance.tables import ErasureRow
from service.jobs.sweep_memories import SweepMemories
from service.jobs.system_unit import SystemUnits
from service.memories.realign import end_under
from service.memories.store_realign import Ending
from service.memories.tables import MemoryRow
from service.policies.lengthen import lengthen
from service.policies.load import load_bundle
from service.policies.model import Bundle
from service.policies.read_folder import read_folder

COUNTED = "{days: 365, counted_from: confirmation}"
GRACE = timedelta(days=7)
SHORT = ("days: 365", "days: 10")
LONG = ("days: 365", "days: 700")
NOON = datetime.fromisoformat("2026-03-01T12:00:00+00:00")


@pytest.fixture
def world(database: Database, tmp_path: Path, clock: FixedClock) -> Iterator[MemoryWorld]:
    with memory_world(database, tmp_path, clock) as world:
        _ = world.user
        yield world


def _ends(world: MemoryWorld, tenant: str = "acme") -> dict[str, datetime]:
    tenant_id = world.site.tenants[tenant]
    with world.site.runtime.database.read(tenant_id) as session:
        query = select(MemoryRow.id, MemoryRow.expires_at).where(MemoryRow.tenant_id == tenant_id)
        return dict(session.exec(query).all())


def _deliver(world: MemoryWorld) -> None:
    world.site.runtime.relay.drain(world.site.tenants["acme"])


def _kept(world: MemoryWorld, *ages_days: int) -> list[str]:
    """Keep memories of these ages that end as the default policy says, and as many that no plan touches."""
    now = world.site.clock()
    keep_memories(world, len(ages_days), class_name="workflow_setting", purpose="service")
    return [
        keep_memories(
            world,
            1,
            age=timedelta(days=days),
            expires_at=now + timedelta(days=365 - days),
        )[0]
        for days in ages_days
    ]


def test_a_shorter_time_ends_nothing_before_its_effective_date(world: MemoryWorld, clock: FixedClock) -> None:
    young, old = _kept(world, 5, 100)
    done = activate(world, keep_plan(world, SHORT)).json()

    _deliver(world)

    effective = clock() + GRACE
    assert datetime.fromisoformat(done["effective_at"]) == effective
    ends = _ends(world)
    # The young one would have ended in five days: the grace of seven counts for it too.
    assert (ends[young], ends[old]) == (effective, effective)


def test_a_shorter_time_that_ends_later_than_that_counts_as_it_says(
    world: MemoryWorld, clock: FixedClock
) -> None:
    (fresh,) = _kept(world, 0)
    activate(world, keep_plan(world, ("days: 365", "days: 30")))

    _deliver(world)

    assert _ends(world)[fresh] == clock() + timedelta(days=30)


def test_going_back_within_the_grace_loses_nothing(world: MemoryWorld, clock: FixedClock) -> None:
    kept = _kept(world, 5, 100, 200)
    before = _ends(world)
    activate(world, keep_plan(world, SHORT))
    _deliver(world)
    assert _ends(world) != before
    clock.advance(days=6)

    asked = send(world, "/rollback", {"to": None}, admin_of(world), 2).json()
    send(world, f"/activations/{asked['id']}/approve", None, admin_of(world, "admin-b"), None)
    _deliver(world)

    after = _ends(world)
    assert {name: after[name] for name in kept} == {name: before[name] for name in kept}


def test_a_longer_time_counts_at_once_and_brings_nothing_back(world: MemoryWorld, clock: FixedClock) -> None:
    living, over = _kept(world, 5, 400)
    asked = activate(world, keep_plan(world, LONG)).json()
    send(world, f"/activations/{asked['id']}/approve", None, admin_of(world, "admin-b"), None)
    over_at = _ends(world)[over]

    _deliver(world)

    ends = _ends(world)
    assert ends[living] == clock() + timedelta(days=695)
    assert ends[over] == over_at < clock()


def test_memories_of_other_tenants_keep_their_ends(world: MemoryWorld) -> None:
    _kept(world, 5)
    keep_memories(world, 1, tenant="globex")
    before = _ends(world, "globex")
    assert activate(world, keep_plan(world, SHORT)).status_code == 201

    _deliver(world)
    world.site.runtime.relay.drain(world.site.tenants["globex"])

    assert len(before) == 1
    assert _ends(world, "globex") == before


def test_thousands_are_brought_in_line_in_steps_and_a_second_time_changes_nothing(
    world: MemoryWorld, clock: FixedClock
) -> None:
    keep_memories(world, 1_700, class_name="workflow_setting", purpose="service")
    mine = keep_memories(world, 1_203, expires_at=clock() + timedelta(days=364))
    activate(world, keep_plan(world, SHORT))

    _deliver(world)
    first = _ends(world)
    activate(world, keep_plan(world, SHORT, ("quota: 200", "quota: 199")), revision=2)
    _deliver(world)

    assert {first[name] for name in mine} == {clock() + timedelta(days=9)}
    assert _ends(world) == first


def test_a_use_does_not_end_a_memory_sooner_than_its_effective_date(world: MemoryWorld) -> None:
    world.consent()
    world.propose(world.turn())
    _kept(world, 0)
    activate(world, keep_plan(world, SHORT))
    _deliver(world)
    before = _ends(world)

    assert world.search(world.agent) == ["Prefers concise explanations"]

    assert all(after >= before[name] for name, after in _ends(world).items())


def test_what_ended_is_destroyed_sooner_from_the_effective_date_on(
    world: MemoryWorld, clock: FixedClock
) -> None:
    runtime, tenant_id = world.site.runtime, world.site.tenants["acme"]
    units = SystemUnits(runtime.database, runtime.ciphers, runtime.tokens, runtime.clock, runtime.ids)
    ended = clock() - timedelta(days=5)
    keep_memories(world, 1, status="expired", expires_at=ended, ended_at=ended)
    activate(world, keep_plan(world, (COUNTED, f"{COUNTED[:-1]}, keep_ended_days: 1}}")))

    def destroyed() -> int:
        SweepMemories(units).sweep(tenant_id)
        return world.site.count(ErasureRow)

    assert destroyed() == 0
    clock.advance(days=6)
    assert destroyed() == 0
    clock.advance(days=2)
    assert destroyed() == 1


def _bundle(**replaced: str) -> Bundle:
    files = {path: text for path, text in read_folder(POLICIES).items() if not path.startswith("tests/")}
    for path, text in replaced.items():
        files[f"{path}.yaml"] = text
    return load_bundle(files)


RETENTION = "retention:\n{rows}"
ROW = "  {name}: {{days: {days}, text: full, description: For tests.}}\n"


def _retention(**days: int) -> Bundle:
    rows = "".join(ROW.format(name=name, days=number) for name, number in days.items())
    return _bundle(retention=RETENTION.format(rows=rows))


def test_the_longest_time_of_what_counts_and_counted_lately_holds() -> None:
    longest = lengthen(
        _retention(operational=5, gone=9), [_retention(operational=30, gone=2), _retention(operational=7)]
    )

    # What a former version did not name, nothing of it went there.
    assert {name: rule.days for name, rule in longest.retention.items()} == {"operational": 30}


def test_a_class_that_is_gone_keeps_its_time_for_ending() -> None:
    kept = _days(365)
    rule = kept.classes["preference"]
    assert rule.expiry is not None
    patient = rule.model_copy(
        update={
            "expiry": rule.expiry.model_copy(update={"keep_ended_days": 400}),
            "approval": rule.approval.model_copy(update={"waits_days": 90}),
        }
    )
    former = kept.model_copy(update={"classes": {"preference": patient}})
    without = kept.model_copy(update={"classes": {}})

    for counts, replaced in ((without, former), (former, without)):
        found = lengthen(counts, [replaced]).classes["preference"]
        assert found.expiry is not None
        assert (found.expiry.keep_ended_days, found.approval.waits_days) == (400, 90)


def test_a_version_that_replaced_none_lately_is_as_it_says() -> None:
    bundle = _retention(operational=5)

    assert lengthen(bundle, []) is bundle


_moments = some.integers(-800, 800).map(lambda days: NOON + timedelta(days=days))


@settings(deadline=None)
@given(made=_moments, ends=_moments, effective=_moments, days=some.integers(1, 700))
def test_bringing_in_line_twice_is_once_and_never_before_the_effective_date(
    made: datetime, ends: datetime, effective: datetime, days: int
) -> None:
    bundle = _ENDING_IN[days] if days in _ENDING_IN else _ENDING_IN.setdefault(days, _days(days))
    one = Ending("preference", made, made, None, ends)

    end = end_under(one, bundle, effective)
    again = end_under(Ending("preference", made, made, None, end), bundle, effective)

    assert again == end
    assert end >= min(ends, effective) or end >= made + timedelta(days=days)
    assert end >= made + timedelta(days=days)
    assert end <= max(ends, made + timedelta(days=days))


_ENDING_IN: dict[int, Bundle] = {}


def _days(days: int) -> Bundle:
    base = _ENDING_IN.setdefault(365, _bundle())
    rule = base.classes["preference"]
    assert rule.expiry is not None
    changed = rule.model_copy(update={"expiry": rule.expiry.model_copy(update={"days": days})})
    return base.model_copy(update={"classes": {**base.classes, "preference": changed}})
