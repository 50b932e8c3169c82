"""The port to what must outlive every erasure: the ledger of what is gone, and the end of a person's key.

It stands apart from the record and its backups: a copy that is put back is compared with it.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Protocol

from service.core.lineage import Node


@dataclass(frozen=True, slots=True)
class RememberedPolicy:
    """The version that counts in a tenant, its revision, and its files: no word of anybody's."""

    version: str
    revision: int
    files: Mapping[str, str]


class KeyLedger(Protocol):
    """Destroys keys and remembers what was erased. Each call is kept by itself, whatever a caller's does."""

    def destroy(self, tenant_id: str, subject: str) -> int:
        """Destroy the person's key beyond recovery; answer how many there were (0 or 1)."""
        ...

    def bury_all(self, tenant_id: str, nodes: Iterable[Node]) -> None:
        """Write into the ledger that these have been erased now. Repeating moves the time."""
        ...

    def buried(self, tenant_id: str, kind: str, refs: Collection[str]) -> Mapping[str, datetime]:
        """Answer those of the things that were erased, each with the time: what is older must not come back.

        `kind` is one of `core.lineage.Node`, `proposal`, or `subject` with the person's keyed hash as `ref`;
        `account` beside it where their account was closed. Rights that ended are buried too: see `Right`.
        """
        ...

    def backups_expire_at(self, now: datetime) -> datetime | None:
        """Answer when the last backup that was made until now expires, `None` when there is none."""
        ...

    def remember_policy(self, tenant_id: str, policy: RememberedPolicy) -> None:
        """Remember what counts in a tenant. One that is older than what is known changes nothing."""
        ...

    def find_policy(self, tenant_id: str) -> RememberedPolicy | None:
        """Answer what counted last in a tenant; `None` while nothing but its first version did."""
        ...


class Right(StrEnum):
    """Kinds of rights, by which the ledger knows those that ended. Append only."""

    KEY = "key"
    """A credential, by its id."""
    MEMBER = "member"
    """A membership, by its project's id and its subject."""
    CONSENT = "consent"
    """A person's consent, by their keyed hash and the purpose."""
    SILENCE = "refusal"
    """That a class may be remembered, by the person's keyed hash and the class, `*` for all."""
    USE = "pause"
    """That a memory counts, by its id."""
    TRUST = "quarantine"
    """That a source is used, as `kind:id`."""


def right_ref(*parts: str) -> str:
    """Answer by which name the ledger knows a right that is told by several parts."""
    return "/".join(parts)


class NoLedger:
    """Remembers nothing: for units of work in which nothing can end."""

    def destroy(self, tenant_id: str, subject: str) -> int:
        """Destroy nothing: keys are destroyed where they are kept."""
        del tenant_id, subject
        return 0

    def bury_all(self, tenant_id: str, nodes: Iterable[Node]) -> None:
        """Remember nothing."""

    def buried(self, tenant_id: str, kind: str, refs: Collection[str]) -> Mapping[str, datetime]:
        """Answer nothing."""
        del tenant_id, kind, refs
        return {}

    def backups_expire_at(self, now: datetime) -> datetime | None:
        """Answer nothing."""
        del now
        return None

    def remember_policy(self, tenant_id: str, policy: RememberedPolicy) -> None:
        """Remember nothing."""

    def find_policy(self, tenant_id: str) -> RememberedPolicy | None:
        """Answer nothing."""
        del tenant_id
        return None
