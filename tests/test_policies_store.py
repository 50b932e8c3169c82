"""A tenant's policy: seeded once, its own, and never a permission by accident."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import FixedClock
from executions_world import ACME, AGENT, OTHER, STRANGER, World, open_world
from policies_bundle import PURPOSE, default_bundle, default_files
from sqlalchemy import update
from sqlmodel import col

from service.core.database import Database
from service.core.paging import CursorInvalid, PageRequest, page_request
from service.policies.active import ParsedBundles, PolicyUnreadable, active_bundle
from service.policies.findings import BundleInvalid
from service.policies.load import load_bundle
from service.policies.model import NO_BUNDLE, Bundle
from service.policies.seed import seed_bundle
from service.policies.store import PolicyStore
from service.policies.tables import PolicyVersionRow


@pytest.fixture
def world(database: Database, tmp_path: Path, clock: FixedClock) -> Iterator[World]:
    with open_world(database, tmp_path, clock) as opened:
        yield opened


def seed(world: World, files: dict[str, str], tenant_id: str = ACME) -> str:
    with world.database.write(tenant_id) as session:
        return seed_bundle(session, tenant_id, files, now=world.clock())


def test_without_a_version_nothing_is_allowed(world: World) -> None:
    with world.unit() as unit:
        assert active_bundle(unit) is NO_BUNDLE


def test_the_first_version_is_active_and_parsed_once(world: World) -> None:
    version = seed(world, dict(default_files()))

    with world.unit() as unit:
        first, second = active_bundle(unit), active_bundle(unit)

    assert first is second
    assert first == default_bundle()
    assert first.version == version == default_bundle().version


def test_a_folder_never_changes_what_a_tenant_already_has(world: World) -> None:
    version = seed(world, dict(default_files()))

    assert seed(world, {"a.yaml": PURPOSE}) == version
    with world.unit() as unit:
        assert active_bundle(unit).version == version
        found = PolicyStore.of(unit).find_active()
    assert found is not None
    assert found.revision == 1


def test_one_tenant_s_policy_is_not_another_s(world: World) -> None:
    seed(world, {"a.yaml": PURPOSE})
    version = seed(world, {"b.yaml": PURPOSE}, OTHER)

    with world.unit(STRANGER) as unit:
        assert active_bundle(unit).version == version
        assert PolicyStore.of(unit).find_files(load_bundle({"a.yaml": PURPOSE}).version) is None


def test_files_that_are_no_bundle_leave_no_row(world: World) -> None:
    with pytest.raises(BundleInvalid):
        seed(world, {"a.yaml": "purposes: NO\n"})

    with world.unit() as unit:
        assert PolicyStore.of(unit).find_active() is None
        assert active_bundle(unit) is NO_BUNDLE


@pytest.mark.parametrize("files", [{"a.yaml": "purposes: {}\n"}, {"a.yaml": "purposes: NO\n"}, {}])
def test_files_that_are_not_those_of_their_version_decide_nothing(
    world: World, files: dict[str, str]
) -> None:
    seed(world, {"tampered.yaml": PURPOSE})
    with world.database.write(ACME) as session:
        session.exec(
            update(PolicyVersionRow).where(col(PolicyVersionRow.tenant_id) == ACME).values(files=files)
        )

    with world.unit(AGENT) as unit, pytest.raises(PolicyUnreadable):
        active_bundle(unit)


def test_versions_are_listed_newest_first_and_complete_under_equal_times(
    world: World, clock: FixedClock
) -> None:
    with world.unit() as unit:
        store = PolicyStore.of(unit)
        for name in ("a", "b", "c"):
            store.add_version(f"sha256:{name}", {}, now=clock())
        clock.advance(seconds=1)
        store.add_version("sha256:0", {}, now=clock())
        seen: list[str] = []
        cursor: str | None = None
        while True:
            page = store.list_versions(page_request(1, cursor, tenant_id=ACME, filters=()))
            seen += [item.version for item in page.items]
            cursor = page.next_cursor
            if cursor is None:
                break

    assert seen == ["sha256:0", "sha256:a", "sha256:b", "sha256:c"]


def test_a_cursor_of_another_shape_is_refused(world: World) -> None:
    with world.unit() as unit:
        for after in ((1, 2), ("not a time", "x"), ("2026-11-30T10:00:00Z",)):
            with pytest.raises(CursorInvalid):
                PolicyStore.of(unit).list_versions(PageRequest(10, "b", after))


def test_parsed_bundles_are_few_and_the_least_used_goes_first() -> None:
    parsed = ParsedBundles(bundles_max=2)
    for version in ("a", "b"):
        parsed.keep(Bundle(version=version))
    parsed.find("a")
    parsed.keep(Bundle(version="c"))

    assert len(parsed) == 2
    assert parsed.find("b") is None
    assert parsed.find("a") == Bundle(version="a")
