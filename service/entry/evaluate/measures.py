"""What a package says about its profile: what it holds of what was expected, what can be reused, its price.

Pure: the same package gives the same figures.
"""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Final

from service.entry.evaluate.model import Block, Missing, Rates, Shown
from service.entry.evaluate.questions import ExpectedSource

_MILLION: Final = Decimal(1_000_000)


def missing_sources(
    expected: Sequence[ExpectedSource],
    shown: Sequence[Shown],
    omitted: Mapping[str, str],
    ids_by_uri: Mapping[str, frozenset[str]],
) -> Mapping[int, str]:
    """Answer why an expected source does not count as found, by its place in `expected`.

    A source counts where a piece of it stands in the package as itself: a card only points at it. Where words
    are expected, a piece must show them; white space and case do not count. `omitted` gives the reasons by
    evidence id, and `ids_by_uri` the ids that a uri has.
    """
    missing: dict[int, str] = {}
    for place, source in enumerate(expected):
        pieces = [one for one in shown if source.source in (one.id, one.uri)]
        if any(not piece.is_card and _holds(piece.text, source.contains) for piece in pieces):
            continue
        missing[place] = _why(source, pieces, omitted, ids_by_uri)
    return missing


def recall(expected: int, missing: int) -> float:
    """Answer the share of `expected` sources that are not missing."""
    return (expected - missing) / expected


def reused_tokens(before: Sequence[Block], after: Sequence[Block]) -> int:
    """Answer how many tokens of `after` a prompt cache that has seen `before` need not read again.

    Whole blocks from the start, byte for byte alike: a provider's cache ends at the first difference, and may
    begin a little before it, so that this is what it gives at least.
    """
    reused = 0
    for one, other in zip(before, after, strict=False):
        if one.text != other.text:
            break
        reused += other.tokens
    return reused


def cost(tokens: int, reused: int, rates: Rates) -> Decimal:
    """Answer what a provider asks for sending `tokens`, of which it has `reused` in its cache."""
    fresh = (tokens - reused) * rates.per_million
    return (fresh + reused * rates.cached_per_million) / _MILLION


def _holds(text: str, wanted: str | None) -> bool:
    return wanted is None or _plain(wanted) in _plain(text)


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())


def _why(
    source: ExpectedSource,
    pieces: Sequence[Shown],
    omitted: Mapping[str, str],
    ids_by_uri: Mapping[str, frozenset[str]],
) -> str:
    ids = {source.source} | ids_by_uri.get(source.source, frozenset())
    reasons = sorted({omitted[one] for one in ids if one in omitted})
    if any(not piece.is_card for piece in pieces):
        return reasons[0] if reasons else Missing.OTHER_PASSAGE.value
    if pieces:
        return Missing.CARD.value
    return reasons[0] if reasons else Missing.NOT_FOUND.value
