"""How long each table keeps what it holds: one list, for the sweep and for the data map."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import Final

from service.core.idempotency import KEPT_FOR
from service.policies.model import Bundle

PACKAGE_CLASS: Final = "operational"
"""The retention class that packages without a run follow."""
RECEIPT_DAYS: Final = 1_095
"""Three years: as long as most claims can still be raised, a receipt must show what was done."""
DENIED_DAYS: Final = 365


@dataclass(frozen=True, slots=True)
class RetentionClass:
    """One way of keeping. `days` counts from what `until` names; `None` where no count of days ends it."""

    name: str
    until: str
    """The rest of the sentence "it is kept ..."."""
    days: int | None = None


RUN: Final = RetentionClass(
    "run", "for the days after the run's end that the run's retention class gives; a line without words stays"
)
MEMORY: Final = RetentionClass("memory_class", "until it expires, as its memory class says, or is deleted")
PROPOSAL: Final = RetentionClass(
    "proposal", "as long as what became of it; a denied one, which holds no words, for a year", DENIED_DAYS
)
EVIDENCE: Final = RetentionClass(
    "evidence", "until whoever added it or a person whom it is about deletes it; a run's own, with the run"
)
PACKAGE: Final = RetentionClass(
    "package",
    f"with its run; without one, as the retention class `{PACKAGE_CLASS}` says. The manifest, which holds"
    " ids and hashes, stays",
)
ANSWER: Final = RetentionClass("answer", "for 24 hours", KEPT_FOR.days)
MESSAGE: Final = RetentionClass("message", "until it is delivered; what cannot be, until an operator looks")
CONSENT: Final = RetentionClass("consent", "as long as the tenant: the law asks for proof of consent")
RECEIPT: Final = RetentionClass("receipt", "for three years after it ended", RECEIPT_DAYS)
WORKING: Final = RetentionClass("working", "until the work that needs it is done")
LINEAGE: Final = RetentionClass("lineage", "as long as what was made")
TRAIL: Final = RetentionClass("trail", "as long as the tenant: nothing is ever taken out of the chain")
ACCOUNT: Final = RetentionClass("account", "until an administrator ends it or the account is closed")
POLICY: Final = RetentionClass("policy", "as long as the tenant: every decision names its version")
KEY: Final = RetentionClass("key", "until the person is erased; a destroyed key leaves its number")
LEDGER: Final = RetentionClass("ledger", "as long as the tenant: what is gone must not come back from a copy")
BACKUP: Final = RetentionClass("backup", "until the backup expires, as it says itself")
INDEX: Final = RetentionClass("index", "as long as the passage that it finds")
LOG: Final = RetentionClass("log", "as long as the operator keeps the process's standard error")

OF_TABLE: Final[Mapping[str, RetentionClass]] = MappingProxyType(
    {
        **dict.fromkeys(
            (
                "approvals",
                "candidates",
                "check_requests",
                "checkpoints",
                "checks",
                "effects",
                "executions",
                "interventions",
                "leases",
                "observations",
                "pins",
                "steps",
                "summaries",
                "tasks",
                "turns",
            ),
            RUN,
        ),
        **dict.fromkeys(("memories", "memory_versions"), MEMORY),
        "memory_proposals": PROPOSAL,
        **dict.fromkeys(
            (
                "evidence",
                "evidence_chunks",
                "evidence_lineage",
                "evidence_readers",
                "evidence_subjects",
                "evidence_versions",
            ),
            EVIDENCE,
        ),
        **dict.fromkeys(("packages", "package_items"), PACKAGE),
        **dict.fromkeys(("idempotency", "idempotency_refs"), ANSWER),
        "outbox": MESSAGE,
        **dict.fromkeys(("consents", "consent_acts", "memory_refusals"), CONSENT),
        **dict.fromkeys(("erasures", "holds"), RECEIPT),
        **dict.fromkeys(("erasure_items", "quarantine_items"), WORKING),
        "derivations": LINEAGE,
        **dict.fromkeys(("audit_events", "audit_heads", "quarantines"), TRAIL),
        **dict.fromkeys(("api_keys", "members", "projects", "tenants"), ACCOUNT),
        **dict.fromkeys(
            ("policy_activations", "policy_active", "policy_plans", "policy_shadows", "policy_versions"),
            POLICY,
        ),
    }
)
"""Each table of the record. A test fails for one that is missing."""


def days_of(retention_class: str, bundle: Bundle) -> int | None:
    """Answer the days after its end that a run's content is kept, `None` where the policy does not say.

    Then nothing goes by itself: a class that was renamed or lost by mistake must not destroy what cannot be
    brought back.
    """
    found = bundle.retention.get(retention_class)
    return None if found is None else found.days


def cutoffs(bundle: Bundle, now: datetime) -> Mapping[str, datetime]:
    """Answer, for each retention class of the policy, the time before which a run must have ended to go."""
    return {name: now - timedelta(days=rule.days) for name, rule in bundle.retention.items()}
