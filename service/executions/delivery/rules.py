"""What a downstream's answer makes of an effect, and when to ask again. Pure."""

from datetime import datetime, timedelta
from typing import Final

from service.executions.ledger.model import Effect, EffectStatus, SettledBasis
from service.executions.ports import Found, Sent

TRIES_MAX: Final = 12
"""After so many tries that established nothing, people are asked: about 24 minutes of silence."""
_RETRY_SECONDS_MAX: Final = 300

SEND_WITHIN: Final = timedelta(seconds=2)
"""So soon after its dispatch was written down a command leaves, or that dispatch sends nothing any more."""

UNDER_WAY: Final = frozenset({EffectStatus.DISPATCHED, EffectStatus.UNKNOWN})
"""Effects that may have happened, so that the downstream is asked before anything is sent."""
_SETTLED: Final = frozenset({EffectStatus.COMMITTED, EffectStatus.FAILED})


def must_be_asked_about(effect: Effect) -> bool:
    """Say whether the downstream is asked before an effect is sent: all but what it never got or denied.

    That people say that it is absent is a reason to ask, and not yet one to send.
    """
    if effect.status is EffectStatus.ABSENT:
        return effect.settled_basis is not SettledBasis.CONNECTOR
    return effect.status in UNDER_WAY


def status_after_send(effect: Effect, outcome: Sent, *, attempt: int) -> EffectStatus | None:
    """Answer what a dispatch's answer makes of the effect; `None`: nothing, it no longer counts.

    A clear yes counts whenever it comes, whatever was thought or tried meanwhile. Anything else only counts
    for the dispatch that it answers, while nobody knows better.
    """
    if effect.status in _SETTLED:
        return None
    if outcome is Sent.COMMITTED:
        return EffectStatus.COMMITTED
    if effect.attempts != attempt or effect.status not in UNDER_WAY:
        return None
    if outcome is Sent.REFUSED:
        return EffectStatus.FAILED
    return EffectStatus.UNKNOWN if effect.status is EffectStatus.DISPATCHED else None


def status_after_look_up(
    effect: Effect, outcome: Found, *, attempt: int, absence_counts: bool
) -> EffectStatus | None:
    """Answer what a look-up makes of the effect; `None`: nothing.

    `absence_counts` says that no request can still arrive. What people were asked about (`escalated`) is not
    sent again by itself, so only a clear yes settles it.
    """
    if effect.status in _SETTLED or effect.status is EffectStatus.INTENDED:
        return None
    if outcome is Found.COMMITTED:
        return EffectStatus.COMMITTED
    is_asked_about = effect.attempts == attempt and must_be_asked_about(effect)
    return EffectStatus.ABSENT if is_asked_about and outcome is Found.ABSENT and absence_counts else None


def absence_counts_from(effect: Effect, *, timeout: timedelta, absent_after: timedelta) -> datetime:
    """Answer the moment from which "nothing found" means that there is nothing and will be nothing.

    Of an effect that is `dispatched` some worker may still be sending, until its time is over. For any other
    nobody has been waiting since its status was written. Either way the request may arrive later.
    """
    if effect.status is EffectStatus.DISPATCHED:
        return sending_until(effect, timeout=timeout) + absent_after
    return effect.updated_at + absent_after


def sending_until(effect: Effect, *, timeout: timedelta) -> datetime:
    """Answer until when a worker of ours may be sending what was last dispatched."""
    return (effect.dispatched_at or effect.updated_at) + SEND_WITHIN + timeout


def may_be_sent(dispatched_at: datetime, now: datetime, elapsed: timedelta) -> bool:
    """Say whether a worker may still send what it wrote down as dispatched.

    A worker that was stopped in between may wake after others have looked and found nothing: what it sent
    then would be done twice. Both clocks count, since either may fail: the one on the wall is set back, and
    `elapsed`, of a clock that only runs, leaves out how long the machine slept.
    """
    return max(now - dispatched_at, elapsed) < SEND_WITHIN


def retry_after(tries: int) -> timedelta:
    """Answer how long to wait after so many tries: 2, 4, 8 … at most 300 seconds."""
    return timedelta(seconds=min(2 ** min(tries, TRIES_MAX), _RETRY_SECONDS_MAX))
