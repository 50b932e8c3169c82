"""A site whose record is copied and put back, for tests of backups."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from conftest import FixedClock
from erasure_world import ErasureWorld, erasure_world

from service.core.database import Database
from service.governance.backups.model import Manifest, Restored
from service.wiring import Runtime
from service.wiring_backup import build_backup, build_restorer


@dataclass
class BackupWorld:
    """A site of erasures with a folder of backups. Each backup lies a second after what came before."""

    site: ErasureWorld
    folder: Path
    clock: FixedClock

    @property
    def runtime(self) -> Runtime:
        return self.site.memories.site.runtime

    def back_up(self, name: str = "one", **choices: int) -> Path:
        self.clock.advance(seconds=1)
        self.manifest(name, **choices)
        self.clock.advance(seconds=1)
        return self.folder / name

    def manifest(self, name: str, **choices: int) -> Manifest:
        return build_backup(self.runtime, clock=self.clock)(self.folder / name, **choices)

    def restore(self, folder: Path) -> Sequence[Restored]:
        _manifest, done = build_restorer(self.runtime)(folder, replaces=True)
        return done


@contextmanager
def backup_world(database: Database, folder: Path, clock: FixedClock) -> Iterator[BackupWorld]:
    with erasure_world(database, folder / "data", clock) as site:
        yield BackupWorld(site, folder / "backups", clock)
