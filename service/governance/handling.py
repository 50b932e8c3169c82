"""Why each table is kept and on what basis: what no schema says. A test fails for a missing table."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from service.policies.words import LawfulBasis

BY_CLASS: Final = "by class"
"""What the memory class says: `GET /records-of-processing` tells for each."""
NOT_PERSONAL: Final = "not personal data"


@dataclass(frozen=True, slots=True)
class Handling:
    """The purpose of a table, and the basis of the law on which it is kept (GDPR, article 6)."""

    purpose: str
    lawful_basis: str


WORK: Final = Handling("Doing the work that was asked for, and going on with it", LawfulBasis.CONTRACT)
REMEMBERED: Final = Handling(BY_CLASS, BY_CLASS)
SHOWN: Final = Handling("Showing what a statement rests on", LawfulBasis.LEGITIMATE_INTEREST)
EXPLAINED: Final = Handling("Explaining what a model was shown", LawfulBasis.LEGITIMATE_INTEREST)
CONSENTED: Final = Handling(
    "Showing what was consented to, withdrawn and refused", LawfulBasis.LEGAL_OBLIGATION
)
RIGHTS: Final = Handling(
    "Carrying out and showing erasure, holds and quarantine", LawfulBasis.LEGAL_OBLIGATION
)
TRAIL: Final = Handling("Showing who did what", LawfulBasis.LEGAL_OBLIGATION)
ACCESS: Final = Handling("Knowing who asks and what they may do", LawfulBasis.CONTRACT)
ONCE: Final = Handling("Answering a repeated request as the first time", LawfulBasis.CONTRACT)
DELIVERY: Final = Handling(
    "Bringing the index and other systems in line with the record", LawfulBasis.CONTRACT
)
POLICY: Final = Handling("Deciding by written rules", NOT_PERSONAL)
SECRECY: Final = Handling("Keeping text unreadable to all but the service", LawfulBasis.LEGAL_OBLIGATION)
FINDING: Final = Handling("Finding passages by their meaning", BY_CLASS)
RECOVERY: Final = Handling("Bringing the service back after a loss", LawfulBasis.LEGITIMATE_INTEREST)
OPERATION: Final = Handling("Running the service and finding faults", LawfulBasis.LEGITIMATE_INTEREST)

OF_TABLE: Final[Mapping[str, Handling]] = MappingProxyType(
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
            WORK,
        ),
        **dict.fromkeys(("memories", "memory_versions", "memory_proposals"), REMEMBERED),
        **dict.fromkeys(
            (
                "evidence",
                "evidence_chunks",
                "evidence_lineage",
                "evidence_readers",
                "evidence_subjects",
                "evidence_versions",
            ),
            SHOWN,
        ),
        **dict.fromkeys(("packages", "package_items"), EXPLAINED),
        **dict.fromkeys(("consents", "consent_acts", "memory_refusals"), CONSENTED),
        **dict.fromkeys(
            ("derivations", "erasures", "erasure_items", "holds", "quarantines", "quarantine_items"), RIGHTS
        ),
        **dict.fromkeys(("audit_events", "audit_heads"), TRAIL),
        **dict.fromkeys(("api_keys", "members", "projects", "tenants"), ACCESS),
        **dict.fromkeys(("idempotency", "idempotency_refs"), ONCE),
        "outbox": DELIVERY,
        **dict.fromkeys(
            ("policy_activations", "policy_active", "policy_plans", "policy_shadows", "policy_versions"),
            POLICY,
        ),
    }
)
"""Each table of the record."""
