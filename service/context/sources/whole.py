"""Short documents as one piece: what was found of one stands for all of it.

Half a document answers half a question, and a citation for each piece of it takes tokens. How long one may be
does not depend on the budget: else no omission could be told what budget would hold it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Final

from service.core.passages import PassageKey
from service.evidence.model import EvidencePassage
from service.evidence.ports import Span
from service.evidence.store import EvidenceStore
from service.identity.unit import Unit

TOKENS_MAX: Final = 1_024
"""A longer document stands there in passages."""
_CHUNKS_MAX: Final = 8


@dataclass(frozen=True, slots=True)
class Weighed:
    """A passage that was found, with the scores that are shown of it."""

    passage: EvidencePassage
    scores: Mapping[str, float]


def join_documents(found: Sequence[Weighed], *, unit: Unit) -> Sequence[Weighed]:
    """Answer what was found, the best first, with all passages of a short document as one.

    It stands where its best passage stood and has that one's scores. Only items that are no part of a group
    are joined, and only where every chunk may be read and they follow each other without a gap.
    """
    ids = {one.passage.key.item_id for one in found if one.passage.group is None}
    store = EvidenceStore.of(unit)
    items = store.readable_items(sorted(ids), caller=unit.caller) if ids else {}
    short = {item.id: item for item in items.values() if 1 < item.chunks <= _CHUNKS_MAX}
    have = {one.passage.key: one.passage for one in found}
    keys = {
        item.id: [PassageKey(item.id, item.version, ordinal) for ordinal in range(item.chunks)]
        for item in short.values()
    }
    missing = [key for chunks in keys.values() for key in chunks if key not in have]
    have.update(store.passages(missing, caller=unit.caller, now=unit.now) if missing else {})
    wholes = {item_id: _joined(chunks, have) for item_id, chunks in keys.items()}
    answers: list[Weighed] = []
    taken: set[str] = set()
    for one in found:
        whole = wholes.get(one.passage.key.item_id)
        if whole is None:
            answers.append(one)
        elif whole.key.item_id not in taken:
            taken.add(whole.key.item_id)
            answers.append(Weighed(whole, one.scores))
    return answers


def _joined(keys: Sequence[PassageKey], have: Mapping[PassageKey, EvidencePassage]) -> EvidencePassage | None:
    parts = [have[key] for key in keys if key in have]
    tokens = sum(part.tokens for part in parts)
    follow = all(one.span.end == other.span.start for one, other in pairwise(parts))
    if len(parts) != len(keys) or not follow or tokens > TOKENS_MAX:
        return None
    span = Span(parts[0].span.start, parts[-1].span.end)
    return replace(parts[0], text="".join(part.text for part in parts), span=span, tokens=tokens)
