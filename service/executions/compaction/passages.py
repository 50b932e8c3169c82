"""What there is to choose from: what people and assistant said, and tool results that still stand. Pure."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from service.executions.compaction.rules import Passage, Voice, head_and_tail
from service.executions.compaction.summary_text import read_summary
from service.executions.conversation.model import Summary, Turn, TurnRole
from service.executions.ledger.model import Observation
from service.executions.sealed import stable_json

_PAYLOAD_CHARACTERS_MAX: Final = 600
"""So much of a tool result may stand in a summary; all of it stands in the record."""
_NAMED: Final = re.compile(
    r"\b(?:evidence|observation):[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b"
)
_VOICES: Final = {TurnRole.USER: Voice.PERSON, TurnRole.ASSISTANT: Voice.ASSISTANT}


@dataclass(frozen=True, slots=True)
class ToolResults:
    """The observations of a range of turns and those after it, oldest first.

    `until` is when the turn after the range was said, `None` when there is none.
    """

    observations: Sequence[Observation]
    until: datetime | None

    @property
    def inside(self) -> Sequence[Observation]:
        """Those in the range, in their order."""
        return [one for one in self.observations if self.until is None or one.at <= self.until]

    def stale(self) -> frozenset[str]:
        """Answer the ids of those whose payload is not worth repeating.

        That is one which stands in evidence, and one with a newer result of the same source.
        """
        newest = {one.source.uri: one.id for one in self.observations}
        return frozenset(
            one.id
            for one in self.observations
            if one.evidence_id is not None or newest[one.source.uri] != one.id
        )


def reference_of(observation: Observation) -> str:
    """Answer where a tool result is read: in evidence, if it is kept there."""
    if observation.evidence_id is not None:
        return f"evidence:{observation.evidence_id}"
    return f"observation:{observation.id}"


def references_named(turns: Sequence[Turn]) -> Iterator[str]:
    """Answer what turns call evidence or an observation, in their order. It may not exist."""
    for turn in turns:
        yield from _NAMED.findall(turn.text or "")


def passages_of(turns: Sequence[Turn], results: ToolResults) -> Sequence[Passage]:
    """Answer the passages of turns and tool results, in the order in which they came."""
    stale = results.stale()
    inside = results.inside
    of_call = {one.tool_call_id: one for one in inside if one.tool_call_id is not None}
    calls = _calls(turns)
    latest = {calls[call_id]: turn.id for turn in turns if (call_id := turn.tool_call_id or "") in calls}
    spoken = {turn.tool_call_id for turn in turns if turn.role is TurnRole.TOOL}
    found = [(turn.at, 0, turn.sequence, _said(turn)) for turn in turns if turn.role in _VOICES]
    for turn in turns:
        if turn.role is not TurnRole.TOOL:
            continue
        observed = of_call.get(turn.tool_call_id or "")
        call = calls.get(turn.tool_call_id or "")
        is_stale = observed.id in stale if observed else call is not None and latest[call] != turn.id
        if not is_stale:
            label = f"turn {turn.sequence} tool" + (f" {call[0]}" if call else "")
            found.append((turn.at, 0, turn.sequence, _payload(label, turn.text)))
    for one in inside:
        if one.id not in stale and one.tool_call_id not in spoken:
            label = f"{reference_of(one)} {one.source.kind}"
            found.append((one.at, 1, one.sequence, _payload(label, one.summary or one.content)))
    return [passage for *_, passage in sorted(found, key=lambda entry: entry[:3]) if passage.text]


def passages_of_summary(summary: Summary) -> Sequence[Passage]:
    """Answer what an earlier summary says was said, for turns that are not read again."""
    parts = read_summary(summary.text or "")
    if parts is None:
        return [Passage(f"earlier summary by {summary.model}", summary.text or "", Voice.EARLIER)]
    split = [item.partition(": ") for item in parts.said]
    return [Passage(label, text, Voice.EARLIER) for label, _, text in split if text]


def _said(turn: Turn) -> Passage:
    marks = ", claim" if turn.is_claim else ", relayed" if turn.relayed else ""
    return Passage(f"turn {turn.sequence} {turn.role}{marks}", turn.text or "", _VOICES[turn.role])


def _payload(label: str, text: str | None) -> Passage:
    return Passage(label, head_and_tail(text or "", _PAYLOAD_CHARACTERS_MAX), Voice.TOOL)


def _calls(turns: Sequence[Turn]) -> Mapping[str, tuple[str, str]]:
    """Answer for each tool call its tool and what it was asked: equal for calls that ask the same."""
    return {str(call.get("id")): _asked(call) for turn in turns for call in turn.tool_calls if call.get("id")}


def _asked(call: Mapping[str, Any]) -> tuple[str, str]:
    function = call.get("function")
    asked = function if isinstance(function, Mapping) else call
    name = "".join(character for character in str(asked.get("name", "")) if character.isprintable())
    return name[:100], stable_json(asked.get("arguments", asked.get("input", "")))
