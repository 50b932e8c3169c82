"""Evidence between its shapes on the wire and its values inside."""

from collections.abc import Mapping

from service.core.errors import Invalid
from service.entry.http.body import UploadedFile
from service.evidence.cut import cut
from service.evidence.files import file_media_type, file_title
from service.evidence.grep import Matches
from service.evidence.model import (
    TEXT_SHOWN_CHARACTERS_MAX,
    Evidence,
    EvidencePassage,
    Group,
    Kept,
    Limitation,
    NewEvidence,
    Reference,
    Source,
)
from service.evidence.ports import Span
from service.identity.model import Caller
from service.policies.words import Authority
from service.retrieval.search import Ranked
from service.wire.evidence import (
    AddEvidence,
    EvidenceAnswer,
    EvidenceKept,
    FoundEvidence,
    GrepAnswer,
    GrepMatch,
    GroupAnswer,
    GroupFields,
    Limited,
    SourceAnswer,
    SpanAnswer,
    Truncated,
)
from service.wiring import Runtime


def new_evidence(body: AddEvidence, *, runtime: Runtime, upload: UploadedFile | None = None) -> NewEvidence:
    """Answer what was sent as something to keep, its text read and cut before any transaction begins.

    Raises `Invalid` for both or neither of text and file, and `FileUnreadable`.
    """
    if (body.text is None) == (upload is None):
        raise Invalid("send a text or a file, and not both", pointer="/text")
    if upload is None:
        text, media_type, title = body.text or "", body.media_type or "text/plain", body.title or ""
    else:
        media_type = file_media_type(upload.name, body.media_type or upload.media_type)
        text = runtime.files.read_text(upload.content, media_type=media_type, name=upload.name)
        title = body.title or file_title(upload.name)
    source = body.source
    return NewEvidence(
        project=body.project,
        text=text,
        source=Source(source.uri, source.kind, source.source_version, source.observed_at or runtime.clock()),
        title=title,
        media_type=media_type,
        authority=None if body.authority is None else Authority(body.authority),
        readers=body.readers,
        subjects=body.subjects,
        group=_new_group(body.group),
        fresh_until=body.fresh_until,
        supersedes=body.supersedes,
        derived_from=tuple(_reference(reference) for reference in body.derived_from),
        metadata=body.metadata,
        pieces=cut(text, media_type, chunker=runtime.chunker, tokens=runtime.tokens),
    )


def kept_answer(kept: Kept) -> EvidenceKept:
    """Answer what a text became."""
    return EvidenceKept(
        id=kept.id,
        version=kept.version,
        created=kept.is_new,
        sha256=kept.sha256,
        trust=kept.standing.trust.value,
        authority=kept.standing.authority.value,
        limited=_limited(kept.standing.limited),
        tokens=kept.tokens,
        chunks=kept.chunks,
        flags=list(kept.flags),
    )


def evidence_answer(evidence: Evidence, beginning: str, caller: Caller) -> EvidenceAnswer:
    """Answer an item with the beginning of its text; readers in the names that the caller knows."""
    names = {project.id: project.name for project in caller.projects}
    is_cut = evidence.characters > TEXT_SHOWN_CHARACTERS_MAX
    return EvidenceAnswer(
        id=evidence.id,
        version=evidence.version,
        current_version=evidence.current_version,
        project=names[evidence.project_id],
        title=evidence.title,
        text=beginning,
        truncated=Truncated(kept=len(beginning), of=evidence.characters) if is_cut else None,
        media_type=evidence.media_type,
        sha256=evidence.sha256,
        characters=evidence.characters,
        tokens=evidence.tokens,
        chunks=evidence.chunks,
        trust=evidence.standing.trust.value,
        authority=evidence.standing.authority.value,
        limited=_limited(evidence.standing.limited),
        source=_source(evidence.source),
        readers=_readers(evidence.readers, names),
        subjects=list(evidence.subjects),
        group=_group(evidence.group),
        fresh_until=evidence.fresh_until,
        stale=evidence.stale,
        supersedes=evidence.supersedes,
        superseded_by=evidence.superseded_by,
        quarantined=evidence.quarantined,
        derived_from=[_reference_text(reference) for reference in evidence.derived_from],
        metadata=dict(evidence.metadata),
        created_at=evidence.created_at,
        created_by=evidence.created_by,
        flags=list(evidence.flags),
    )


def grep_answer(found: Matches) -> GrepAnswer:
    """Answer where a literal stands."""
    matches = [
        GrepMatch(span=_span(match.span), text=match.text, text_start=match.text_start)
        for match in found.matches
    ]
    return GrepAnswer(id=found.evidence.id, version=found.evidence.version, matches=matches, more=found.more)


def found_answer(ranked: Ranked[EvidencePassage]) -> FoundEvidence:
    """Answer one found passage."""
    passage = ranked.item
    return FoundEvidence(
        id=passage.evidence_id,
        version=passage.version,
        title=passage.title,
        text=passage.text,
        span=_span(passage.span),
        tokens=passage.tokens,
        sha256=passage.sha256,
        trust=passage.trust.value,
        authority=passage.authority.value,
        source=_source(passage.source),
        group=_group(passage.group),
        stale=passage.stale,
        score=ranked.score,
        scores=dict(ranked.scores),
        flags=list(passage.flags),
    )


def _new_group(group: GroupFields | None) -> Group | None:
    return Group(group.id, group.title, group.sequence) if group else None


def _reference(text: str) -> Reference:
    kind, _, rest = text.partition(":")
    name, _, version = rest.partition("@")
    return Reference(kind, name, int(version) if version else None)


def _reference_text(reference: Reference) -> str:
    text = f"{reference.kind}:{reference.id}"
    return text if reference.version is None else f"{text}@{reference.version}"


def _readers(labels: tuple[str, ...], names: Mapping[str, str]) -> list[str]:
    shown = []
    for label in labels:
        kind, _, name = label.partition(":")
        if kind != "project":
            shown.append(label)
        elif name in names:
            shown.append(f"project:{names[name]}")
    return shown


def _limited(limitation: Limitation | None) -> Limited | None:
    return Limited(code=limitation.value, message=limitation.message) if limitation else None


def _source(source: Source) -> SourceAnswer:
    return SourceAnswer(
        uri=source.uri,
        kind=source.kind,
        source_version=source.source_version,
        observed_at=source.observed_at,
        retrieved_by=source.retrieved_by,
    )


def _group(group: Group | None) -> GroupAnswer | None:
    return GroupAnswer(id=group.id, title=group.title, sequence=group.sequence) if group else None


def _span(span: Span) -> SpanAnswer:
    return SpanAnswer(start=span.start, end=span.end)
