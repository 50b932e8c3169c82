"""Index workers that are slow, late or dead at the worst moment: the index ends as the record says."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from conftest import FixedClock
from evidence_world import ACME, ALPHA, new, open_world
from index_site import Site
from tiny_models import TinyEmbedder

from service.core import failpoints
from service.core.database import Database
from service.core.failpoints import Action
from service.core.passages import PassageKey
from service.jobs.index_memory import MemorySource
from service.jobs.indexer import Indexable


class SlowEmbedder(TinyEmbedder):
    """While it embeds the first time, something else happens."""

    meanwhile: Callable[[], None] | None = None

    def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float] | None]:
        meanwhile, self.meanwhile = self.meanwhile, None
        if meanwhile is not None:
            meanwhile()
        return super().embed(texts)


@pytest.fixture
def slow() -> SlowEmbedder:
    return SlowEmbedder()


@pytest.fixture
def site(database: Database, tmp_path: Path, clock: FixedClock, slow: SlowEmbedder) -> Iterator[Site]:
    with open_world(database, tmp_path, clock) as world:
        site = Site(world, tmp_path / "index", slow)
        yield site
        site.index.close()
        failpoints.arm({})


def test_a_slow_worker_does_not_leave_its_old_version_beside_the_new_one(
    site: Site, slow: SlowEmbedder
) -> None:
    kept = site.world.add(new("outline consent granted"))

    def replace() -> None:
        site.world.add(new("river flooding expected"))
        site.indexer.reconcile(ACME, [kept.id])
        assert site.held() == [(kept.id, 2, 0)]

    slow.meanwhile = replace
    assert site.relay.drain(ACME) == 1

    assert site.held() == [(kept.id, 2, 0)]


def test_a_slow_worker_does_not_bring_back_what_was_deleted_meanwhile(site: Site, slow: SlowEmbedder) -> None:
    kept = site.world.add(new("outline consent granted"))

    def delete() -> None:
        site.world.forget(kept.id)
        site.indexer.reconcile(ACME, [kept.id])

    slow.meanwhile = delete
    assert site.relay.drain(ACME) == 1

    assert site.held() == []


def test_a_slow_worker_does_not_bring_back_what_was_erased_with_its_subjects_key(
    site: Site, slow: SlowEmbedder
) -> None:
    site.world.add(new("outline consent granted", subjects=("user-1",)))
    slow.meanwhile = lambda: site.world.keys.destroy(ACME, "user-1")

    assert site.relay.drain(ACME) == 1

    assert site.held() == []


def test_a_worker_that_dies_before_it_looks_again_leaves_the_work_to_the_next(
    site: Site, slow: SlowEmbedder, clock: FixedClock
) -> None:
    kept = site.world.add(new("outline consent granted"))
    slow.meanwhile = lambda: site.world.forget(kept.id)
    failpoints.arm({"index.before_fence": Action.RAISE})
    site.relay.drain(ACME)
    assert site.held() == [(kept.id, 1, 0)]
    assert list(site.search("outline consent")) == []

    failpoints.arm({})
    clock.advance(seconds=10)
    site.relay.drain(ACME)

    assert site.held() == []
    # The erasure itself is for workers of its own, which nothing here starts.
    assert {topic for topic, _ in site.world.messages()} == {"erasure.run"}


@dataclass(frozen=True)
class Remembered:
    """A memory as its store answers it to the index."""

    key: PassageKey
    text: str
    project_id: str
    subject: str | None
    readers: tuple[str, ...]


class Memories:
    """A store of memories that holds two."""

    def __init__(self, *_opened: object) -> None:
        self._held = [
            Remembered(PassageKey("m1", 1, 0), "concise", ALPHA.id, "user-1", ("user:user-1",)),
            Remembered(PassageKey("m2", 3, 0), "use SI units", ALPHA.id, None, (f"project:{ALPHA.id}",)),
        ]

    def index_passages(self, *item_ids: str) -> Sequence[Remembered]:
        return [memory for memory in self._held if memory.key.item_id in item_ids]

    def live_versions(self, item_ids: Sequence[str]) -> Mapping[str, int]:
        return {memory.key.item_id: memory.key.version for memory in self.index_passages(*item_ids)}

    def list_live_ids(self, *, after: str = "", limit: int) -> Sequence[str]:
        return [memory.key.item_id for memory in self._held if memory.key.item_id > after][:limit]


def test_a_memory_is_scoped_to_its_person_by_hash_or_to_its_project(site: Site) -> None:
    source = MemorySource(Memories)
    with site.world.unit() as unit:
        found = source.read(unit.session, ACME, unit.cipher, ["m1", "m2", "gone"])
        ids = source.list_ids(unit.session, ACME, unit.cipher, after="m1", limit=5)
        versions = source.read_versions(unit.session, ACME, unit.cipher, ["m1", "m2", "gone"])
        hashed = unit.cipher.keyed_hash("user-1")

    assert found == [
        Indexable(PassageKey("m1", 1, 0), "concise", f"user:{hashed}", ("user:user-1",)),
        Indexable(PassageKey("m2", 3, 0), "use SI units", f"project:{ALPHA.id}", (f"project:{ALPHA.id}",)),
    ]
    assert ids == ["m2"]
    assert versions == {"m1": 1, "m2": 3}
