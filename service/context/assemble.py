"""Builds a context package: looks up, collects, merges, composes; and keeps its manifest."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

from service.audit.model import Action
from service.audit.record import record
from service.context.compose import Composition, compose
from service.context.kept_request import request_to_json
from service.context.manifest import digest_of, manifest_of
from service.context.merge import merge_duplicates
from service.context.model import Candidate, Omission, Package, Rendering, TokenEstimate
from service.context.offers import TOKENS_MAX
from service.context.plan import plan_sections
from service.context.request import PackageRequest, RequestInconsistent
from service.context.situation import Situation, look_up
from service.context.sources import evidence as evidence_source
from service.context.sources import goal, history, instructions, limits, observations, scope, state, tools
from service.context.sources import memories as memories_source
from service.context.store import ItemKey, KeptPackage, PackageStore
from service.core.errors import Unavailable
from service.core.quarantined import Quarantined, SourceQuarantined
from service.core.tokens import ESTIMATE_ENCODING, TokenCounter
from service.executions.keep import keeps_text
from service.identity.unit import Unit
from service.memories.use import note_use
from service.policies.model import Bundle
from service.policies.words import SectionName
from service.retrieval.search import Retriever

_API_TOOL_NAME: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")
"""What both model providers accept as a tool's name."""
_KEPT_KINDS: Final = frozenset({"evidence", "memory", "observation", "turn", "summary", "pin"})
"""Items whose uses can be asked for, and that an erasure must find."""


@dataclass(frozen=True, slots=True)
class Sources:
    """Where packages find things. `versions` name index and models, for the manifest."""

    retriever: Retriever
    versions: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Built:
    """A package, and what is to be kept of it: `keep_package` does."""

    package: Package
    kept: KeptPackage
    request: str
    items: frozenset[ItemKey]


def build_package(
    asked: PackageRequest,
    *,
    unit: Unit,
    bundle: Bundle,
    sources: Sources,
    again: KeptPackage | None = None,
) -> Built:
    """Build a package out of what one transaction sees, policy included. Only reads.

    `again` is one whose id, fence and moment of ranking it takes over, to be compared with it.

    Raises `NotFound`, `PurposeUnknown`, `ProfileUnknown`, `RequestInconsistent`, `BudgetTooSmall`, `Invalid`
    for an encoding or model that cannot be counted exactly, and `Unavailable` where search is down and the
    profile does not allow a package without it.
    """
    encoding = _encoding(asked, unit)
    situation = look_up(asked, unit=unit, bundle=bundle)
    if again is not None:
        situation = replace(situation, ranked_at=again.created_at)
    candidates, degraded = _collect(situation, sources)
    package_id = unit.ids() if again is None else again.id
    composed = compose(
        plan_sections(asked, situation.profile, candidates),
        budget=asked.budget,
        rendering=asked.rendering,
        count=partial(unit.tokens.count, encoding=encoding),
        digest=_marker_digest(asked, package_id, unit),
    )
    package = _package(package_id, composed, situation, encoding, degraded)
    return _built(package, asked, situation, sources)


def keep_package(built: Built, *, unit: Unit) -> None:
    """Keep a package's manifest and record that it was built, perhaps in a later transaction.

    What it shows of memory has been used, and so stays longer where its class ends what lies idle. Raises
    `SourceQuarantined` where something that it shows was put aside while it was built: it is asked for again.
    """
    _refuse_put_aside(built, unit)
    PackageStore.of(unit).add(built.kept, built.request, built.items, person=unit.caller.person)
    note_use({item.id: item.version for item in built.items if item.kind == "memory"}, unit=unit)
    record(
        unit,
        Action.PACKAGE_BUILT,
        kind="package",
        ref=built.package.id,
        execution_id=built.kept.execution_id,
        digest=built.package.digest,
        policy_version=built.package.policy_version,
    )


def _refuse_put_aside(built: Built, unit: Unit) -> None:
    quarantined = Quarantined(unit.session, unit.tenant_id)
    quarantined.share()
    for kind in {item.kind for item in built.items}:
        if quarantined.among(kind, {item.id for item in built.items if item.kind == kind}):
            raise SourceQuarantined("Something in it was put under quarantine meanwhile: ask again.")


def kept_items(package: Package) -> frozenset[ItemKey]:
    """Answer the items whose uses can be asked for, and that an erasure must find."""
    shown = [
        item.candidate
        for section in package.sections
        for item in section.items
        if item.candidate.kind in _KEPT_KINDS
    ]
    turns = {turn_id for candidate in shown for turn_id in candidate.also}
    return frozenset(
        [ItemKey(candidate.kind, candidate.id, candidate.version) for candidate in shown]
        + [ItemKey("turn", turn_id, 1) for turn_id in turns]
    )


def _encoding(asked: PackageRequest, unit: Unit) -> str:
    named = unit.tokens.encoding_for_model(asked.model) if asked.model is not None else None
    encoding = asked.encoding or named or ESTIMATE_ENCODING
    unit.tokens.count("", encoding)
    if named is not None and named != encoding:
        raise RequestInconsistent("The model uses another encoding.", pointer="/encoding")
    return encoding


