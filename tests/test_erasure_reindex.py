"""An index worker or reindex, slow beside an erasure or dying in it, leaves no point of what went."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

import pytest
from conftest import FixedClock
from erasure_world import ErasureWorld, Traces, erasure_world

from service.core import failpoints
from service.core.database import Database
from service.core.failpoints import Action, FailpointReached
from service.jobs.index_evidence import EvidenceSource
from service.jobs.index_memory import MemorySource
from service.jobs.indexer import Indexer, Source
from service.jobs.reindex import reindex, repair
from service.memories.store import MemoryStore
from service.policies.model import NO_BUNDLE
from service.retrieval.model import ItemKind
from service.retrieval.ports import Embedder
from service.wiring import Runtime

KINDS: Final = (ItemKind.MEMORY, ItemKind.EVIDENCE)
SOURCES: Final = (MemorySource(partial(MemoryStore, bundle=NO_BUNDLE)), EvidenceSource())


class SlowEmbedder:
    """The real embedder; before it answers the first time, something else happens."""

    def __init__(self, inner: Embedder, meanwhile: Callable[[], None]) -> None:
        self.name = inner.name
        self.dimension = inner.dimension
        self._inner = inner
        self._meanwhile: Callable[[], None] | None = meanwhile

    def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float] | None]:
        found = self._inner.embed(texts)
        meanwhile, self._meanwhile = self._meanwhile, None
        if meanwhile is not None:
            meanwhile()
        return found


@dataclass(frozen=True)
class IndexedWorld:
    """A site whose index holds two persons' things, `gone` and `kept`; the first is to be erased."""

    site: ErasureWorld
    gone: frozenset[str]
    kept: frozenset[str]

    @property
    def runtime(self) -> Runtime:
        return self.site.memories.site.runtime

    @property
    def tenant_id(self) -> str:
        return self.site.memories.site.tenants["acme"]

    def held(self) -> set[str]:
        """Answer the ids of what the index holds."""
        return {key.item_id for kind in KINDS for key in self.runtime.index.list_keys(self.tenant_id, kind)}

    def erase(self) -> None:
        assert self.site.erase_subject()["status"] == "completed"
        assert self.held() == self.kept

    def slow_indexer(self, source: Source, meanwhile: Callable[[], None]) -> Indexer:
        """Answer an indexer as the service has it, during whose first embedding something happens."""
        return Indexer(
            source,
            database=self.runtime.database,
            ciphers=self.runtime.ciphers,
            embedder=SlowEmbedder(self.runtime.embedder, meanwhile),
            sparse=self.runtime.sparse,
            index=self.runtime.index,
        )


@pytest.fixture
def world(database: Database, tmp_path: Path, clock: FixedClock) -> Iterator[IndexedWorld]:
    with erasure_world(database, tmp_path / "data", clock) as site:
        gone, kept = (_ids(site.leave_traces(name=name)) for name in ("user-1", "user-2"))
        world = IndexedWorld(site, gone, kept)
        world.runtime.relay.drain(world.tenant_id)
        assert world.held() == gone | kept
        yield world


@pytest.mark.parametrize("source", SOURCES, ids=["memories", "evidence"])
def test_a_reindex_that_read_a_person_before_their_erasure_leaves_no_point_of_them(
    world: IndexedWorld, source: Source
) -> None:
    reindex(world.tenant_id, world.slow_indexer(source, world.erase))

    assert world.held() == world.kept


@pytest.mark.parametrize("source", SOURCES, ids=["memories", "evidence"])
def test_what_a_reindex_wrote_of_an_erased_person_and_died_goes_where_the_index_is_made_whole(
    world: IndexedWorld, source: Source
) -> None:
    def erase_and_arm() -> None:
        world.erase()
        failpoints.arm({"index.before_fence": Action.RAISE})

    with pytest.raises(FailpointReached):
        reindex(world.tenant_id, world.slow_indexer(source, erase_and_arm))
    failpoints.arm({})
    # The worst that a dead one leaves. Whoever opens an index that nobody closed repairs it.
    assert world.held() & world.gone

    for indexer in world.runtime.indexers:
        repair(world.tenant_id, indexer)

    assert world.held() == world.kept


def test_a_worker_that_dies_with_points_written_in_an_erasure_leaves_them_to_the_next(
    world: IndexedWorld, clock: FixedClock
) -> None:
    user = world.site.user()
    late = world.site.evidence(user, subjects=["user-1"], uri="doc://late")
    failpoints.arm({"index.before_fence": Action.RAISE})
    begun = world.site.call("DELETE", "/subjects/user-1", user, expect=202)
    world.runtime.relay.drain(world.tenant_id)
    world.site.carry_out()

    failpoints.arm({})
    clock.advance(minutes=10)
    world.runtime.relay.drain(world.tenant_id)

    assert world.site.call("GET", f"/erasures/{begun['id']}", user)["status"] == "completed"
    assert late not in world.held()
    assert world.held() == world.kept


def _ids(left: Traces) -> frozenset[str]:
    return frozenset({left.memory, left.evidence, left.derived})
