"""Routes of context packages: build, explain."""

from typing import Final

from starlette.responses import Response

from service.context.assemble import build_package
from service.context.budget import BudgetTooSmall
from service.context.explain import explain_package
from service.context.request import ProfileUnknown, PurposeUnknown, RequestInconsistent
from service.core.errors import NotFound, Unavailable
from service.entry.http.edge import Edge, PathId, Reply, needs, new_router, operation
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
            Unavailable,
        ],
    ),
)
def build(body: BuildPackage, edge: Edge = needs(PACKAGES_BUILD)) -> Response:
    """Answer a package that fits `max_tokens` less `reply_reserve`, counted exactly."""
    asked = package_request(body)

    def work(unit: Unit) -> Reply:
        sources = sources_of(edge.runtime)
        package = build_package(asked, unit=unit, bundle=active_bundle(unit), sources=sources)
        return Reply(
            package_answer(package),
            status=201,
            refs=shown_refs(package),
            subjects=shown_subjects(unit),
            project_id=unit.project(asked.project).id,
        )

    return edge.create(work)


@router.get(
    "/context-packages/{package_id}",
    **operation(summary="Explain a package: its manifest, each choice in words", answer=PackageExplained),
)
def explain(package_id: PathId, edge: Edge = needs(PACKAGES_EXPLAIN, PACKAGES_EXPLAIN_REDACTED)) -> Response:
    """Answer everything about a package but its texts."""

    def work(unit: Unit) -> Reply:
        explanation = explain_package(package_id, unit=unit)
        return Reply(explained_answer(explanation, unit.project_of(explanation.package.project_id).name))

    return edge.read(work)
