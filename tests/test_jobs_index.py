"""Keeping evidence in the index, with the real record, cipher, relay and embedded index."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import FixedClock
from evidence_world import ACME, OTHER, STRANGER, USER, caller, new, open_world
from index_site import Site
from tiny_models import TinyEmbedder

from service.core.database import Database
from service.evidence.store import EvidenceStore
from service.jobs.indexer import EMBED_TEXTS_MAX
from service.jobs.reindex import reindex, repair, verify
from service.retrieval.model import ItemKind


@pytest.fixture
def site(database: Database, tmp_path: Path, clock: FixedClock) -> Iterator[Site]:
    with open_world(database, tmp_path, clock) as world:
        site = Site(world, tmp_path / "index", TinyEmbedder())
        yield site
        site.index.close()


def test_what_was_added_is_found_once_its_message_is_delivered(site: Site) -> None:
    kept = site.world.add(new("outline consent granted"))
    assert site.held() == []

    assert site.relay.drain(ACME) == 1

    (found,) = site.search("outline consent")
    assert (found.key.item_id, found.item.text) == (kept.id, "outline consent granted")
    assert site.world.messages() == []


def test_a_new_version_replaces_the_old_one(site: Site) -> None:
    kept = site.world.add(new("outline consent granted"))
    site.relay.drain(ACME)
    site.world.add(new("river flooding expected"))

    site.relay.drain(ACME)

    assert site.held() == [(kept.id, 2, 0)]
    assert [found.key.version for found in site.search("outline consent flooding")] == [2]


def test_a_message_about_an_old_version_that_comes_late_changes_nothing(site: Site) -> None:
    kept = site.world.add(new("outline consent granted"))
    with site.world.unit() as unit:
        (late,) = unit.outbox.claim(now=unit.now, limit=1)
    site.world.add(new("river flooding expected"))
    site.relay.drain(ACME)

    site.indexer(ACME, [late])

    assert site.held() == [(kept.id, 2, 0)]


def test_what_is_deleted_leaves_the_index(site: Site) -> None:
    kept = site.world.add(new("outline consent granted"))
    site.relay.drain(ACME)
    site.world.forget(kept.id)
    assert list(site.search("outline consent")) == []

    site.relay.drain(ACME)

    assert site.held() == []


def test_news_of_a_change_that_comes_after_the_deletion_revives_nothing(site: Site) -> None:
    kept = site.world.add(new("outline consent granted"))
    with site.world.unit() as unit:
        (late,) = unit.outbox.claim(now=unit.now, limit=1)
    site.world.forget(kept.id)
    site.relay.drain(ACME)

    site.indexer(ACME, [late])

    assert site.held() == []


def test_what_is_superseded_leaves_the_index(site: Site) -> None:
    old = site.world.add(new("outline consent granted", "doc://old"))
    fresh = site.world.add(new("outline consent withdrawn", "doc://new", supersedes=old.id))

    site.relay.drain(ACME)

    assert [key[0] for key in site.held()] == [fresh.id]


def test_an_index_that_is_down_loses_nothing(site: Site, clock: FixedClock) -> None:
    kept = site.world.add(new("outline consent granted"))
    site.index.close()
    assert site.relay.drain(ACME) == 0
    assert len(site.world.messages()) == 1

    clock.advance(seconds=60)
    site.open()

    assert site.relay.drain(ACME) == 1
    assert site.held() == [(kept.id, 1, 0)]


def test_tenants_and_readers_find_only_their_own(site: Site) -> None:
    site.world.add(new("outline consent of acme"))
    private = site.world.add(new("outline consent in private", "doc://private", readers=("user:user-1",)))
    site.world.add(new("outline consent of the other"), STRANGER)
    site.relay.drain(ACME)
    site.relay.drain(OTHER)

    assert [found.item.text for found in site.search("outline consent")] == ["outline consent of acme"]
    assert private.id in [found.key.item_id for found in site.search("outline consent", USER)]
    assert [found.item.text for found in site.search("outline consent", STRANGER)] == [
        "outline consent of the other"
    ]
    with pytest.raises(ValueError, match="everywhere"):
        site.search("outline consent", caller("agent-9", projects=()))


def test_a_word_that_only_the_title_holds_finds_each_chunk(site: Site) -> None:
    kept = site.world.add(new("Granted in March.", title="Planning register"))
    site.world.add(new("The river floods.", "doc://river"))
    site.relay.drain(ACME)

    found = site.search("planning register")

    assert (found[0].key.item_id, found[0].item.text) == (kept.id, "Granted in March.")
    assert found[0].scores["sparse"] > found[1].scores["sparse"] == 0.0


def test_many_changes_are_embedded_in_few_calls(site: Site) -> None:
    site.world.add_all([new(f"remark {number}", f"doc://remark/{number}") for number in range(100)])
    site.embedder.batches.clear()

    site.relay.drain(ACME)

    assert site.embedder.batches == [100]
    assert len(site.held()) == 100


def test_a_long_text_is_embedded_in_parts(site: Site) -> None:
    site.world.add(new("\n\n".join(f"paragraph {number}. " * 200 for number in range(300))))
    site.embedder.batches.clear()

    site.relay.drain(ACME)

    assert len(site.embedder.batches) > 1
    assert max(site.embedder.batches) <= EMBED_TEXTS_MAX
    assert verify(ACME, site.indexer).is_whole


def test_verify_names_what_is_missing_and_stray_and_repair_mends_it(site: Site) -> None:
    kept = [site.world.add(new(f"remark {number}", f"doc://{number}")) for number in range(4)]
    site.relay.drain(ACME)
    site.index.delete_items(ACME, ItemKind.EVIDENCE, [kept[0].id])
    with site.world.unit() as unit:
        EvidenceStore.of(unit).remove(kept[1].id)
    assert verify(ACME, site.indexer).expected == 3

    found = repair(ACME, site.indexer)

    assert [key.item_id for key in found.missing] == [kept[0].id]
    assert [key.item_id for key in found.stray] == [kept[1].id]
    assert verify(ACME, site.indexer).is_whole
    assert sorted(key[0] for key in site.held()) == sorted([kept[0].id, kept[2].id, kept[3].id])


def test_a_rebuild_fills_an_empty_index_and_touches_no_other_tenant(site: Site) -> None:
    site.world.add_all([new(f"remark {number}", f"doc://{number}") for number in range(30)])
    site.world.add(new("of the other"), STRANGER)
    site.relay.drain(OTHER)
    told: list[int] = []

    assert reindex(ACME, site.indexer, progress=told.append) == 30

    assert told == [30]
    assert verify(ACME, site.indexer).is_whole
    assert (len(site.held()), len(site.held(OTHER))) == (30, 1)
