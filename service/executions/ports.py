"""What runs need from outside: where their commands are delivered, and where their sources are read again."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, Final, Protocol

from service.identity.unit import Unit
from service.policies.model import Bundle


class Sent(StrEnum):
    """What came of handing a command to a downstream."""

    COMMITTED = "committed"
    REFUSED = "refused"
    """It answered that it did nothing and never will on this request."""
    UNKNOWN = "unknown"
    """Anything else: it may have been done."""


class Found(StrEnum):
    """What a downstream says when it is asked for an operation."""

    COMMITTED = "committed"
    ABSENT = "absent"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Delivery:
    """One command on its way out."""

    execution_id: str
    operation_id: str
    kind: str
    request: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class SentAnswer:
    """What a dispatch led to. `failure` is a code, `None` when it is committed."""

    outcome: Sent
    downstream_ref: str | None = None
    failure: str | None = None


@dataclass(frozen=True, slots=True)
class FoundAnswer:
    """What a look-up led to. `failure` is a code, `None` when the downstream gave a clear answer."""

    outcome: Found
    downstream_ref: str | None = None
    failure: str | None = None


class Connector(Protocol):
    """One downstream that commands are delivered to. Each call takes at most `timeout`.

    Never called inside a transaction. Whatever fails is an answer, never an exception.
    """

    @property
    def timeout(self) -> timedelta:
        """How long a dispatch may be on its way before this side gives up on it."""
        ...

    @property
    def absent_after(self) -> timedelta:
        """How long after that a request may still arrive: until then nothing found is not nothing there."""
        ...

    def dispatch(self, delivery: Delivery) -> SentAnswer:
        """Hand the command over, under a key by which the downstream knows a repeat."""
        ...

    def look_up(self, execution_id: str, operation_id: str) -> FoundAnswer:
        """Ask what became of an operation."""
        ...


class Connectors(Protocol):
    """The downstreams that an operator registered, each for the tenants that may use it."""

    def find(self, tenant_id: str, name: str) -> Connector | None:
        """Answer the connector of that name, `None` when there is none or it is not this tenant's."""
        ...


@dataclass(frozen=True, slots=True)
class SourceReading:
    """What stands at a source now. `reader` names who read it, `source` the bundle's source it vouches for.

    Of one that is gone (`found` is false) nothing else is known. `version` is the source's own, `sha256` of
    the text's UTF-8 bytes. They are `None` where the source gave none, or what is too large or no text.
    """

    reader: str
    source: str
    found: bool
    version: str | None = None
    sha256: str | None = None
    text: str | None = None


class SourceReaders(Protocol):
    """The sources that an operator registered for reading again, each for the tenants that may use it."""

    def read(self, tenant_id: str, uri: str) -> SourceReading | None:
        """Read a source now; `None` when no reader of this tenant covers that address.

        Never called inside a transaction. Raises `core.errors.Unavailable` when the source does not answer.
        """
        ...


class Compactor(Protocol):
    """A model that an operator chose to write summaries. Never called inside a transaction."""

    @property
    def model(self) -> str:
        """The name under which its summaries stand."""
        ...

    def write(self, said: Sequence[tuple[str, str]], *, tokens_max: int) -> str:
        """Answer prose of about `tokens_max` tokens on what was said: labels with their texts, in order.

        Raises `CompactorUnavailable` when it does not answer in time, or with no text.
        """
        ...


@dataclass(frozen=True, slots=True)
class Referred:
    """A thing that a state refers to, as it stands now. `version` and `sha256` tell its states apart.

    `uri` and `source_version` say where it came from, `None` where that is nowhere outside. `changed_at` is
    when it got its present version, `None` for what never changes.
    """

    version: int | None
    sha256: str | None
    uri: str | None = None
    source_version: str | None = None
    expired: bool = False
    superseded: bool = False
    changed_at: datetime | None = None


class References(Protocol):
    """Looks up what a state refers to, as one caller at one moment: nothing is cached."""

    def look_up(self, kind: str, item_id: str) -> Referred | None:
        """Answer it, or `None` for what does not exist, was erased, or is not the caller's to read."""
        ...


class ReferencesOf(Protocol):
    """Makes what looks references up, as the caller of a unit of work and under a bundle."""

    def __call__(self, unit: Unit, bundle: Bundle) -> References:
        """Answer it for this transaction."""
        ...


class _NoConnectors:
    """No downstream at all."""

    def find(self, tenant_id: str, name: str) -> Connector | None:
        del tenant_id, name
        return None


class _NoSourceReaders:
    """No source that can be read again."""

    def read(self, tenant_id: str, uri: str) -> SourceReading | None:
        del tenant_id, uri
        return None


NO_CONNECTORS: Final[Connectors] = _NoConnectors()
NO_SOURCE_READERS: Final[SourceReaders] = _NoSourceReaders()
