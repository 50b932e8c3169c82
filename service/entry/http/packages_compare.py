"""Routes that hold packages against each other: build one again, and tell two apart."""

from typing import Any, Final

from starlette.responses import Response

from service.context.compare import Difference, compare_manifests
from service.context.explain import Explanation, explain_package
from service.context.replay import NotYourPackage, Replayed, replay_package
from service.core.errors import NotFound, Unavailable
from service.core.held import ExecutionHeld
from service.entry.http.edge import Edge, PathId, Reply, needs, new_router, operation
from service.entry.http.packages_shapes import sources_of
from service.identity.matrix import PACKAGES_BUILD, PACKAGES_EXPLAIN, PACKAGES_EXPLAIN_REDACTED
from service.identity.unit import Unit
from service.policies.active import active_bundle
from service.wire.packages_compare import (
    ItemDifference,
    PackageDiff,
    ReplayAnswer,
    ReplayDifference,
    SectionTokens,
    SettingDifference,
)

router = new_router("packages")

_ID: Final = "0197a000-0000-7000-8000-000000000001"
_OTHER: Final = "0197a000-0000-7000-8000-000000000002"
_SHOWN: Final = ("version", "tokens", "truncated", "card", "sha256", "keyed_hash", "scores", "reason", "why")
_REPLAYED: Final = {
    "identical": False,
    "digest": "sha256:" + "0" * 64,
    "differences": [{"ref": f"memory:{_ID}", "cause": "erasure", "change": "removed"}],
}
_DIFF: Final = {
    "before": _ID,
    "after": _OTHER,
    "identical": False,
    "same_stable_prefix": True,
    "same_session_prefix": True,
    "settings": [{"name": "max_tokens", "before": 4000, "after": 2000}],
    "sections": [{"name": "evidence", "before": 800, "after": 400}],
    "items": [
        {
            "section": "evidence",
            "kind": "evidence",
            "id": _ID,
            "change": "removed",
            "before": {"version": 1, "tokens": 400},
            "after": {"version": 1, "tokens": 400, "reason": "over_budget"},
        }
    ],
}


@router.post(
    "/context-packages/{package_id}/replay",
    **operation(
        summary="Build a package again, and say what differs and why",
        answer=ReplayAnswer,
        example=_REPLAYED,
        problems=[NotFound, NotYourPackage, ExecutionHeld, Unavailable],
    ),
)
def replay(package_id: PathId, edge: Edge = needs(PACKAGES_BUILD)) -> Response:
    """Answer whether the package comes out byte for byte again. Nothing is kept, and no text is shown."""

    def work(unit: Unit) -> Reply:
        replayed = replay_package(
            package_id, unit=unit, bundle=active_bundle(unit), sources=sources_of(edge.runtime)
        )
        return Reply(_replay_answer(replayed))

    return edge.read(work)


@router.get(
    "/context-packages/{package_id}/diff/{other_id}",
    **operation(summary="Tell two packages apart, without their texts", answer=PackageDiff, example=_DIFF),
)
def diff(
    package_id: PathId,
    other_id: PathId,
    edge: Edge = needs(PACKAGES_EXPLAIN, PACKAGES_EXPLAIN_REDACTED),
) -> Response:
    """Answer how the second package differs from the first: settings, tokens, items and what was left out.

    Each is seen as far as the caller may see it by itself.
    """

    def work(unit: Unit) -> Reply:
        first, second = (explain_package(one, unit=unit) for one in (package_id, other_id))
        return Reply(_diff_answer(first, second))

    return edge.read(work)


def _replay_answer(replayed: Replayed) -> ReplayAnswer:
    return ReplayAnswer(
        identical=replayed.identical,
        digest=replayed.digest,
        differences=[
            ReplayDifference(ref=one.ref, cause=one.cause.value, change=one.change)
            for one in replayed.differences
        ],
    )


def _diff_answer(first: Explanation, second: Explanation) -> PackageDiff:
    found = compare_manifests(first.manifest, second.manifest)
    return PackageDiff(
        before=first.package.id,
        after=second.package.id,
        identical=first.package.digest == second.package.digest,
        same_stable_prefix=found.same_stable_prefix,
        same_session_prefix=found.same_session_prefix,
        settings=[
            SettingDifference(name=name, before=before, after=after)
            for name, (before, after) in found.settings.items()
        ],
        sections=[
            SectionTokens(name=name, before=before, after=after)
            for name, (before, after) in found.tokens.items()
            if before != after
        ],
        items=[_item_answer(one) for one in found.items],
    )


def _item_answer(one: Difference) -> ItemDifference:
    return ItemDifference(
        section=one.section,
        kind=one.kind,
        id=one.id,
        change=one.change.value,
        before=_shown(one.before),
        after=_shown(one.after),
    )


def _shown(said: Any) -> dict[str, Any] | None:  # noqa: ANN401 - a part of a manifest
    return None if said is None else {name: said[name] for name in _SHOWN if said.get(name) is not None}
