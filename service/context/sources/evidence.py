"""Evidence that answers the query, and what the task at hand declares as its inputs."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Final

from service.context.model import Candidate, Group, OmissionReason, Part, Shape, Source
from service.context.situation import Situation
from service.context.sources.whole import Weighed, join_documents
from service.context.standing import put_standing_first
from service.context.weigh import Found, weigh
from service.core.passages import PassageKey
from service.core.quarantined import Quarantined
from service.evidence.model import EvidencePassage
from service.evidence.store import EvidenceStore
from service.retrieval.rerank.times import date_of
from service.retrieval.search import UNRELATED_COSINE, Ranked, Retriever
from service.retrieval.search_evidence import search_evidence

_INPUT_PREFIX: Final = "evidence:"
_INPUT_CHUNKS_MAX: Final = 200
"""Pieces of declared inputs that are read for one package."""
_LONG_AGO: Final = datetime(1, 1, 1, tzinfo=UTC)
_PUT_ASIDE_MAX: Final = 200
"""So many of the newest items under quarantine are looked at for one package."""


def collect(situation: Situation, retriever: Retriever) -> Sequence[Candidate]:
    """Answer the task's inputs first, then what was found, the best first.

    Raises `Unavailable` when the index does not answer.
    """
    inputs = _inputs(situation)
    depth = situation.profile.retrieval.evidence_depth
    ranked: Sequence[Ranked[EvidencePassage]] = ()
    if depth and situation.query.strip():
        ranked = search_evidence(
            situation.query,
            project=situation.project.name,
            limit=depth,
            unit=situation.unit,
            retriever=retriever,
        )
    known = {passage.key for passage in inputs}
    weighed = [
        Weighed(one.item, scores) for one, scores in _weighed(ranked, situation) if one.key not in known
    ]
    found = [_found_candidate(one) for one in join_documents(weighed, unit=situation.unit)]
    declared = [_candidate(passage, {"declared_input": 1.0}, None) for passage in inputs]
    return [*declared, *put_standing_first(found), *_put_aside(situation, retriever)]


def _put_aside(situation: Situation, retriever: Retriever) -> Sequence[Candidate]:
    """Answer what would be a candidate but for a quarantine: declared inputs, and what the query is about.

    The index does not hold it, so what it says is ranked here: of the newest that are put aside.
    """
    unit, depth = situation.unit, situation.profile.retrieval.evidence_depth
    held = Quarantined(unit.session, unit.tenant_id).newest("evidence", count=_PUT_ASIDE_MAX)
    passages = [
        passage
        for passage in EvidenceStore.of(unit).quarantined_passages(held, caller=unit.caller, now=unit.now)
        if passage.project_id == situation.project.id
    ]
    if not passages:
        return []
    declared = set(_declared(situation))
    query = situation.query.strip()
    scores = retriever.rank_texts(query, [passage.text for passage in passages]) if depth and query else []
    related = {
        passage.evidence_id
        for passage, score in sorted(
            zip(passages, scores, strict=False), key=lambda pair: (-pair[1].fused, pair[0].key)
        )[:depth]
        if score.is_related
    }
    return [
        _candidate(passage, {}, OmissionReason.QUARANTINED)
        for passage in passages
        if passage.evidence_id in related | declared
    ]


def _weighed(
    ranked: Sequence[Ranked[EvidencePassage]], situation: Situation
) -> Sequence[tuple[Ranked[EvidencePassage], Mapping[str, float]]]:
    scores = weigh(
        [Found(one.score, one.item.authority, one.item.source.observed_at) for one in ranked],
        situation.profile.weights,
        situation.ranked_at,
    )
    pairs = [
        (one, {**{name: round(value, 6) for name, value in one.scores.items()}, **weighed})
        for one, weighed in zip(ranked, scores, strict=True)
    ]
    return sorted(pairs, key=lambda pair: (-pair[1]["score"], pair[0].key))


def _found_candidate(found: Weighed) -> Candidate:
    is_unrelated = found.scores["sparse"] == 0 and found.scores.get("dense", 0.0) < UNRELATED_COSINE
    return _candidate(found.passage, found.scores, OmissionReason.LOW_RELEVANCE if is_unrelated else None)


def _candidate(
    passage: EvidencePassage, scores: Mapping[str, float], reason: OmissionReason | None
) -> Candidate:
    source, group = passage.source, passage.group
    text = passage.text.strip("\n")
    start = passage.span.start + len(passage.text) - len(passage.text.lstrip("\n"))
    observed = source.observed_at.date()
    title = (group.title if group is not None else "") or passage.title or source.uri
    version = source.source_version if source.source_version and group is None else ""
    # A session's title often is its date: said once is enough, and a header stands above every few turns.
    day = "" if date_of(title, _LONG_AGO) == observed else observed.isoformat()
    return Candidate(
        kind="evidence",
        id=passage.evidence_id,
        version=passage.version,
        parts=(Part("", text),),
        sha256=passage.sha256,
        place=(group.sequence if group is not None else 0, passage.evidence_id, passage.ordinal),
        cite="E",
        group=Group(
            key="|".join(
                (
                    group.id if group is not None else passage.evidence_id,
                    passage.trust,
                    passage.authority,
                    observed.isoformat(),
                )
            ),
            title=title,
            note=", ".join(part for part in (version, day) if part),
            standing=f"{passage.trust} {passage.authority}",
        ),
        shape=Shape.MARKDOWN,
        card_title=passage.title or title,
        authority=passage.authority,
        trust=passage.trust,
        source=Source(source.uri, source.kind, source.source_version, source.observed_at),
        span=(start, start + len(text)),
        scores=scores,
        flags=passage.flags,
        reason=OmissionReason.STALE if passage.stale and reason is not OmissionReason.QUARANTINED else reason,
    )


def _declared(situation: Situation) -> Sequence[str]:
    """Answer the ids of the evidence that the request's task declares as inputs, in their order."""
    if situation.run is None or situation.asked.task_id is None:
        return []
    task = next(one for one in situation.run.facts.tasks if one.id == situation.asked.task_id)
    return [
        ref.removeprefix(_INPUT_PREFIX).partition("@")[0]
        for ref in task.inputs
        if ref.startswith(_INPUT_PREFIX)
    ]


def _inputs(situation: Situation) -> Sequence[EvidencePassage]:
    """Read what the request's task declares as inputs, in their order; what may not be read is not there."""
    ids = _declared(situation)
    if not ids:
        return []
    unit, store = situation.unit, EvidenceStore.of(situation.unit)
    heads = store.readable_heads(ids, unit.caller)
    keys = [
        PassageKey(item_id, heads[item_id].version, ordinal)
        for item_id in dict.fromkeys(ids)
        if item_id in heads and heads[item_id].project_id == situation.project.id
        for ordinal in range(heads[item_id].chunks)
    ][:_INPUT_CHUNKS_MAX]
    passages = store.passages(keys, caller=unit.caller, now=unit.now)
    return [passages[key] for key in keys if key in passages]
