"""`simulate`: what a candidate policy would do to what is kept and was decided. It changes nothing.

Memory is bounded: rows come in chunks, of each kind a few samples are kept, and persons are counted by
`Distinct`.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy import Row

from service.authoring.distinct import Distinct
from service.authoring.fates import Comparison, Fate, KeptMemory
from service.authoring.kept_versions import KeptVersions
from service.authoring.model import DAYS_MAX, SAMPLES_MAX, Effect
from service.authoring.store_simulate import ROWS_AT_ONCE, SimulationStore
from service.core.cipher import TextErased
from service.core.clock import format_time
from service.core.errors import Invalid
from service.core.failpoints import hit
from service.identity.unit import Unit
from service.memories.sealing import facts_place
from service.policies.facts import Judge, KeptFacts, read_facts
from service.policies.model import Bundle
from service.policies.verdict import Verdict

Progress = Callable[[int, int], None]
"""Told how many rows have been looked at, of how many."""

_MEMORY_COUNTS: Final = ("sooner", "later", "now", "hidden", "revealed", "held", "unchanged", "total")


@dataclass(slots=True)
class _Findings:
    subjects: Distinct = field(default_factory=Distinct)
    samples: dict[str, list[Mapping[str, Any]]] = field(
        default_factory=lambda: {"memories": [], "proposals": [], "packages": []}
    )

    def has_room(self, part: str) -> bool:
        return len(self.samples[part]) < SAMPLES_MAX

    def sample(self, part: str, fields: Mapping[str, Any]) -> None:
        if self.has_room(part):
            self.samples[part].append(fields)


def simulate(candidate: Bundle, base: Bundle, *, unit: Unit, days: int, progress: Progress) -> Effect:
    """Answer what `candidate` would do where `base` counts now, to what is kept and to the last `days` days.

    Writes nothing. Raises `Invalid` for days outside 1 to 365.
    """
    if not 1 <= days <= DAYS_MAX:
        raise Invalid(f"Give 1 to {DAYS_MAX} days.", pointer="/days")
    since = unit.now - timedelta(days=days)
    store, found = SimulationStore(unit), _Findings()
    total = store.count(since)
    steps = _Steps(progress, total)
    comparison = Comparison(base, candidate)
    affected = {
        "memories": _memories(comparison, store, unit, found, steps),
        "proposals": _proposals(comparison, store.proposals(since), unit, found, steps),
        "packages": _packages(comparison, store, store.packages(since), found, steps),
        "approvals": {"stale": store.stale_approvals(candidate.version)},
        "executions": _executions(comparison, store.ended_runs()),
        "subjects": found.subjects.count,
        "subjects_are": "exact" if found.subjects.is_exact else "estimate",
    }
    progress(total, total)
    return Effect(affected, {part: tuple(kept) for part, kept in found.samples.items()})


def compare_decisions(
    candidate: Bundle, base: Bundle, *, since: datetime, before: datetime, unit: Unit
) -> Effect:
    """Answer what `candidate` would have decided otherwise of what was proposed and built in that time."""
    store, found, steps = SimulationStore(unit), _Findings(), _Steps(lambda _done, _total: None, 0)
    comparison = Comparison(base, candidate)
    affected = {
        "proposals": _proposals(comparison, store.proposals(since, before), unit, found, steps),
        "packages": _packages(comparison, store, store.packages(since, before), found, steps),
        "subjects": found.subjects.count,
        "subjects_are": "exact" if found.subjects.is_exact else "estimate",
    }
    samples = {part: tuple(kept) for part, kept in found.samples.items() if part != "memories"}
    return Effect(affected, samples)


def count_memories(candidate: Bundle, base: Bundle, *, unit: Unit) -> Mapping[str, int]:
    """Answer what `simulate` would answer of memories, in counts alone."""
    steps = _Steps(lambda _done, _total: None, 0)
    return _memories(Comparison(base, candidate), SimulationStore(unit), unit, _Findings(), steps)


@dataclass(slots=True)
class _Steps:
    progress: Progress
    total: int
    done: int = 0

    def step(self) -> None:
        self.done += 1
        if self.done % ROWS_AT_ONCE == 0:
            hit("simulate.rows")
            self.progress(min(self.done, self.total), self.total)


def _memories(
    comparison: Comparison, store: SimulationStore, unit: Unit, found: _Findings, steps: _Steps
) -> Mapping[str, int]:
    counts = Counter(dict.fromkeys(_MEMORY_COUNTS, 0))
    for memory in store.memories():
        steps.step()
        counts["total"] += 1
        fate, wanted = comparison.fate_of(memory, unit.now)
        codes = _codes_of(memory, fate, comparison)
        counts.update(codes or ["unchanged"])
        if codes:
            found.subjects.add(memory.subject_hash)
            if found.has_room("memories"):
                found.sample("memories", _memory_sample(memory, wanted, codes))
    return dict(counts)


def _memory_sample(memory: KeptMemory, wanted: datetime | None, codes: list[str]) -> Mapping[str, Any]:
    return {
        "id": memory.id,
        "class": memory.class_name,
        "project_id": memory.project_id,
        "before": format_time(memory.expires_at),
        "after": None if wanted is None else format_time(wanted),
        "codes": codes,
    }


def _codes_of(memory: KeptMemory, fate: Fate, comparison: Comparison) -> list[str]:
    codes = [] if fate is Fate.UNCHANGED else [fate.value]
    if memory.held and fate in (Fate.SOONER, Fate.NOW):
        # A legal hold keeps it whatever the policy says, until the hold is released.
        codes = ["held"]
    loses, gains = comparison.sight_of(memory.class_name, memory.purpose)
    return [*codes, *(["hidden"] if loses else []), *(["revealed"] if gains else [])]


def _proposals(
    comparison: Comparison,
    rows: Iterable[Row[Any]],
    unit: Unit,
    found: _Findings,
    steps: _Steps,
) -> Mapping[str, int]:
    counts = {"otherwise": 0, "judged": 0, "not_judged": 0}
    versions = KeptVersions(unit, comparison.base, comparison.candidate)
    judges = Judge(comparison.base), Judge(comparison.candidate)
    for row in rows:
        steps.step()
        decided = versions.find(row.policy_version)
        kept = None if decided is None else _facts_of(row, decided, unit)
        if kept is None or decided is None:
            counts["not_judged"] += 1
            continue
        before, after = (judge.judge(kept, decided, row.created_at) for judge in judges)
        if before is None or after is None:
            counts["not_judged"] += 1
            continue
        counts["judged"] += 1
        if _decision(before) != _decision(after):
            counts["otherwise"] += 1
            found.subjects.add(row.subject_hash)
            found.sample(
                "proposals",
                {
                    "id": row.id,
                    "class": row.class_name,
                    "project_id": row.project_id,
                    "before": before.outcome.value,
                    "after": after.outcome.value,
                    "codes": [code.value for code in after.codes],
                },
            )
    return counts


def _decision(verdict: Verdict) -> tuple[object, ...]:
    return verdict.outcome, verdict.codes, verdict.approver


def _facts_of(row: Row[Any], decided: Bundle, unit: Unit) -> KeptFacts | None:
    if row.facts is None:
        return None
    try:
        return read_facts(json.loads(unit.cipher.open(row.facts, place=facts_place(row.id))), decided)
    except TextErased:
        return None


def _packages(
    comparison: Comparison,
    store: SimulationStore,
    chunks: Iterable[Sequence[Row[Any]]],
    found: _Findings,
    steps: _Steps,
) -> Mapping[str, int]:
    counts = {"otherwise": 0, "looked_at": 0}
    for rows in chunks:
        memories = store.memories_of({memory_id for row in rows for memory_id in _shown_in(row.manifest)})
        for row in rows:
            steps.step()
            counts["looked_at"] += 1
            codes = comparison.package_codes(row.manifest, memories, row.created_at, row.purpose)
            if codes:
                counts["otherwise"] += 1
                found.sample("packages", {"id": row.id, "project_id": row.project_id, "codes": list(codes)})
    return counts


def _shown_in(manifest: Mapping[str, Any]) -> Iterator[str]:
    for section in manifest["sections"]:
        yield from (item["id"] for item in section["items"] if item["kind"] == "memory")


def _executions(comparison: Comparison, ended: Mapping[str, int]) -> Mapping[str, int]:
    """Count ended runs whose content goes sooner or later; a class that is gone lets nothing go."""
    counts = {"sooner": 0, "later": 0}
    for name, number in ended.items():
        before, after = (bundle.retention.get(name) for bundle in (comparison.base, comparison.candidate))
        if before is None or (after is not None and after.days < before.days):
            counts["sooner"] += 0 if after is None else number
        elif after is None or after.days > before.days:
            counts["later"] += number
    return counts
