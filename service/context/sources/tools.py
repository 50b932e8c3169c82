"""The tools of the request, less those that the caller may not use now."""

from collections.abc import Sequence
from dataclasses import replace

from service.context.model import Candidate, OmissionReason, Part, Shape, Tool
from service.context.render_markdown import tool_text
from service.context.situation import Run, Situation
from service.core.hashing import Json, hash_text
from service.core.text import strip_hidden
from service.evidence.flags import Flag
from service.executions.leases.model import LeaseMode
from service.executions.ledger.rules import is_unsettled
from service.identity.unit import Unit
from service.policies.words import ToolEffect


def collect(situation: Situation) -> Sequence[Candidate]:
    """Answer a candidate for each tool, in the request's order.

    A definition may come from a third party's server. It is shown without what no person sees and a model
    reads: who looked at it before allowing it has not seen that.
    """
    return [_candidate(tool, number, situation) for number, tool in enumerate(situation.asked.tools)]


def _candidate(asked: Tool, number: int, situation: Situation) -> Candidate:
    schema = {strip_hidden(name): _visible(value) for name, value in asked.schema.items()}
    tool = replace(asked, description=strip_hidden(asked.description), schema=schema)
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
        flags=() if text == tool_text(asked) else (Flag.HIDDEN_TEXT,),
        reason=_reason(tool, situation),
    )


def _visible(value: Json) -> Json:
    """Answer a JSON value with every text in it as people see it; requests bound how deep it is."""
    if isinstance(value, str):
        return strip_hidden(value)
    if isinstance(value, list):
        return [_visible(part) for part in value]
    if isinstance(value, dict):
        return {strip_hidden(name): _visible(part) for name, part in value.items()}
    return value


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
