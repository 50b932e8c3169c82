"""Looking for a literal inside one item's text, without ever holding all of it."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice

from service.evidence.get import get_evidence
from service.evidence.model import Evidence
from service.evidence.ports import Span
from service.evidence.store import EvidenceStore
from service.identity.unit import Unit


@dataclass(frozen=True, slots=True)
class Match:
    """One place, and the text around it that begins at `text_start`."""

    span: Span
    text: str
    text_start: int


@dataclass(frozen=True, slots=True)
class Matches:
    """Places in order; `more` says that the limit cut them off."""

    evidence: Evidence
    matches: tuple[Match, ...]
    more: bool


def grep_evidence(
    evidence_id: str,
    literal: str,
    *,
    unit: Unit,
    limit: int,
    context: int,
    ignore_case: bool = False,
    version: int | None = None,
    to_judge: bool = False,
) -> Matches:
    """Answer up to `limit` places where the literal stands, with `context` characters around each.

    Places do not overlap. Raises `NotFound` for what the caller may not read. Takes time linear in the text.
    """
    evidence = get_evidence(evidence_id, unit=unit, version=version, to_judge=to_judge)
    pieces = EvidenceStore.of(unit).pieces(evidence.id, evidence.version)
    pattern = re.compile(re.escape(literal), re.IGNORECASE if ignore_case else 0)
    found = tuple(islice(find_in_pieces(pieces, pattern, len(literal), context=context), limit + 1))
    return Matches(evidence, found[:limit], len(found) > limit)


def find_in_pieces(
    pieces: Iterable[tuple[int, str]], pattern: re.Pattern[str], length: int, *, context: int
) -> Iterator[Match]:
    """Answer where a pattern of that length stands in pieces that tile a text, across their borders too.

    A window slides over the pieces: a place is told once the window holds what stands after it.
    """
    window, window_start, searched = "", 0, 0
    for offset, piece in pieces:
        window += piece
        reach = offset + len(piece) - context - length
        for match in _matches(window, window_start, searched, pattern, context):
            if match.span.start > reach:
                break
            yield match
            searched = match.span.end
        searched = max(searched, reach + 1)
        keep_from = max(window_start, searched - context)
        window, window_start = window[keep_from - window_start :], keep_from
    yield from _matches(window, window_start, searched, pattern, context)


def _matches(
    window: str, window_start: int, searched: int, pattern: re.Pattern[str], context: int
) -> Iterator[Match]:
    for match in pattern.finditer(window, max(0, searched - window_start)):
        text_start = max(0, match.start() - context)
        text = window[text_start : match.end() + context]
        yield Match(
            Span(window_start + match.start(), window_start + match.end()), text, window_start + text_start
        )
