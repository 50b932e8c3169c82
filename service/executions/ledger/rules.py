"""The order of an effect's states, and what counts as large or unknown. Pure."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from service.executions.ledger.model import Effect, EffectStatus

EFFECT_NEXT: Final[Mapping[EffectStatus, frozenset[EffectStatus]]] = MappingProxyType(
    {
        EffectStatus.INTENDED: frozenset({EffectStatus.DISPATCHED, EffectStatus.FAILED}),
        EffectStatus.DISPATCHED: frozenset(
            {EffectStatus.COMMITTED, EffectStatus.FAILED, EffectStatus.UNKNOWN}
        ),
        EffectStatus.COMMITTED: frozenset(),
        EffectStatus.FAILED: frozenset(),
        EffectStatus.UNKNOWN: frozenset(),
        EffectStatus.ABSENT: frozenset({EffectStatus.DISPATCHED}),
        EffectStatus.ESCALATED: frozenset(),
    }
)
"""What the agent that acts may report. Nothing is committed that was not dispatched: rights are checked again
there. Out of `unknown` no word of the agent's leads."""
assert EFFECT_NEXT.keys() == set(EffectStatus)

UNKNOWN: Final = frozenset({EffectStatus.DISPATCHED, EffectStatus.UNKNOWN})
"""In these nobody knows an effect's outcome."""

UNSETTLED: Final = UNKNOWN | {EffectStatus.ESCALATED}
"""In these nobody knows the outcome, also where people were asked and could not establish it."""

UNDISPATCHED: Final = frozenset({EffectStatus.INTENDED, EffectStatus.ABSENT})
"""In these an effect is certainly not under way, and may still be sent."""

INLINE_TOKENS_MAX: Final = 2_000
INLINE_BYTES_MAX: Final = 32 * 1024
"""A tool result beyond either is kept as evidence. Long runs of white space are few tokens and many bytes."""


def is_unknown(effect: Effect) -> bool:
    """Say whether nobody knows an effect's outcome; dispatched without an outcome counts so."""
    return effect.status in UNKNOWN


def is_unsettled(effect: Effect) -> bool:
    """Say whether nobody knows an effect's outcome, asked or not: so long nothing new is done outside."""
    return effect.status in UNSETTLED


def is_undelivered(effect: Effect) -> bool:
    """Say whether a connector still has to deliver an effect: so long the run that wants it is not done."""
    return effect.connector is not None and effect.status in UNDISPATCHED


def is_large(content: str, tokens: int) -> bool:
    """Say whether a tool result is too large to be kept in the run."""
    return tokens > INLINE_TOKENS_MAX or len(content.encode()) > INLINE_BYTES_MAX
