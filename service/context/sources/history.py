"""The conversation: what was said, as quotations. A summary stands in for turns that do not fit."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from service.context.model import Candidate, OmissionReason, Part, Shape
from service.context.situation import LATEST_TURNS, Run, Situation
from service.core.hashing import hash_text
from service.core.text import cut_at_grapheme
from service.executions.compaction.summary_text import SummaryText, read_summary
from service.executions.conversation.model import Summary, Turn, TurnRole
from service.policies.words import Authority
from service.retrieval.search import Retriever, TextScores

_ALWAYS_FIRST: Final = 6
"""So many of the newest exchanges go before any older one, however relevant that is."""
_BEFORE_SUMMARY: Final = 2
"""So many of them go before the summary too: it stands in for older turns, and never in their place."""
_TEXT_CHARACTERS_MAX: Final = 200_000
"""A longer turn is offered up to here; what is kept of it says so."""
_RANKED_CHARACTERS_MAX: Final = 2_500
"""Of a longer exchange its head is compared with the question: some hundred of them are, for each package."""
_NOT_ASKED: Final = TextScores(fused=0.0, sparse=0.0, dense=None)


@dataclass(frozen=True, slots=True)
class _Exchange:
    """Turns that are kept or dropped together: a tool call with its results, else a single turn."""

    turns: tuple[Turn, ...]

    @property
    def text(self) -> str:
        return "\n".join(turn.text or "" for turn in self.turns)

    def stands_under(self, summary: Summary | None) -> bool:
        """Say whether the summary speaks of all of it."""
        return summary is not None and all(
            summary.from_sequence <= turn.sequence <= summary.to_sequence for turn in self.turns
        )


def collect(situation: Situation, retriever: Retriever) -> Sequence[Candidate]:
    """Answer the newest exchanges with the newest summary among them, then older ones by relevance.

    What stands under the summary and has nothing to do with the query is what the summary is for: it comes
    last of all or, where the summary speaks of turns that are not here anyway, not at all. What is under
    quarantine is left out, and named.
    """
    run = situation.run
    if run is None:
        return []
    turns = sorted([*run.turns, *run.turns_aside], key=lambda turn: turn.sequence)
    exchanges = list(_exchanges(turns))
    # Whole exchanges: a tool call without its result means nothing, and no model takes it.
    held = [one for one in exchanges if any(turn.id in run.aside for turn in one.turns)]
    usable = [one for one in exchanges if one not in held] if held else exchanges
    return [*_offered(usable, run, situation.query, retriever), *_put_aside(held, run)]


def _offered(
    exchanges: Sequence[_Exchange], run: Run, query: str, retriever: Retriever
) -> Sequence[Candidate]:
    scores = _scores(query, exchanges, retriever)
    recorded = {one.tool_call_id for one in run.observations if one.tool_call_id is not None}
    offers = [
        _candidate(exchange, score.fused, recorded, run)
        for exchange, score in zip(exchanges, scores, strict=True)
    ]
    split = max(0, len(offers) - _ALWAYS_FIRST)
    newest = offers[split:][::-1]
    by_relevance = sorted(range(split), key=lambda place: (-scores[place].fused, -place))
    summary = _summary(run.summary, run)
    if summary is None:
        return [*newest, *(offers[place] for place in by_relevance)]
    spared = [
        place
        for place in by_relevance
        if not _is_asked_for(scores[place]) and exchanges[place].stands_under(run.summary)
    ]
    reason = None if summary.summary else OmissionReason.LOW_RELEVANCE
    return [
        *newest[:_BEFORE_SUMMARY],
        summary,
        *newest[_BEFORE_SUMMARY:],
        *(offers[place] for place in by_relevance if place not in spared),
        *(replace(offers[place], reason=reason) for place in spared),
    ]


def _put_aside(exchanges: Sequence[_Exchange], run: Run) -> Iterator[Candidate]:
    """Answer what is left out since a quarantine holds it, or a part of it."""
    held = [_candidate(exchange, 0.0, set(), run) for exchange in exchanges]
    summary = _summary(run.summary_aside, run)
    for candidate in held if summary is None else [summary, *held]:
        yield replace(candidate, reason=OmissionReason.QUARANTINED)


def _is_asked_for(scores: TextScores) -> bool:
    # One shared word is soon found in any conversation: it must also be more relevant than most.
    return scores.is_related and scores.fused > 0


def _scores(query: str, exchanges: Sequence[_Exchange], retriever: Retriever) -> Sequence[TextScores]:
    # Few turns are all candidates as the newest: there is nothing to rank.
    if len(exchanges) <= _ALWAYS_FIRST or not query:
        return [_NOT_ASKED] * len(exchanges)
    return retriever.rank_texts(query, [exchange.text[:_RANKED_CHARACTERS_MAX] for exchange in exchanges])


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
    newest = bool(run.turns) and run.turns[-1].sequence - first.sequence < LATEST_TURNS
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
        also=tuple(turn.id for turn in exchange.turns[1:]),
    )


def _parts(turn: Turn, recorded: set[str]) -> Iterator[Part]:
    label = f"turn {turn.sequence} {turn.role}"
    if turn.is_claim:
        is_backed = any(str(call.get("id")) in recorded for call in turn.tool_calls)
        label += ", claim" if is_backed else ", unrecorded claim"
    elif turn.relayed:
        label += ", relayed"
    if turn.text:
        yield Part(label, turn.text[: cut_at_grapheme(turn.text, _TEXT_CHARACTERS_MAX)])
    if turn.tool_calls:
        calls = json.dumps(
            [dict(call) for call in turn.tool_calls], ensure_ascii=False, separators=(",", ":")
        )
        yield Part(f"turn {turn.sequence} calls", calls)


def _summary(summary: Summary | None, run: Run) -> Candidate | None:
    """Answer a summary of the run, if its text can be read.

    Of one that was written here, what people said and the references are shown: what must survive stands in
    the goal and the state, as it is now.
    """
    if summary is None or not summary.text:
        return None
    parts = read_summary(summary.text)
    text = summary.text if parts is None else "\n".join([*parts.said, *_references(parts)])
    if not text:
        return None
    first, last = summary.from_sequence, summary.to_sequence
    here = sum(1 for turn in run.turns if first <= turn.sequence <= last)
    return Candidate(
        kind="summary",
        id=summary.id,
        version=summary.version,
        parts=(Part(f"summary of turns {first} to {last} by {summary.model}", text),),
        sha256=hash_text(text),
        place=(0, first),
        summary=here == last - first + 1,
        may_be_cut=True,
        authority=Authority.MODEL_SUMMARY,
        span=(first, last),
        shape=Shape.PROSE,
    )


def _references(parts: SummaryText) -> Sequence[str]:
    return [f"references: {', '.join(parts.references)}"] if parts.references else []