def _collect(
    situation: Situation, sources: Sources
) -> tuple[Mapping[SectionName, Sequence[Candidate]], tuple[str, ...]]:
    """Answer each section's candidates, and the sections that search being down left without any."""
    degraded: list[str] = []

    def searched(name: SectionName, collect: Callable[[], Sequence[Candidate]]) -> Sequence[Candidate]:
        try:
            return collect()
        except Unavailable:
            if not situation.profile.degraded_allowed:
                raise
            degraded.append(name.value)
            return []

    found = {
        SectionName.INSTRUCTIONS: instructions.collect(situation),
        SectionName.TOOLS: tools.collect(situation),
        SectionName.SCOPE: scope.collect(situation),
        SectionName.GOAL: goal.collect(situation),
        SectionName.HISTORY: history.collect(situation, sources.retriever),
        SectionName.OBSERVATIONS: observations.collect(situation),
        SectionName.STATE: state.collect(situation),
        SectionName.LIMITS: limits.collect(situation),
        SectionName.EVIDENCE: searched(
            SectionName.EVIDENCE, lambda: evidence_source.collect(situation, sources.retriever)
        ),
        SectionName.MEMORIES: searched(
            SectionName.MEMORIES, lambda: memories_source.collect(situation, sources.retriever)
        ),
    }
    return merge_duplicates(found), tuple(degraded)


def _marker_digest(asked: PackageRequest, package_id: str, unit: Unit) -> Callable[[int], str]:
    # Keyed with the tenant's key: nobody outside can tell the marker, and nothing needs to be kept for an
    # execution's packages to share it. A package without one shares nothing that a marker stands in.
    owner = f"execution/{asked.execution_id}" if asked.execution_id else f"package/{package_id}"
    return lambda attempt: unit.cipher.keyed_hash(f"fence/{owner}/{attempt}")


def _package(
    package_id: str, composed: Composition, situation: Situation, encoding: str, degraded: tuple[str, ...]
) -> Package:
    package = Package(
        id=package_id,
        digest="",
        encoding=encoding,
        max_tokens=situation.asked.max_tokens,
        used_tokens=composed.used_tokens,
        overhead_tokens=composed.overhead_tokens,
        stable_prefix_tokens=composed.stable_prefix_tokens,
        prefix_hashes=composed.prefix_hashes,
        degraded=degraded,
        policy_version=situation.bundle.version,
        profile_version=situation.bundle.version_of_profile(situation.profile),
        fence_marker=composed.marker,
        sections=composed.sections,
        omissions=tuple(_with_reserve(omission, situation.asked) for omission in composed.omissions),
        rendered=composed.rendered,
        warnings=_warnings(situation),
        estimate=_estimate(composed, encoding, situation.unit.tokens),
    )
    return replace(package, digest=digest_of(package))


def _estimate(composed: Composition, encoding: str, tokens: TokenCounter) -> TokenEstimate | None:
    estimate = tokens.estimate_of(encoding)
    if estimate is None or estimate.base is None:
        return None if estimate is None else TokenEstimate(estimate.method, None)
    base = sum(tokens.count(section.text, estimate.base) for section in composed.sections)
    used = sum(section.used_tokens for section in composed.sections)
    return TokenEstimate(estimate.method, round(100 * (used - base) / base) if base else 0)


def _with_reserve(omission: Omission, asked: PackageRequest) -> Omission:
    # Composing knows the budget; who asked thinks in `max_tokens`, which the reply's reserve is part of.
    fit = omission.would_fit_with
    total = None if fit is None else fit + asked.reply_reserve
    return replace(omission, would_fit_with=total if total is not None and total <= TOKENS_MAX else None)


def _warnings(situation: Situation) -> tuple[str, ...]:
    asked = situation.asked
    warnings = []
    if not situation.query.strip():
        warnings.append("query_empty: nothing was asked, so evidence and memories were not searched")
    if asked.rendering is not Rendering.MARKDOWN and not all(
        _API_TOOL_NAME.fullmatch(tool.name) for tool in asked.tools
    ):
        warnings.append("tool_name: the API accepts only letters, digits, _ and - in a tool's name")
    return tuple(warnings)


def _built(package: Package, asked: PackageRequest, situation: Situation, sources: Sources) -> Built:
    unit = situation.unit
    kept = KeptPackage(
        id=package.id,
        project_id=situation.project.id,
        execution_id=asked.execution_id,
        acting_user=unit.caller.sub,
        built_by=unit.caller.principal,
        purpose=asked.purpose,
        digest=package.digest,
        manifest=manifest_of(package, asked, sources.versions, unit.cipher.keyed_hash),
        created_at=unit.now,
    )
    run = situation.run
    keep = run is None or keeps_text(run.facts.execution, situation.bundle)
    return Built(package, kept, request_to_json(asked) if keep else "", kept_items(package))
