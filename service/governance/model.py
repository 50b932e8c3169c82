"""Erasures: what is to be erased, how far that has come, and the receipt."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final

from service.core.errors import Conflict, Invalid

ERASURE_DAYS_MAX: Final = 28
"""The law gives a month (GDPR, article 12(3)), and the shortest month has so many days."""


class Kind(StrEnum):
    """What is erased: a memory, evidence, evidence with all that was made from it, a run's content, a person.

    `restore` is all that a copy of the record brought back, `retention` a run's own content once its time is
    over, without what was made from it. Append only.
    """

    MEMORY = "memory"
    EVIDENCE = "evidence"
    SOURCE = "source"
    EXECUTION = "execution"
    SUBJECT = "subject"
    RESTORE = "restore"
    RETENTION = "retention"


CLOSED_OVER: Final = frozenset({Kind.SOURCE, Kind.EXECUTION, Kind.SUBJECT})
"""Kinds that reach all that was made from what they name."""


class State(StrEnum):
    """How far an erasure has come. A pending one waits for its time of grace to end."""

    PENDING = "pending"
    RUNNING = "running"
    COMPLETED = "completed"
    FAILED = "failed"


OPEN: Final = frozenset({State.PENDING, State.RUNNING, State.FAILED})
"""States from which an erasure may still go on."""


TAKEN_BACK: Final = "taken_back"
"""Why an erasure failed that the person took back in its time of grace."""


@dataclass(frozen=True, slots=True)
class Target:
    """What one erasure reaches for.

    `ref` is an id; of a person the keyed hash, and then `subject` is the name, which the record keeps sealed
    while it is needed. `closes_account` takes the person's credentials and memberships too.
    """

    erasure_id: str
    kind: Kind
    ref: str
    subject: str | None = None
    closes_account: bool = False

    @property
    def pseudonym(self) -> str:
        """What stands from now on where the person's name stood: it says nothing but by which erasure."""
        return f"erased:{self.erasure_id}"


@dataclass(frozen=True, slots=True)
class StoreReceipt:
    """What an erasure did in one store. `verified` says that a query of its own found nothing afterwards."""

    store: str
    removed: int
    verified: bool
    is_done: bool


@dataclass(frozen=True, slots=True)
class Erasure:
    """A deletion and how far it has come. Times are of asking and, once every store is done, of the end.

    `requester` is the keyed hash of who asked. `step` counts the steps that are done, `failure` is the code
    of what stopped the last attempt, and `starts_at` is when a time of grace, where there is one, ends.
    """

    id: str
    kind: Kind
    ref: str
    requester: str
    state: State
    stores: tuple[StoreReceipt, ...]
    created_at: datetime
    completed_at: datetime | None = None
    subject: str | None = None
    closes_account: bool = False
    step: int = 0
    failure: str | None = None
    starts_at: datetime | None = None
    backups_expire_at: datetime | None = None

    @property
    def due_at(self) -> datetime:
        """When every store must be done at the latest."""
        return self.created_at + timedelta(days=ERASURE_DAYS_MAX)

    @property
    def target(self) -> Target:
        """What it reaches for."""
        return Target(self.id, self.kind, self.ref, self.subject, self.closes_account)

    @property
    def is_complete(self) -> bool:
        """Whether every store is done and verified."""
        return self.state is State.COMPLETED


class HoldScope(StrEnum):
    """What a hold names."""

    MEMORY = "memory"
    EXECUTION = "execution"
    EVIDENCE = "evidence"
    SUBJECT = "subject"
    PROJECT = "project"


@dataclass(frozen=True, slots=True)
class Hold:
    """A legal hold. `ref` is an id; of a person the keyed hash. `until` of `None`: until it is released."""

    id: str
    scope: HoldScope
    ref: str
    basis: str
    until: datetime | None
    by: str
    created_at: datetime
    released_at: datetime | None = None


class Held(Conflict):
    """A legal hold keeps what was to be deleted. The basis is part of the answer, as the law asks."""

    code = "held"
    title = "A legal hold keeps this from being deleted"


class HoldEnded(Invalid):
    """A hold is to end before it begins."""

    code = "hold_ended"
    title = "A hold ends in the future"
