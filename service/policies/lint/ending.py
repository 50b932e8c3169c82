"""Times that cannot do what they say beside each other, and times that end before something holds on."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from service.policies.classes import Expiry, MemoryClass
from service.policies.lint.faults import Fault, warning
from service.policies.model import Bundle
from service.policies.words import RetainedText


@dataclass(frozen=True, slots=True)
class LiveHolds:
    """When the legal holds of a tenant end that stand at `now`; `None` for those that wait for a release."""

    now: datetime
    ends: tuple[datetime | None, ...] = ()

    def longer_than(self, days: int) -> int:
        """Answer how many stand for longer than `days` from now."""
        end = self.now + timedelta(days=days)
        return sum(until is None or until > end for until in self.ends)


def lint_endings(bundle: Bundle, holds: LiveHolds | None) -> Iterator[Fault]:
    """Yield what is wrong with the times of classes and of retention classes.

    Without live holds, what a bundle itself holds on to is a deletion that its subject may take back.
    """
    for memory_class in bundle.classes.values():
        if memory_class.expiry is not None:
            yield from _of_class(memory_class, memory_class.expiry, holds)
    if holds is None:
        return
    for name, retention in bundle.retention.items():
        if retention.text is RetainedText.FULL and (count := holds.longer_than(retention.days)):
            yield warning(("retention", name, "days"), "expiry_before_hold", _held(count, retention.days))


def _of_class(memory_class: MemoryClass, expiry: Expiry, holds: LiveHolds | None) -> Iterator[Fault]:
    path = ("classes", memory_class.name, "expiry")
    if expiry.idle_days is not None and expiry.idle_days >= expiry.days:
        message = f"`idle_days` never ends anything: `days` ({expiry.days}) always does so first, or at once"
        yield warning((*path, "idle_days"), "dead_key", message)
    if memory_class.grace_days > expiry.days:
        message = (
            f"a deletion may be taken back for {memory_class.grace_days} days (`grace_days`),"
            f" and by then the memory has run out after {expiry.days}: make one longer, or the other shorter"
        )
        yield warning((*path, "days"), "expiry_before_hold", message)
    days = expiry.days + expiry.keep_ended_days
    if holds is not None and (count := holds.longer_than(days)):
        yield warning((*path, "days"), "expiry_before_hold", _held(count, days))


def _held(count: int, days: int) -> str:
    return (
        f"{count} live legal hold{'s' * (count > 1)} of the tenant last{'s' * (count == 1)} longer than these"
        f" {days} days: what is held runs out meanwhile, and is destroyed once the hold is released"
    )
