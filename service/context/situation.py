"""Reads once what is known when a package is built: policy, scope, and the run's record."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from service.context.recall import Outlined, recall
from service.context.request import PackageRequest, ProfileUnknown, PurposeUnknown, RequestInconsistent
from service.core.held import refuse_held_run
from service.core.quarantined import Quarantined
from service.core.text import cut_at_grapheme
from service.executions.acceptance.model import Check
from service.executions.conversation.model import Pin, Summary, Turn, TurnRole
from service.executions.facts import Facts, gather
from service.executions.ledger.model import Observation
from service.executions.store import ExecutionStore
from service.identity.model import Project
from service.identity.unit import Unit
from service.policies.model import Bundle
from service.policies.profiles import Profile

LATEST_TURNS: Final = 20
"""So many of the newest turns are always candidates, whatever they are about."""
SEARCHED_TURNS_MAX: Final = 1_000
"""So many turns before them are looked through for what a request asks."""
LATEST_OBSERVATIONS: Final = 50
_QUERY_PART_CHARACTERS_MAX: Final = 2_000
"""Each part of a made query counts, so none may crowd the others out of what is searched with."""


@dataclass(frozen=True, slots=True)
class Run:
    """One execution's record, as far as packages show it. Turns and observations are the newest, in order."""

    facts: Facts
    turns: Sequence[Turn]
    summary: Summary | None
    observations: Sequence[Observation]
    pin_turns: Sequence[Turn]
    """The turns that open pins were taken out of."""
    checks: Sequence[Check]
    aside: frozenset[str] = frozenset()
    """Ids of what a quarantine holds among the turns, those of pins, and the observations."""
    turns_aside: Sequence[Turn] = ()
    """Turns that would be among the others but for a quarantine."""
    summary_aside: Summary | None = None
    """The newest summary, where a quarantine holds it: an older one may stand in its place."""

    @property
    def next_action(self) -> str | None:
        """What the newest working state says comes next."""
        found = self.facts.state.get("next_action")
        return found if isinstance(found, str) and found.strip() else None

    @property
    def open_pins(self) -> Sequence[Pin]:
        """Pins that nobody has resolved and whose text can be read, of no turn that is put aside."""
        return [
            pin
            for pin in self.facts.pins
            if not pin.resolved and pin.text and self.aside.isdisjoint(pin.turn_ids)
        ]


@dataclass(frozen=True, slots=True)
class Situation:
    """All that the sources of a package look at."""

    asked: PackageRequest
    unit: Unit
    bundle: Bundle
    profile: Profile
    project: Project
    capabilities: frozenset[str]
    run: Run | None
    query: str
    ranked_at: datetime
    """The moment at which what was found is weighed; rights and expiry are judged now, whatever it is."""


def look_up(asked: PackageRequest, *, unit: Unit, bundle: Bundle) -> Situation:
    """Answer the situation of a request.

    Raises `NotFound` for a project or execution that the caller may not read, `PurposeUnknown`,
    `ProfileUnknown`, `RequestInconsistent`, and `ExecutionHeld` for a run that a legal hold restricts.
    """
    project = unit.project(asked.project)
    if asked.purpose not in bundle.purposes:
        raise PurposeUnknown("The active policy has no such purpose.", pointer="/purpose")
    profile = bundle.profiles.get(asked.profile)
    if profile is None:
        raise ProfileUnknown("The active policy has no such profile.", pointer="/profile")
    run = None
    if asked.execution_id is not None:
        run = _read_run(asked.execution_id, asked.query, profile, unit, bundle)
        if run.facts.execution.project_id != project.id:
            raise RequestInconsistent("It belongs to another project.", pointer="/execution_id")
    _check_task(asked, run)
    return Situation(
        asked=asked,
        unit=unit,
        bundle=bundle,
        profile=profile,
        project=project,
        capabilities=bundle.capabilities_of(unit.caller.role, delegated=unit.caller.act is not None),
        run=run,
        query=asked.query if asked.query is not None else _make_query(run),
        ranked_at=unit.now,
    )


def _check_task(asked: PackageRequest, run: Run | None) -> None:
    if asked.task_id is None:
        return
    if run is None:
        raise RequestInconsistent("A task needs its execution.", pointer="/task_id")
    if all(task.id != asked.task_id for task in run.facts.tasks):
        raise RequestInconsistent("The execution declares no such task.", pointer="/task_id")


def _read_run(
    execution_id: str, asked_query: str | None, profile: Profile, unit: Unit, bundle: Bundle
) -> Run:
    store = ExecutionStore.of(unit)
    facts = gather(execution_id, unit=unit, bundle=bundle)
    run = store.get(execution_id)
    refuse_held_run(
        unit.session,
        unit.tenant_id,
        execution_id=run.id,
        project_id=run.project_id,
        subject_hash=None if run.person is None else unit.cipher.keyed_hash(run.person),
    )
    pinned = sorted({turn_id for pin in facts.pins if not pin.resolved for turn_id in pin.turn_ids})
    turns = _turns(execution_id, asked_query, profile, store)
    observations = store.observations(execution_id, last=LATEST_OBSERVATIONS)
    quarantined = Quarantined(unit.session, unit.tenant_id)
    aside = quarantined.among("turn", {*pinned, *(turn.id for turn in turns)})
    newest = store.latest_summary(execution_id)
    is_aside = newest is not None and newest.quarantined
    return Run(
        facts=facts,
        turns=[turn for turn in turns if turn.id not in aside],
        summary=store.conversation.latest_summary(execution_id, usable=True) if is_aside else newest,
        observations=observations,
        aside=aside | quarantined.among("observation", [one.id for one in observations]),
        turns_aside=[turn for turn in turns if turn.id in aside],
        summary_aside=newest if is_aside else None,
        pin_turns=store.conversation.turns_by_id(execution_id, pinned) if pinned else (),
        checks=store.checks(execution_id) if any(one.check_id for one in facts.standings) else (),
    )


def _turns(execution_id: str, query: str | None, profile: Profile, store: ExecutionStore) -> Sequence[Turn]:
    """Answer the newest turns and, of older ones, as many as the profile wants.

    Those are the next older ones; where something is asked, half of them are those that share most with it.
    """
    depth = profile.retrieval.turns_depth
    turns = store.turns(execution_id, last=LATEST_TURNS + depth)
    if not query or not depth or len(turns) < LATEST_TURNS + depth or turns[0].sequence == 1:
        return turns
    latest = turns[depth // 2 :]
    outline = store.conversation.outline(
        execution_id, before_sequence=latest[0].sequence, count=SEARCHED_TURNS_MAX
    )
    chosen = recall([Outlined(*one) for one in outline], query, count=depth // 2)
    return [*store.conversation.turns_by_sequence(execution_id, chosen), *latest]


def _make_query(run: Run | None) -> str:
    """Make a query of the objective, the next action and the last thing that a person said."""
    if run is None:
        return ""
    said = [turn.text for turn in run.turns if turn.role is TurnRole.USER and turn.text]
    parts = (run.facts.execution.objective, run.next_action, said[-1] if said else None)
    return "\n".join(part[: cut_at_grapheme(part, _QUERY_PART_CHARACTERS_MAX)] for part in parts if part)
