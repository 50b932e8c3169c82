"""Reads anew all that the decision of a resume rests on."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from service.executions.acceptance.model import Check, RequirementStanding
from service.executions.acceptance.rules import stand
from service.executions.bindings import lapsed_approvals
from service.executions.conversation.model import Summary
from service.executions.facts import Facts
from service.executions.ledger.rules import is_undelivered, is_unsettled
from service.executions.model import Execution
from service.executions.ports import References
from service.executions.recovery.model import Found, MovedSummary, Standing
from service.executions.recovery.rules import holds
from service.executions.rules import needs_confirmation
from service.executions.sources import Drift, drifted_since, drifted_sources
from service.executions.standings import read_standings
from service.executions.store import ExecutionStore
from service.executions.work.rules import begun, derive_all
from service.identity.unit import Unit
from service.policies.model import Bundle


def stand_anew(
    facts: Facts,
    found: Found,
    *,
    unit: Unit,
    bundle: Bundle,
    references: References,
    at_source: Mapping[str, Drift],
) -> Standing:
    """Answer how a held run stands against what was found and against the world as it is now."""
    store, execution = ExecutionStore.of(unit), facts.execution
    bare = _by_checks(execution, facts.standings, bundle)
    standing = _with_ledger(bare, store, unit=unit, bundle=bundle, references=references, at_source=at_source)
    return replace(
        standing,
        found=found,
        artifact_hash=facts.candidates[-1].artifact_hash if facts.candidates else None,
        counted=_counted(facts, store, bundle),
        tasks=[*begun(facts.undeclared), *facts.tasks],
    )


def is_met_by_record(execution: Execution, *, unit: Unit, bundle: Bundle, references: References) -> bool:
    """Say whether a resume by the unit's caller would find that all holds, were nothing asked outside.

    The decision is the same, taken on what stands in the record. Each fact can only stand in the way, so what
    costs little to read comes first, and the whole log is read only where nothing else is missing. Raises
    `NotFound` where the caller may not read the run, and `SchemaNewer`.
    """
    store = ExecutionStore.of(unit)
    standings = read_standings(execution.id, unit=unit, bundle=bundle)
    standing = _by_checks(execution, standings, bundle)
    if not holds(standing):
        return False
    standing = _with_ledger(standing, store, unit=unit, bundle=bundle, references=references, at_source={})
    if not holds(standing):
        return False
    declared, others = derive_all(store.work.declared(execution.id), store.work.outline(execution.id))
    return holds(replace(standing, tasks=[*begun(others), *declared]))


def _by_checks(execution: Execution, standings: Sequence[RequirementStanding], bundle: Bundle) -> Standing:
    """Answer a standing that knows the checks alone, as somebody sees it who found what is recorded."""
    needed = needs_confirmation(execution, bundle.stopping.contract_confirmation)
    return Standing(
        execution=execution,
        found=Found(contract_hash=execution.contract_hash),
        artifact_hash=None,
        counted=(),
        derived_from=(),
        effects=(),
        undelivered=(),
        approvals=(),
        sources=(),
        summary=None,
        tasks=(),
        standings=standings,
        confirmation_missing=needed and not execution.contract_confirmed,
    )


def _with_ledger(
    standing: Standing,
    store: ExecutionStore,
    *,
    unit: Unit,
    bundle: Bundle,
    references: References,
    at_source: Mapping[str, Drift],
) -> Standing:
    """Answer it with effects, approvals, sources and the newest summary as they are now."""
    execution = standing.execution
    effects, sources = store.effects(execution.id), store.latest_sources(execution.id)
    return replace(
        standing,
        derived_from=[source.ref for source in sources],
        effects=[effect for effect in effects if is_unsettled(effect)],
        undelivered=[effect for effect in effects if is_undelivered(effect)],
        approvals=lapsed_approvals(execution, store=store, unit=unit, bundle=bundle),
        sources=list(drifted_sources(sources, references, at_source)),
        summary=_moved_summary(store.latest_summary(execution.id), references),
    )


def _moved_summary(summary: Summary | None, references: References) -> MovedSummary | None:
    """Answer the newest summary if something under it has moved since it was written; older ones are past."""
    if summary is None:
        return None
    moved = list(drifted_since(summary.sources, summary.at, references))
    return MovedSummary(summary.id, moved) if moved else None


def _counted(facts: Facts, store: ExecutionStore, bundle: Bundle) -> Sequence[Check]:
    """Answer the passing checks that would count if nothing were known of the environment."""
    checks = store.checks(facts.execution.id)
    standings = stand(
        facts.execution,
        candidates=facts.candidates,
        checks=checks,
        environment=None,
        stopping=bundle.stopping,
    )
    counting = {one.check_id for one in standings}
    return [check for check in checks if check.passed and check.id in counting]
