"""The conversation: what was said, as quotations. A summary stands in for turns that do not fit."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from service.context.model import Candidate, Part, Shape
from service.context.situation import LATEST_TURNS, Run, Situation
from service.core.hashing import hash_text
from service.executions.conversation.model import Summary, Turn, TurnRole
from service.policies.words import Authority
from service.retrieval.search import Retriever

_ALWAYS_FIRST: Final = 6
"""So many of the newest exchanges go before any older one, however relevant that is."""
_TEXT_CHARACTERS_MAX: Final = 200_000
"""A longer turn is offered up to here; what is kept of it says so."""


@dataclass(frozen=True, slots=True)
class _Exchange:
    """Turns that are kept or dropped together: a tool call with its results, else a single turn."""

    turns: tuple[Turn, ...]

    @property
    def text(self) -> str:
        return "\n".join(turn.text or "" for turn in self.turns)


def collect(situation: Situation, retriever: Retriever) -> Sequence[Candidate]:
    """Answer the newest exchanges first, then older ones by relevance; the newest summary before them all."""
    run = situation.run
    if run is None:
        return []
    exchanges = list(_exchanges(run.turns))
    recorded = {one.tool_call_id for one in run.observations if one.tool_call_id is not None}
    found = [_summary(run.summary)] if run.summary is not None and run.summary.text else []
    relevances = _relevances(situation.query, exchanges, retriever)
    for exchange, relevance in _by_preference(exchanges, relevances):
        found.append(_candidate(exchange, relevance, recorded, run))
    return found


def _relevances(query: str, exchanges: Sequence[_Exchange], retriever: Retriever) -> Sequence[float]:
    # Few turns are all candidates as the newest: there is nothing to rank.
    if len(exchanges) <= _ALWAYS_FIRST or not query:
        return [0.0] * len(exchanges)
    return retriever.rank_texts(query, [exchange.text for exchange in exchanges])


def _by_preference(
    exchanges: Sequence[_Exchange], relevances: Sequence[float]
) -> Sequence[tuple[_Exchange, float]]:
    pairs = list(zip(exchanges, relevances, strict=True))
    split = max(0, len(pairs) - _ALWAYS_FIRST)
    older = sorted(enumerate(pairs[:split]), key=lambda entry: (-entry[1][1], -entry[0]))
    return [*reversed(pairs[split:]), *(pair for _, pair in older)]


def _exchanges(turns: Sequence[Turn]) -> Iterator[_Exchange]:
    readable = [turn for turn in turns if turn.text or turn.tool_calls]
    claimed: set[str] = set()
    for turn in readable:
        if turn.id in claimed:
            continue
        calls = {str(call.get("id")) for call in turn.tool_calls}
        results = [
            other
            for other in readable
            if other.role is TurnRole.TOOL
            and other.tool_call_id in calls
            and other.sequence > turn.sequence
            and other.id not in claimed
        ]
        claimed.update(other.id for other in results)
        yield _Exchange((turn, *results))


def _candidate(exchange: _Exchange, relevance: float, recorded: set[str], run: Run) -> Candidate:
    first = exchange.turns[0]
    newest = run.turns[-1].sequence - first.sequence < LATEST_TURNS
    return Candidate(
        kind="turn",
        id=first.id,
        version=1,
        parts=tuple(part for turn in exchange.turns for part in _parts(turn, recorded)),
        sha256=hash_text(exchange.text),
        place=(1, first.sequence),
        authority=Authority.CONVERSATION,
        scores={"relevance": round(relevance, 6), "recency": 1.0 if newest else 0.0},
        shape=Shape.PROSE,
    )


def _parts(turn: Turn, recorded: set[str]) -> Iterator[Part]:
    label = f"turn {turn.sequence} {turn.role}"
    if turn.is_claim:
        is_backed = any(str(call.get("id")) in recorded for call in turn.tool_calls)
        label += ", claim" if is_backed else ", unrecorded claim"
    elif turn.relayed:
        label += ", relayed"
    if turn.text:
        yield Part(label, turn.text[:_TEXT_CHARACTERS_MAX])
    if turn.tool_calls:
        calls = json.dumps(
            [dict(call) for call in turn.tool_calls], ensure_ascii=False, separators=(",", ":")
        )
        yield Part(f"turn {turn.sequence} calls", calls)


def _summary(summary: Summary) -> Candidate:
    text = summary.text or ""
    label = f"summary of turns {summary.from_sequence} to {summary.to_sequence} by {summary.model}"
    return Candidate(
        kind="summary",
        id=summary.id,
        version=summary.version,
        parts=(Part(label, text),),
        sha256=hash_text(text),
        place=(0, summary.from_sequence),
        summary=True,
        authority=Authority.MODEL_SUMMARY,
        span=(summary.from_sequence, summary.to_sequence),
        shape=Shape.PROSE,
    )
