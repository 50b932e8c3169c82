"""Reads anew all that the decision of a resume rests on."""

from collections.abc import Mapping, Sequence

from service.executions.acceptance.model import Check
from service.executions.acceptance.rules import stand
from service.executions.bindings import lapsed_approvals
from service.executions.conversation.model import Summary
from service.executions.facts import Facts
from service.executions.ledger.model import EffectStatus
from service.executions.ledger.rules import is_undelivered, is_unknown
from service.executions.ports import References
from service.executions.recovery.model import Found, MovedSummary, Standing
from service.executions.rules import needs_confirmation
from service.executions.sources import Drift, drifted_since, drifted_sources
from service.executions.store import ExecutionStore
from service.executions.work.rules import begun
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
    sources = store.latest_sources(execution.id)
    needed = needs_confirmation(execution, bundle.stopping.contract_confirmation)
    return Standing(
        execution=execution,
        found=found,
        artifact_hash=facts.candidates[-1].artifact_hash if facts.candidates else None,
        counted=_counted(facts, store, bundle),
        derived_from=[source.ref for source in sources],
        effects=[
            effect
            for effect in facts.effects
            if is_unknown(effect) or effect.status is EffectStatus.ESCALATED
        ],
        undelivered=[effect for effect in facts.effects if is_undelivered(effect)],
        approvals=lapsed_approvals(execution, store=store, unit=unit, bundle=bundle),
        sources=list(drifted_sources(sources, references, at_source)),
        summary=_moved_summary(store.latest_summary(execution.id), references),
        tasks=[*begun(facts.undeclared), *facts.tasks],
        standings=facts.standings,
        confirmation_missing=needed and not execution.contract_confirmed,
    )


def _moved_summary(summary: Summary | None, references: References) -> MovedSummary | None:
    """Answer the newest summary if something under it has moved since it was written; older ones are past."""
    if summary is None:
        return None
    moved = list(drifted_since(summary.derived_from, summary.at, references))
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
