"""The registry of stores: everything that holds personal text, in the order in which it is erased.

A table of the record that is neither here nor in `NO_TEXT` fails a test, and so does a column of a table here
that nobody has thought about: a new store cannot be skipped.
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final, Protocol

from service.governance.model import Kind, Target
from service.governance.stores.store_answers import ANSWERS, HOLDS, LINEAGE, OUTBOX, PUT_ASIDE
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
    HOLDS,
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
        "policy_activations": "versions, and the keyed hashes of who activated them",
        "policy_plans": "counts, ids and codes, and the keyed hash of who made it",
        "policy_shadows": "versions, and the keyed hash of who began it",
        "policy_versions": "what policy authors wrote, about nobody",
        "projects": "names of projects, which an administrator gives",
        "tenants": "names of tenants, which an operator gives",
    }
)

_NAMED_BY_PROGRAMS: Final = "a short name from a program or policy: it says what was done, not to whom"
_WORD_OF_OURS: Final = "one of our own words"

PLAIN: Final[Mapping[str, str]] = MappingProxyType(
    {
        "api_keys.role": _WORD_OF_OURS,
        "api_keys.secret_hash": "SHA-256 of a random secret",
        "api_keys.sources": _NAMED_BY_PROGRAMS,
        "approvals.approver_role": _WORD_OF_OURS,
        "approvals.decider_role": _WORD_OF_OURS,
        "approvals.kind": _NAMED_BY_PROGRAMS,
        "approvals.moved": _WORD_OF_OURS,
        "approvals.operation_id": _NAMED_BY_PROGRAMS,
        "approvals.policy_version": "a version",
        "approvals.status": _WORD_OF_OURS,
        "candidates.artifact_hash": "of an artifact",
        "checkpoints.status": _WORD_OF_OURS,
        "checkpoints.transition": _WORD_OF_OURS,
        "checks.artifact_hash": "of an artifact",
        "checks.failure_kind": _WORD_OF_OURS,
        "checks.grader_version": "a version",
        "checks.requirement": _NAMED_BY_PROGRAMS,
        "consent_acts.purpose": "a purpose of the policy",
        "consent_acts.text_version": "the version of what a person was shown, hashed once they are erased",
        "effects.connector": "a connector of the settings",
        "effects.failure": _WORD_OF_OURS,
        "effects.kind": _NAMED_BY_PROGRAMS,
        "effects.operation_id": _NAMED_BY_PROGRAMS,
        "effects.request_hash": "a keyed hash",
        "effects.settled_basis": _WORD_OF_OURS,
        "effects.status": _WORD_OF_OURS,
        "executions.contract_origin": _WORD_OF_OURS,
        "executions.ended_reason": _WORD_OF_OURS,
        "executions.memory_mode": _WORD_OF_OURS,
        "executions.requirement_ids": _NAMED_BY_PROGRAMS,
        "executions.retention_class": "a class of the policy",
        "executions.status": _WORD_OF_OURS,
        "idempotency.key_hash": "a keyed hash",
        "idempotency.request_hash": "a keyed hash",
        "interventions.action": _WORD_OF_OURS,
        "interventions.operation_id": _NAMED_BY_PROGRAMS,
        "quarantines.affected": "counts",
        "quarantines.reason": "about a source; sealed under the tenant's key",
        "quarantines.source_kind": _WORD_OF_OURS,
    }
)
"""Columns that an erasure leaves in rows that stay, and why. Ids of ours need no reason."""


def stores_of(kind: Kind) -> Sequence[Store]:
    """Answer the stores of the record that a target of the kind reaches into, in order."""
    return [store for store in STORES if kind in store.kinds]
