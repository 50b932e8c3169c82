"""`muniment policy simulate` on 100,000 memories: seconds and peak memory of the command, start included.

Beside it the same command on a tenant that keeps nothing: what is more belongs to the data.
"""

import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import reduce
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from sqlalchemy import Connection, insert
from sqlmodel import SQLModel

from benchmarks.figures import Spread, timed
from benchmarks.simulate_rows import Row, memory_rows, package_rows, proposal_rows
from service.context.tables import PackageRow
from service.entry.cli.opening import Registry
from service.entry.demo.local_service import environment_of, run_command
from service.identity.store import IdentityStore
from service.memories.tables import MemoryRow, ProposalRow
from service.policies.active import active_bundle
from service.policies.read_folder import read_folder
from service.settings import Settings
from service.wiring import build_record

MEMORIES: Final = 100_000
_PROPOSALS: Final = 10_000
_PACKAGES: Final = 1_000
_ROUNDS: Final = 5
_AIM_SECONDS: Final = 10
_ROWS_AT_ONCE: Final = 5_000
_MEASURED: Final = """
import sys, time
from pathlib import Path
from service.entry.cli import main
code = main(sys.argv[1:])
peak = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM"))
print(time.process_time(), peak.split()[1], file=sys.stderr)
sys.exit(code)
"""
"""The command, and after it what it used: what the system tells of a child counts its parent's memory too."""
_SHORTER: Final = ("days: 365", "days: 90"), ("confidence_min: 0.5", "confidence_min: 0.6")


@dataclass(frozen=True, slots=True)
class _Ran:
    seconds: float
    busy_seconds: float
    peak_bytes: int
    plan: Mapping[str, Any]


def measure_simulate(policies_dir: Path) -> None:
    """Print seconds and peak memory of a simulation, beside those of one that finds nothing."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        environment = environment_of(folder, policies_dir)
        for tenant in ("full", "empty"):
            run_command(environment, "tenants", "create", tenant)
            run_command(environment, "projects", "create", "--tenant", tenant, "--name", "alpha")
        _fill(Settings(data_dir=folder / "data"))
        candidate = _candidate(policies_dir, folder / "candidate")
        ran: dict[str, list[_Ran]] = {"full": [], "empty": []}
        for _ in range(_ROUNDS):
            for tenant, times in ran.items():
                times.append(_simulate(environment, candidate, tenant))
    for tenant, times in ran.items():
        took = Spread(tuple(one.seconds for one in times))
        busy = Spread(tuple(one.busy_seconds for one in times))
        peak = max(one.peak_bytes for one in times) / 2**20
        print(f"{tenant} tenant: {_seconds(took)}; processor {_seconds(busy)}; peak memory {peak:.0f} MiB")
    print(f"found: {json.dumps(ran['full'][0].plan['affected'])}")
    print(
        f"{MEMORIES} memories, {_PROPOSALS} proposals, {_PACKAGES} packages; aim: under {_AIM_SECONDS} s,"
        " and memory that does not grow with them"
    )


def _fill(settings: Settings) -> None:
    record = build_record(settings)
    try:
        registry = Registry(record)
        with registry.write(registry.tenant("full").id) as unit:
            project = IdentityStore(unit.session, unit.tenant_id).find_project("alpha")
            assert project is not None
            bundle, connection = active_bundle(unit), unit.session.connection()
            shown = _insert(connection, MemoryRow, memory_rows(unit, project.id, MEMORIES))
            _insert(connection, ProposalRow, proposal_rows(unit, project.id, bundle, _PROPOSALS))
            _insert(connection, PackageRow, package_rows(unit, project.id, shown, _PACKAGES))
    finally:
        record.close()


def _insert(connection: Connection, table: type[SQLModel], rows: Iterator[Row]) -> list[str]:
    ids: list[str] = []
    while chunk := list(islice(rows, _ROWS_AT_ONCE)):
        connection.execute(insert(table), chunk)
        ids += [row["id"] for row in chunk]
    return ids


def _candidate(policies_dir: Path, folder: Path) -> Path:
    for path, text in read_folder(policies_dir).items():
        if path.startswith("tests/"):
            continue
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(reduce(lambda said, change: said.replace(*change), _SHORTER, text))
    return folder


def _simulate(environment: Mapping[str, str], candidate: Path, tenant: str) -> _Ran:
    command = [sys.executable, "-c", _MEASURED, "policy", "simulate", str(candidate), "--tenant", tenant]
    seconds, done = timed(
        lambda: subprocess.run(  # noqa: S603 - our own program
            [*command, "--json"], env=dict(environment), capture_output=True, text=True, check=True
        )
    )
    busy, peak = done.stderr.split()[-2:]
    return _Ran(seconds, float(busy), int(peak) * 1024, json.loads(done.stdout))


def _seconds(took: Spread) -> str:
    low, high = min(took.values), max(took.values)
    return f"median {took.median:.2f} s (min {low:.2f}, max {high:.2f}, n = {len(took.values)})"
