"""The tools of the request, less those that the caller may not use now."""

from collections.abc import Sequence

from service.context.model import Candidate, OmissionReason, Part, Shape, Tool
from service.context.render_markdown import tool_text
from service.context.situation import Run, Situation
from service.core.hashing import hash_text
from service.executions.leases.model import LeaseMode
from service.executions.ledger.rules import is_unsettled
from service.identity.unit import Unit
from service.policies.words import ToolEffect


def collect(situation: Situation) -> Sequence[Candidate]:
    """Answer a candidate for each tool, in the request's order."""
    return [_candidate(tool, number, situation) for number, tool in enumerate(situation.asked.tools)]


def _candidate(tool: Tool, number: int, situation: Situation) -> Candidate:
    text = tool_text(tool)
    return Candidate(
        kind="tool",
        id=tool.name,
        version=1,
        parts=(Part("tool", text),),
        sha256=hash_text(text),
        place=(number,),
        trusted=True,
        shape=Shape.WHOLE,
        tool=tool,
        reason=_reason(tool, situation),
    )


def _reason(tool: Tool, situation: Situation) -> OmissionReason | None:
    effect = ToolEffect.WRITE if tool.writes else ToolEffect.READ
    needed = situation.bundle.find_tool_capability(tool.name, effect)
    if needed is None or needed not in situation.capabilities:
        return OmissionReason.NOT_PERMITTED
    if tool.writes and situation.run is not None and not _may_write(situation.run, situation.unit):
        return OmissionReason.RECOVERY
    return None


def _may_write(run: Run, unit: Unit) -> bool:
    """Say whether the caller holds the run's full lease, and nothing has become unresolved under it."""
    lease = run.facts.lease
    return (
        lease is not None
        and lease.mode is LeaseMode.FULL
        and unit.fencing_token == lease.fencing_token
        and run.facts.execution.acting_user == unit.caller.sub
        and not any(is_unsettled(effect) for effect in run.facts.effects)
    )
