"""The evidence bundle of one memory: where it came from, who decided, where it was used, what it became."""

from typing import Any

from service.core.errors import NotFound
from service.core.signing import Signer
from service.governance.bundle import policies_of, write_bundle
from service.governance.bundle_proof import prove
from service.governance.store_bundle import BundleStore
from service.governance.trail import only_of_the_whole_tenant
from service.identity.matrix import AUDIT_READ
from service.identity.unit import Unit


def bundle_of_memory(memory_id: str, *, unit: Unit, signer: Signer) -> str:
    """Answer the signed bundle of a memory: to auditors of any, to a person of one that is about them.

    An auditor is answered about an erased one too: its events and receipts are what is left. Raises
    `NotFound`, `BundleTooLarge`.
    """
    rows = BundleStore.of(unit)
    memory = rows.memory(memory_id, subject_hash=_only_of(unit))
    erasures = rows.erasures("memory", memory_id) if memory is not None or _is_auditor(unit) else []
    if memory is None and not erasures:
        raise NotFound
    proposals = rows.proposals(memory_id)
    policies = [row["policy_version"] for row in proposals if row["policy_version"]]
    policies += [] if memory is None else [memory["policy_version"]]
    contents: dict[str, Any] = {
        "memory": memory,
        "versions": rows.versions(memory_id),
        "proposals": proposals,
        "packages": rows.packages_showing(memory_id),
        "policies": policies_of(policies, unit),
        "erasures": erasures,
        "audit": prove(
            {
                "memory": [memory_id],
                "memory_proposal": [proposal["id"] for proposal in proposals],
                "erasure": [erasure["id"] for erasure in erasures],
            },
            unit=unit,
        ),
    }
    return write_bundle({"kind": "memory", "id": memory_id}, contents, unit=unit, signer=signer)


def _is_auditor(unit: Unit) -> bool:
    return AUDIT_READ in unit.caller.scopes


def _only_of(unit: Unit) -> str | None:
    """Answer the keyed hash of the only person whose memories the caller may ask for, `None` for any."""
    if _is_auditor(unit):
        only_of_the_whole_tenant(unit)
        return None
    if unit.caller.person is None:
        raise NotFound
    return unit.cipher.keyed_hash(unit.caller.person)
