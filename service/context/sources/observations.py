"""Tool results of the run: the newest of each source, its content or the safe summary of a large one."""

from collections.abc import Sequence
from types import MappingProxyType
from typing import Final

from service.context.model import Candidate, Group, OmissionReason, Part, Shape, Source
from service.context.preview import HEAD_CHARACTERS, TAIL_CHARACTERS, preview
from service.context.situation import Situation
from service.core.errors import NotFound
from service.evidence.get import read_text
from service.executions.ledger.model import Observation
from service.identity.unit import Unit

_PREVIEWS_MAX: Final = 8
"""So many large results are looked into for one package; of others it says that they are there."""

_SHAPES: Final = MappingProxyType(
    {
        "application/json": Shape.JSON,
        "text/csv": Shape.ROWS,
        "text/plain": Shape.LOG,
        "text/markdown": Shape.MARKDOWN,
        "application/jsonl": Shape.RECORDS,
        "application/x-ndjson": Shape.RECORDS,
        "text/tab-separated-values": Shape.ROWS,
        "text/html": Shape.LINES,
    }
)


def shape_of(media_type: str) -> Shape:
    """Answer where a text of this media type may be cut."""
    if media_type.endswith("+json"):
        return Shape.JSON
    return _SHAPES.get(media_type, Shape.PROSE)


def collect(situation: Situation) -> Sequence[Candidate]:
    """Answer the newest first. One that a newer one of the same source replaces is superseded.

    One under quarantine is left out, and named.
    """
    found: list[Candidate] = []
    seen: set[str] = set()
    run = situation.run
    looker = _Looker(situation.unit)
    for observation in reversed(run.observations if run is not None else ()):
        if run is not None and observation.id in run.aside:
            held = _candidate(observation, reason=OmissionReason.QUARANTINED)
            found += [] if held is None else [held]
            # What it reported counts as never seen: an older result of the source stands.
            continue
        # Two calls of one tool with different questions share an address; their call ids tell them apart.
        is_replaced = observation.source.uri in seen and observation.tool_call_id is None
        seen.add(observation.source.uri)
        if is_replaced:
            candidate = _candidate(observation, reason=OmissionReason.SUPERSEDED)
        else:
            candidate = _candidate(observation, parts=looker.parts_of(observation))
        if candidate is not None:
            found.append(candidate)
    return found


class _Looker:
    """Looks at the beginnings and ends of large results that nobody wrote a summary of, the newest few."""

    def __init__(self, unit: Unit) -> None:
        self._unit = unit
        self._left = _PREVIEWS_MAX

    def parts_of(self, observation: Observation) -> tuple[Part, ...]:
        """Answer what can be shown of a large result; nothing where it is small, told of, or not readable."""
        has_words = observation.content is not None or observation.summary is not None
        if has_words or observation.evidence_id is None or self._left == 0:
            return ()
        self._left -= 1
        try:
            head = read_text(observation.evidence_id, unit=self._unit, end=HEAD_CHARACTERS)
            start = max(head.end, head.evidence.characters - TAIL_CHARACTERS)
            tail = read_text(observation.evidence_id, unit=self._unit, start=start)
        except NotFound:
            return (Part("summary", f"{observation.tokens} tokens, which can no longer be read"),)
        shape = shape_of(observation.media_type)
        return preview(head.text, tail.text, shape=shape, count=self._unit.tokens.count)


def _candidate(
    observation: Observation, *, parts: tuple[Part, ...] = (), reason: OmissionReason | None = None
) -> Candidate | None:
    """Answer it as the run keeps it, or as `parts` of what evidence keeps; else that it is there."""
    text = observation.content if observation.content is not None else observation.summary
    if text is None and observation.evidence_id is None:
        # Its text was erased or is not kept: nothing could be shown.
        return None
    is_whole = observation.content is not None
    is_told = not is_whole and (text is not None or not parts)
    if text is not None:
        parts = (Part("" if is_whole else "summary", text),)
    elif not parts:
        parts = (Part("summary", f"{observation.tokens} tokens, kept as evidence:{observation.evidence_id}"),)
    source = observation.source
    version = f"{source.source_version}, " if source.source_version else ""
    observed = f"{source.observed_at:%Y-%m-%d %H:%M}Z"
    is_here = is_whole or observation.evidence_id is None
    read_on = "" if is_here else f", whole ({observation.tokens} tokens): evidence:{observation.evidence_id}"
    return Candidate(
        kind="observation",
        id=observation.id,
        version=1,
        parts=parts,
        sha256=observation.sha256,
        place=(observation.sequence,),
        cite="O",
        group=Group(
            key=observation.id,
            title=source.uri,
            note=f"{version}{observed}{read_on}",
            standing=f"{observation.trust} {observation.authority}",
        ),
        shape=Shape.PROSE if is_told else shape_of(observation.media_type),
        card_title=source.uri,
        authority=observation.authority,
        trust=observation.trust,
        source=Source(source.uri, source.kind, source.source_version, source.observed_at),
        span=(0, len(observation.content)) if observation.content is not None else None,
        reason=reason,
    )
