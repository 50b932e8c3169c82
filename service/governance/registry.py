"""The registry of stores: everything that holds personal text, in the order in which it is erased.

A table of the record that is neither here nor in `NO_TEXT` fails a test, and so does a column of a table here
that nobody has thought about: a new store cannot be skipped.
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final, Protocol

from service.governance.model import Kind, Target
from service.governance.stores.store_answers import ANSWERS, LINEAGE, OUTBOX, PUT_ASIDE
from service.governance.stores.store_evidence import EVIDENCE
from service.governance.stores.store_memories import MEMORIES, PROPOSALS
from service.governance.stores.store_packages import PACKAGES
from service.governance.stores.store_people import CONSENTS, NAMES
from service.governance.stores.store_runs import CHECKS, CONVERSATION, LEDGER, STATES, WORK
from service.identity.unit import Unit


class Store(Protocol):
    """One store of personal text, inside the record's transactions."""

    @property
    def name(self) -> str:
        """What receipts call it."""
        ...

    @property
    def kinds(self) -> frozenset[Kind]:
        """The targets that reach into it."""
        ...

    @property
    def tables(self) -> frozenset[str]:
        """The tables that it answers for."""
        ...

    def erase(self, target: Target, unit: Unit, limit: int) -> int:
        """Erase up to `limit` rows of what the target reaches; answer how many those were, 0 at the end."""
        ...

    def count(self, target: Target, unit: Unit) -> int:
        """Count what is left of it, by queries of their own."""
        ...


STORES: Final[Sequence[Store]] = (
    MEMORIES,
    PROPOSALS,
    EVIDENCE,
    CONVERSATION,
    STATES,
    WORK,
    CHECKS,
    LEDGER,
    PACKAGES,
    ANSWERS,
    OUTBOX,
    LINEAGE,
    PUT_ASIDE,
    CONSENTS,
    NAMES,
)

KEYS: Final = "keys"
LEDGER_OF_THE_GONE: Final = "tombstones"
INDEX: Final = "index"
"""Stores beside the record: the key store, its ledger, and the index of vectors."""

NO_TEXT: Final[Mapping[str, str]] = MappingProxyType(
    {
        "audit_events": "ids, codes and pseudonyms that die with the person's key",
        "audit_heads": "hashes",
        "erasure_items": "ids; gone when the erasure is complete",
        "erasures": "ids, keyed hashes and counts; the sealed name of a person only while it is needed",
        "idempotency_refs": "ids; gone with the answer, after a day",
        "memory_refusals": "keyed hashes: what a person refused stays refused",
        "policy_active": "versions",
        "policy_versions": "what policy authors wrote, about nobody",
        "projects": "names of projects, which an administrator gives",
        "tenants": "names of tenants, which an operator gives",
    }
)


def stores_of(kind: Kind) -> Sequence[Store]:
    """Answer the stores of the record that a target of the kind reaches into, in order."""
    return [store for store in STORES if kind in store.kinds]
