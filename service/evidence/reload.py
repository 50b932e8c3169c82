"""Keeping what a source says now as a new version of the evidence that came from it."""

from dataclasses import dataclass, replace
from datetime import datetime

from service.audit.model import Action
from service.audit.record import record
from service.core.errors import NotFound
from service.core.hashing import hash_text
from service.evidence.cut import cut
from service.evidence.get import get_evidence
from service.evidence.model import Evidence, Head, Kept, NewEvidence, Source, Standing
from service.evidence.ports import Chunker
from service.evidence.prepare import Prepared
from service.evidence.rows import VersionRows
from service.evidence.rules import lock_name, statement
from service.evidence.store import EvidenceStore, Writing
from service.identity.matrix import SCOPES_BY_ROLE
from service.identity.model import Caller, Role
from service.identity.unit import Unit
from service.policies.model import Bundle
from service.policies.sources import place_source


@dataclass(frozen=True, slots=True)
class SourceText:
    """What stands at a source now, read by a reader that carries the grant of the bundle's `source`."""

    reader: str
    source: str
    text: str
    version: str | None


def reload_evidence(
    evidence_id: str, found: SourceText, *, unit: Unit, bundle: Bundle, chunker: Chunker
) -> Kept | None:
    """Keep what its source says now as a new version of an item: the same readers, persons, title and group.

    Its standing is the policy's word on the source, and who retrieved it is the reader. What says the same as
    before is only seen again. Answers `None`, and keeps nothing, for an item that the unit's caller may not
    read, that something supersedes, or that is trusted more than this reader.
    """
    store = EvidenceStore.of(unit)
    try:
        seen = get_evidence(evidence_id, unit=unit)
        store.lock([lock_name(seen.project_id, seen.source.uri)])
        # Whoever held the lock may have written the version that is to be written here.
        current = get_evidence(evidence_id, unit=unit)
    except NotFound:
        return None
    head = store.readable_heads([evidence_id], unit.caller)[evidence_id]
    prepared = _prepare(current, head, found, unit=unit, bundle=bundle)
    if current.superseded_by is not None or prepared.standing.trust.rank > head.standing.trust.rank:
        return None
    if prepared.statement_key == head.statement_key:
        seen_at = (prepared.new.source.observed_at, prepared.new.fresh_until)
        store.write(Writing(seen={(head.id, head.version): seen_at}))
        return _kept(head, is_new=False)
    return _write(prepared, head, store, replace(unit, caller=_reader_of(found, unit)), chunker)


def _prepare(current: Evidence, head: Head, found: SourceText, *, unit: Unit, bundle: Bundle) -> Prepared:
    source = current.source
    placed = place_source(source.uri, source.kind, None, {found.source}, bundle)
    standing = Standing(placed.trust, placed.authority)
    new = NewEvidence(
        project=unit.project_of(current.project_id).name,
        text=found.text,
        source=Source(source.uri, source.kind, found.version, unit.now),
        title=current.title,
        media_type=current.media_type,
        readers=current.readers,
        subjects=current.subjects,
        group=current.group,
        fresh_until=_fresh_until(current, unit.now),
        supersedes=current.supersedes,
        metadata=current.metadata,
    )
    sha256 = hash_text(found.text)
    said = statement(new, sha256=sha256, standing=standing, labels=current.readers)
    return Prepared(
        new=new,
        project_id=current.project_id,
        labels=current.readers,
        readers_key=head.readers_key,
        standing=standing,
        sha256=sha256,
        statement_key=unit.cipher.keyed_hash(said),
        lock_name=lock_name(current.project_id, source.uri),
        uri_keys=(head.uri_key,),
    )


def _fresh_until(current: Evidence, now: datetime) -> datetime | None:
    """Answer the end of a window as long as the last one was."""
    if current.fresh_until is None:
        return None
    return now + (current.fresh_until - current.source.observed_at)


def _reader_of(found: SourceText, unit: Unit) -> Caller:
    """Answer the caller whom the record names as the one that retrieved it."""
    return Caller(
        tenant_id=unit.tenant_id,
        credential_id="",
        role=Role.SYSTEM,
        subject=f"reader:{found.reader}",
        on_behalf_of=None,
        projects=frozenset(),
        scopes=SCOPES_BY_ROLE[Role.SYSTEM],
        source_grants=frozenset({found.source}),
    )


def _write(prepared: Prepared, head: Head, store: EvidenceStore, unit: Unit, chunker: Chunker) -> Kept:
    new, version = prepared.new, head.version + 1
    pieces = cut(new.text, new.media_type, chunker=chunker, tokens=unit.tokens)
    rows = VersionRows(prepared, unit, head.id, version)
    store.write(
        Writing(
            versions=[rows.version(pieces)],
            chunks=rows.chunks(pieces),
            readers=rows.readers(),
            subjects=rows.subjects(),
            pointed={head.id: version},
        )
    )
    unit.stage("evidence.changed", item_id=head.id, version=version)
    record(
        unit,
        Action.EVIDENCE_ADDED,
        kind="evidence",
        ref=head.id,
        version=version,
        trust=prepared.standing.trust.value,
        authority=prepared.standing.authority.value,
    )
    return _kept(rows.head(head.uri_key, pieces, created_by=head.created_by), is_new=True)


def _kept(head: Head, *, is_new: bool) -> Kept:
    return Kept(
        id=head.id,
        version=head.version,
        project_id=head.project_id,
        sha256=head.sha256,
        standing=head.standing,
        tokens=head.tokens,
        chunks=head.chunks,
        is_new=is_new,
    )
