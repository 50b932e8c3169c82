"""Routes of context packages: build, explain."""

from typing import Final

from starlette.responses import Response

from service.context.assemble import build_package, keep_package
from service.context.budget import BudgetTooSmall
from service.context.explain import explain_package
from service.context.request import ProfileUnknown, PurposeUnknown, RequestInconsistent
from service.core.errors import NotFound, Unavailable
from service.core.held import ExecutionHeld
from service.core.quarantined import SourceQuarantined
from service.entry.http.edge import Derived, Edge, PathId, Reply, needs, new_router, operation
from service.entry.http.packages_shapes import (
    explained_answer,
    package_answer,
    package_request,
    shown_refs,
    shown_subjects,
    sources_of,
)
from service.identity.matrix import PACKAGES_BUILD, PACKAGES_EXPLAIN, PACKAGES_EXPLAIN_REDACTED
from service.identity.unit import Unit
from service.policies.active import active_bundle
from service.wire.packages import BuildPackage, PackageAnswer, PackageExplained

router = new_router("packages")

_EXAMPLE: Final = {
    "project": "alpha",
    "purpose": "service",
    "query": "status of plot 18",
    "encoding": "o200k_base",
    "max_tokens": 4000,
    "reply_reserve": 500,
    "profile": "default",
    "sections": {"evidence": {"max": 2000}},
    "tools": [{"name": "plots_read", "description": "Read a plot", "schema": {}, "effect": "read"}],
    "render": "markdown",
}

_ID: Final = "01936d7e-5d5c-7c3e-9d0a-6c1f0f3f7a11"
_HASH: Final = "sha256:" + "0" * 64
_EXPLAINED: Final = {
    "id": _ID,
    "digest": _HASH,
    "created_at": "2026-11-30T10:00:00Z",
    "project": "alpha",
    "execution_id": None,
    "task_id": None,
    "acting_user": "user-1",
    "built_by": "agent:agent-1:for:user-1",
    "purpose": "service",
    "profile": "default",
    "render": "markdown",
    "encoding": "o200k_base",
    "max_tokens": 4000,
    "reply_reserve": 500,
    "used_tokens": 431,
    "overhead_tokens": 25,
    "stable_prefix_tokens": 208,
    "prefix_hashes": {"stable": _HASH, "session": _HASH},
    "fence_marker": "483920174",
    "degraded": [],
    "policy_version": _HASH,
    "profile_version": _HASH,
    "versions": {"index": "edge", "embedder": "wordllama", "sparse": "bm25"},
    "sections": [
        {
            "name": "evidence",
            "segment": "volatile",
            "used_tokens": 41,
            "max_tokens": 2000,
            "items": [
                {
                    "citation": "E1",
                    "kind": "evidence",
                    "id": _ID,
                    "version": 1,
                    "tokens": 14,
                    "truncated": None,
                    "card": False,
                    "authority": "system_of_record",
                    "trust": "first_party",
                    "advisory": False,
                    "span": {"start": 0, "end": 44},
                    "sha256": _HASH,
                    "keyed_hash": None,
                    "scores": {"relevance": 1.0, "authority": 1.0, "freshness": 1.0, "score": 1.0},
                    "why": "in: ranked by score 1.00, relevance 1.00, authority 1.00, freshness 1.00",
                }
            ],
        }
    ],
    "omissions": [],
    "warnings": [],
    "summary": ["431 of 3500 tokens are used, 208 of them in the stable prefix."],
}


@router.post(
    "/context-packages",
    **operation(
        summary="Build a context package",
        answer=PackageAnswer,
        status=201,
        example=_EXAMPLE,
        problems=[
            NotFound,
            PurposeUnknown,
            ProfileUnknown,
            RequestInconsistent,
            BudgetTooSmall,
            ExecutionHeld,
            SourceQuarantined,
            Unavailable,
        ],
    ),
)
def build(body: BuildPackage, edge: Edge = needs(PACKAGES_BUILD)) -> Response:
    """Answer a package that fits `max_tokens` less `reply_reserve`, counted exactly."""
    asked = package_request(body)

    def work(unit: Unit) -> Derived:
        sources = sources_of(edge.runtime)
        built = build_package(asked, unit=unit, bundle=active_bundle(unit), sources=sources)
        package = built.package
        reply = Reply(
            package_answer(package),
            status=201,
            refs=shown_refs(package, asked.execution_id),
            subjects=shown_subjects(unit),
            project_id=unit.project(asked.project).id,
        )
        return Derived(reply, lambda keeping: keep_package(built, unit=keeping))

    return edge.derive(work)


@router.get(
    "/context-packages/{package_id}",
    **operation(
        summary="Explain a package: its manifest, each choice in words",
        answer=PackageExplained,
        example=_EXPLAINED,
    ),
)
def explain(package_id: PathId, edge: Edge = needs(PACKAGES_EXPLAIN, PACKAGES_EXPLAIN_REDACTED)) -> Response:
    """Answer everything about a package but its texts."""

    def work(unit: Unit) -> Reply:
        explanation = explain_package(package_id, unit=unit)
        return Reply(explained_answer(explanation, unit.project_of(explanation.package.project_id).name))

    return edge.read(work)
