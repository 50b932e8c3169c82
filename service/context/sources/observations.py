"""Tool results of the run: the newest of each source, its content or the safe summary of a large one."""

from collections.abc import Sequence
from types import MappingProxyType
from typing import Final

from service.context.model import Candidate, Group, OmissionReason, Part, Shape, Source
from service.context.situation import Situation
from service.executions.ledger.model import Observation

_SHAPES: Final = MappingProxyType(
    {
        "application/json": Shape.JSON,
        "text/csv": Shape.ROWS,
        "text/plain": Shape.LOG,
        "text/markdown": Shape.LINES,
        "text/html": Shape.LINES,
    }
)


def shape_of(media_type: str) -> Shape:
    """Answer where a text of this media type may be cut."""
    return _SHAPES.get(media_type, Shape.PROSE)


def collect(situation: Situation) -> Sequence[Candidate]:
    """Answer the newest first. One that a newer one of the same source replaces is superseded.

    One under quarantine is left out, and named.
    """
    found: list[Candidate] = []
    seen: set[str] = set()
    run = situation.run
    for observation in reversed(run.observations if run is not None else ()):
        if run is not None and observation.id in run.aside:
            held = _candidate(observation, reason=OmissionReason.QUARANTINED)
            found += [] if held is None else [held]
            # What it reported counts as never seen: an older result of the source stands.
            continue
        # Two calls of one tool with different questions share an address; their call ids tell them apart.
        is_replaced = observation.source.uri in seen and observation.tool_call_id is None
        seen.add(observation.source.uri)
        candidate = _candidate(observation, reason=OmissionReason.SUPERSEDED if is_replaced else None)
        if candidate is not None:
            found.append(candidate)
    return found


def _candidate(observation: Observation, *, reason: OmissionReason | None) -> Candidate | None:
    text = observation.content if observation.content is not None else observation.summary
    if text is None:
        if observation.evidence_id is None:
            # Its text was erased or is not kept: nothing could be shown.
            return None
        text = f"{observation.tokens} tokens, kept as evidence:{observation.evidence_id}"
    is_whole = observation.content is not None
    source = observation.source
    version = f"{source.source_version}, " if source.source_version else ""
    observed = f"{source.observed_at:%Y-%m-%d %H:%M}Z"
    read_on = "" if is_whole or observation.evidence_id is None else f", whole: {observation.evidence_id}"
    return Candidate(
        kind="observation",
        id=observation.id,
        version=1,
        parts=(Part("" if is_whole else "summary", text),),
        sha256=observation.sha256,
        place=(observation.sequence,),
        cite="O",
        group=Group(
            key=observation.id,
            title=source.uri,
            note=f"{version}{observed}{read_on}",
            standing=f"{observation.trust} {observation.authority}",
        ),
        shape=shape_of(observation.media_type) if is_whole else Shape.PROSE,
        card_title=source.uri,
        authority=observation.authority,
        trust=observation.trust,
        source=Source(source.uri, source.kind, source.source_version, source.observed_at),
        span=(0, len(text)) if is_whole else None,
        reason=reason,
    )
