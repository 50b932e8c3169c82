"""Keeping evidence: what is handed in becomes items, versions and chunks, many in one transaction."""

from collections.abc import Mapping, Sequence

from service.core.errors import Invalid, Refusal
from service.core.idempotency import IdempotencyStore
from service.core.lineage import Node
from service.core.quarantined import Quarantined
from service.evidence.cut import cut
from service.evidence.flags import flags_of
from service.evidence.model import Head, Kept, NewEvidence, SupersedeRefused
from service.evidence.ports import Chunker
from service.evidence.prepare import Prepared, prepare
from service.evidence.rows import VersionRows
from service.evidence.rules import may_add_version, may_read, may_supersede
from service.evidence.store import EvidenceStore, Writing
from service.identity.unit import Unit
from service.policies.model import Bundle


def keep_all(
    news: Sequence[NewEvidence], *, unit: Unit, bundle: Bundle, chunker: Chunker
) -> Sequence[Kept | Refusal]:
    """Keep each of the texts that may be kept, and answer for each what it became or why it was refused.

    A refused one leaves nothing behind and does not touch the others. Stages `evidence.changed` for what the
    index must learn. The caller records the audit event.
    """
    store = EvidenceStore.of(unit)
    quarantined = Quarantined(unit.session, unit.tenant_id)
    if any(new.derived_from or new.supersedes for new in news):
        quarantined.share()
    named = _named_items(news, store, unit)
    aside = _put_aside(news, quarantined)
    prepared = [prepare(new, unit=unit, bundle=bundle, named=named, aside=aside) for new in news]
    good = [each for each in prepared if isinstance(each, Prepared)]
    store.lock([each.lock_name for each in good])
    heads = store.heads_by_uri([key for each in good for key in each.uri_keys])
    keeper = _Keeper(unit, chunker, heads)
    outcomes = [keeper.keep(each, named) if isinstance(each, Prepared) else each for each in prepared]
    store.write(keeper.writing)
    keeper.stage()
    keeper.close_kept_answers()
    return outcomes


def _named_items(news: Sequence[NewEvidence], store: EvidenceStore, unit: Unit) -> Mapping[str, Head]:
    """Answer the items that the texts refer to and the caller may read."""
    named = {ref.id for new in news for ref in new.derived_from if ref.kind == "evidence"}
    named |= {new.supersedes for new in news if new.supersedes is not None}
    return store.readable_heads(sorted(named), unit.caller) if named else {}


def _put_aside(news: Sequence[NewEvidence], quarantined: Quarantined) -> frozenset[Node]:
    """Answer which of the other things that the texts were made from are under quarantine."""
    named = {Node(ref.kind, ref.id) for new in news for ref in new.derived_from if ref.kind != "evidence"}
    kinds = {node.kind for node in named}
    return frozenset(
        Node(kind, item_id)
        for kind in kinds
        for item_id in quarantined.among(kind, {node.id for node in named if node.kind == kind})
    )


class _Keeper:
    """Decides and gathers rows, one text after the other, so that a batch may hold one uri twice."""

    def __init__(self, unit: Unit, chunker: Chunker, heads: dict[str, Head]) -> None:
        self.writing = Writing()
        self._unit = unit
        self._chunker = chunker
        self._heads = heads
        self._other_readers: list[str] = []

    def keep(self, prepared: Prepared, named: Mapping[str, Head]) -> Kept | Refusal:
        """Keep one text, or answer why not."""
        uri_key, head = self._lane(prepared)
        if head is not None and head.statement_key == prepared.statement_key:
            return self._see_again(prepared.new, head)
        refusal = self._supersede_fault(prepared, head, named)
        if refusal is not None:
            return refusal
        return self._add(prepared, uri_key, head)

    def stage(self) -> None:
        """Tell the index of what is new and of what has left search."""
        changed = [
            {"item_id": row["evidence_id"], "version": row["version"]} for row in self.writing.versions
        ]
        self._unit.stage_all("evidence.changed", changed)
        self._unit.stage_all("evidence.deleted", [{"item_id": name} for name in self.writing.superseded])

    def close_kept_answers(self) -> None:
        """Empty the answers that show items whose readers are others now: a repeat is a reading too."""
        if self._other_readers:
            answers = IdempotencyStore(self._unit.session, self._unit.tenant_id, self._unit.cipher)
            answers.erase(self._other_readers)

    def _lane(self, prepared: Prepared) -> tuple[str, Head | None]:
        """Answer the first key that is free or whose item this version may join."""
        caller = self._unit.caller
        for uri_key in prepared.uri_keys:
            head = self._heads.get(uri_key)
            if head is None or may_add_version(
                head,
                trust=prepared.standing.trust,
                readers_key=prepared.readers_key,
                readable=may_read(caller, project_id=prepared.project_id, labels=prepared.labels),
                principal=caller.principal,
            ):
                return uri_key, head
        raise AssertionError("the last lane is the caller's own")

    def _see_again(self, new: NewEvidence, head: Head) -> Kept:
        observed_at = max(new.source.observed_at, head.observed_at)
        if (observed_at, new.fresh_until) != (head.observed_at, head.fresh_until):
            self.writing.seen[head.id, head.version] = (observed_at, new.fresh_until)
        return Kept(
            id=head.id,
            version=head.version,
            project_id=head.project_id,
            sha256=head.sha256,
            standing=head.standing,
            tokens=head.tokens,
            chunks=head.chunks,
            is_new=False,
            flags=flags_of(new),
        )

    def _supersede_fault(
        self, prepared: Prepared, head: Head | None, named: Mapping[str, Head]
    ) -> Refusal | None:
        if prepared.new.supersedes is None:
            return None
        target = named[prepared.new.supersedes]
        if head is not None and head.id == target.id:
            return Invalid("names the item itself: the same uri is a new version", pointer="/supersedes")
        allowed = may_supersede(
            target,
            standing=prepared.standing,
            readers_key=prepared.readers_key,
            principal=self._unit.caller.principal,
        )
        return None if allowed else SupersedeRefused()

    def _add(self, prepared: Prepared, uri_key: str, head: Head | None) -> Kept:
        unit, new = self._unit, prepared.new
        evidence_id = head.id if head else unit.ids()
        version = head.version + 1 if head else 1
        pieces = new.pieces or cut(new.text, new.media_type, chunker=self._chunker, tokens=unit.tokens)
        rows = VersionRows(prepared, unit, evidence_id, version)
        if head:
            if head.readers_key != prepared.readers_key:
                self._other_readers.append(evidence_id)
            self.writing.pointed[evidence_id] = version
            self.writing.superseded.pop(evidence_id, None)
        else:
            self.writing.items.append(rows.item(uri_key))
        self.writing.versions.append(rows.version(pieces))
        self.writing.chunks += rows.chunks(pieces)
        self.writing.readers += rows.readers()
        self.writing.subjects += rows.subjects()
        self.writing.lineage += rows.lineage()
        if new.supersedes is not None:
            self.writing.superseded[new.supersedes] = evidence_id
        self._heads[uri_key] = rows.head(
            uri_key, pieces, created_by=head.created_by if head else unit.caller.principal
        )
        return Kept(
            id=evidence_id,
            version=version,
            project_id=prepared.project_id,
            sha256=prepared.sha256,
            standing=prepared.standing,
            tokens=sum(piece.tokens for piece in pieces),
            chunks=len(pieces),
            is_new=True,
            flags=rows.flags,
        )
