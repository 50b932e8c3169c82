"""Routes of signed evidence bundles: one run, one memory."""

from typing import Any, Final

from starlette.responses import Response

from service.audit.verify import ChainBroken
from service.core.errors import Forbidden, NotFound
from service.entry.http.edge import Edge, PathId, Reply, needs, new_router, operation
from service.governance.bundle_memory import bundle_of_memory
from service.governance.bundle_proof import BundleTooLarge
from service.governance.bundle_run import bundle_of_run
from service.identity.matrix import AUDIT_READ, MEMORIES_OWN
from service.identity.unit import Unit
from service.policies.active import active_bundle
from service.wire.bundles import BundleAnswer

router = new_router("bundles")

_ID: Final = "01936d7e-5d5c-7c3e-9d0a-6c1f0f3f7a11"
_HASH: Final = "sha256:" + "0" * 64


def _example(kind: str) -> dict[str, Any]:
    return {
        "format": "muniment-bundle/1",
        "about": {"kind": kind, "id": _ID},
        "tenant_id": _ID,
        "made_at": "2026-11-30T10:00:00Z",
        "manifest": [{"name": "audit", "sha256": _HASH}],
        "contents": {
            "audit": {
                "events": [],
                "segment": None,
                "head": {"sequence": 42, "hash": _HASH},
                "names": {},
            }
        },
        "signature": {
            "algorithm": "Ed25519",
            "key_id": "ed25519:" + "0" * 32,
            "public_key": "A" * 43 + "=",
            "value": "A" * 86 + "==",
        },
    }


@router.get(
    "/executions/{execution_id}/bundle",
    **operation(
        summary="Take the signed evidence of a run",
        answer=BundleAnswer,
        example=_example("execution"),
        problems=[NotFound, BundleTooLarge, ChainBroken],
    ),
)
def run_bundle(execution_id: PathId, edge: Edge = needs(AUDIT_READ)) -> Response:
    """Answer approvals, effects, checks, packages, policies and the trail of a run, without its texts."""

    def work(unit: Unit) -> Reply:
        signer = edge.runtime.witness.signer
        return Reply(bundle_of_run(execution_id, unit=unit, bundle=active_bundle(unit), signer=signer))

    return edge.read(work)


@router.get(
    "/memories/{memory_id}/bundle",
    **operation(
        summary="Take the signed evidence of a memory",
        answer=BundleAnswer,
        example=_example("memory"),
        problems=[NotFound, Forbidden, BundleTooLarge, ChainBroken],
    ),
)
def memory_bundle(memory_id: PathId, edge: Edge = needs(AUDIT_READ, MEMORIES_OWN)) -> Response:
    """Answer where a memory came from, who decided, where it was used, and its trail, without its words."""
    signer = edge.runtime.witness.signer
    return edge.read(lambda unit: Reply(bundle_of_memory(memory_id, unit=unit, signer=signer)))
