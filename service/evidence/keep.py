"""Keeping evidence: what is handed in becomes items, versions and chunks, many in one transaction."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from service.core.errors import Refusal
from service.evidence.model import CHUNK_TOKENS_MAX, Head, Kept, NewEvidence, ReferenceNotFound
from service.evidence.ports import Chunker, Span
from service.evidence.prepare import Prepared, prepare
from service.evidence.rules import may_add_version, may_supersede, tiles
from service.evidence.sealing import EvidenceSeal, Header
from service.evidence.store import EvidenceStore, Writing
from service.evidence.model import SupersedeRefused
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
    named = _named_items(news, store, unit)
    prepared = [prepare(new, unit=unit, bundle=bundle, named=named) for new in news]
    good = [each for each in prepared if isinstance(each, Prepared)]
    store.lock([each.lock_name for each in good])
    heads = store.heads_by_uri([key for each in good for key in each.uri_keys])
    keeper = _Keeper(unit, chunker, heads)
    outcomes = [keeper.keep(each, named) if isinstance(each, Prepared) else each for each in prepared]
    store.write(keeper.writing)
    keeper.stage()
    return outcomes


def _named_items(news: Sequence[NewEvidence], store: EvidenceStore, unit: Unit) -> Mapping[str, Head]:
    """Answer the items that the texts refer to and the caller may read."""
    named = {ref.id for new in news for ref in new.derived_from if ref.kind == "evidence"}
    named |= {new.supersedes for new in news if new.supersedes is not None}
    return store.readable_heads(sorted(named), unit.caller) if named else {}


class _Keeper:
    """Decides and gathers rows, one text after the other, so that a batch may hold one uri twice."""

    def __init__(self, unit: Unit, chunker: Chunker, heads: dict[str, Head]) -> None:
        self.writing = Writing()
        self._unit = unit
        self._chunker = chunker
        self._heads = heads

    def keep(self, prepared: Prepared, named: Mapping[str, Head]) -> Kept | Refusal:
        """Keep one text, or answer why not."""
        uri_key, head = self._lane(prepared)
        if head is not None and head.statement_key == prepared.statement_key and head.superseded_by is None:
            return self._see_again(prepared, head)
        refusal = self._supersede_fault(prepared, head, named)
        if refusal is not None:
            return refusal
        spans = self._spans(prepared.new)
        kept = self._add(prepared, uri_key, head, spans)
        if prepared.new.supersedes is not None:
            self.writing.superseded[prepared.new.supersedes] = kept.id
        return kept
