"""Reading a state's sources again waits for no source without end."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import FixedClock
from executions_world import SEEN, World, open_world

from service.adapters.chunker import SemanticChunker
from service.context.reread import Reread
from service.core.database import Database
from service.core.errors import Unavailable
from service.evidence.add import add_evidence
from service.evidence.model import NewEvidence, Source
from service.executions.model import Transition
from service.executions.ports import SourceReading


@pytest.fixture
def world(database: Database, tmp_path: Path, clock: FixedClock) -> Iterator[World]:
    with open_world(database, tmp_path, clock) as opened:
        yield opened


class Slow:
    """Sources that answer after a while."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.read_uris: list[str] = []

    def read(self, tenant_id: str, uri: str) -> SourceReading | None:
        """Answer that the source is there and has not changed."""
        assert tenant_id
        self.read_uris.append(uri)
        time.sleep(self.seconds)
        return SourceReading("slow", "tool", found=True, version="7")


def test_slow_sources_make_a_resume_come_again_and_quick_ones_do_not(world: World) -> None:
    run, refs = world.open(), []
    for plot in range(12):
        with world.unit() as unit:
            source = Source(uri=f"tool://plots/{plot}", kind="tool", source_version="7", observed_at=SEEN)
            new = NewEvidence(project="alpha", text=f"Plot {plot} is free.", source=source)
            kept = add_evidence(new, unit=unit, bundle=world.bundle, chunker=SemanticChunker(world.tokens))
            refs.append(f"evidence:{kept.id}")
    world.move(run, Transition.ADVANCE, version=1, state={"derived_from": refs})
    slow, quick = Slow(0.5), Slow(0)

    late = Reread(run.id, slow, SemanticChunker(world.tokens), seconds_max=0.1)
    early = Reread(run.id, quick, SemanticChunker(world.tokens), seconds_max=30)
    with world.unit() as unit:
        late.plan(unit)
        early.plan(unit)
    begun = time.monotonic()
    with pytest.raises(Unavailable):
        late.read(world.bundle.version)
    waited = time.monotonic() - begun
    early.read(world.bundle.version)

    assert waited < 0.5
    assert len(slow.read_uris) < len(refs)
    assert sorted(quick.read_uris) == sorted(f"tool://plots/{plot}" for plot in range(12))
