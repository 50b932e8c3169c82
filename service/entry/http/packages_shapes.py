"""Context packages between their shapes on the wire and their values inside."""

from service.context.assemble import Sources, kept_items
from service.context.explain import Explanation
from service.context.model import Item, Merged, Omission, Package, Rendering, Section, Source, Tool
from service.context.request import PackageRequest, SectionLimits
from service.identity.unit import Unit
from service.memories.valid import Moment
from service.policies.words import SectionName
from service.wire.packages import (
    BuildPackage,
    ExplainedItem,
    ExplainedOmission,
    ExplainedSection,
    ItemSource,
    MergedItem,
    PackageAnswer,
    PackageExplained,
    PackageItem,
    PackageOmission,
    PackageSection,
    PrefixHashes,
    SpanOfItem,
    TokenEstimateAnswer,
    Truncated,
)
from service.wiring import Runtime


def package_request(body: BuildPackage) -> PackageRequest:
    """Answer what was sent as a request of values."""
    return PackageRequest(
        project=body.project,
        purpose=body.purpose,
        max_tokens=body.max_tokens,
        reply_reserve=body.reply_reserve,
        execution_id=body.execution_id,
        task_id=body.task_id,
        query=body.query,
        encoding=body.encoding,
        model=body.model,
        profile=body.profile,
        sections={
            SectionName(name): SectionLimits(minimum=override.min, maximum=override.max)
            for name, override in body.sections.items()
        },
        tools=tuple(
            Tool(tool.name, tool.description, tool.parameters, writes=tool.effect == "write")
            for tool in body.tools
        ),
        rendering=Rendering(body.render),
        moment=Moment(body.as_of, body.known_at),
    )


def sources_of(runtime: Runtime) -> Sources:
    """Answer where packages find things in this process, and in this unit of work."""
    reranker = runtime.retriever.reranker
    return Sources(
        retriever=runtime.retriever,
        versions={
            "index": runtime.index.name,
            "embedder": runtime.embedder.name,
            "sparse": runtime.sparse.name,
            "ranking": "fused" if reranker is None else reranker.name,
        },
    )


def package_answer(package: Package) -> PackageAnswer:
    """Answer a package as it is sent."""
    return PackageAnswer(
        id=package.id,
        digest=package.digest,
        encoding=package.encoding,
        max_tokens=package.max_tokens,
        used_tokens=package.used_tokens,
        overhead_tokens=package.overhead_tokens,
        stable_prefix_tokens=package.stable_prefix_tokens,
        prefix_hashes=PrefixHashes(**package.prefix_hashes),
        fence_marker=package.fence_marker,
        degraded=list(package.degraded),
        policy_version=package.policy_version,
        profile_version=package.profile_version,
        tokens_are="exact" if package.estimate is None else "estimate",
        token_estimate=None
        if package.estimate is None
        else TokenEstimateAnswer(
            method=package.estimate.method, margin_percent=package.estimate.margin_percent
        ),
        sections=[_section(section) for section in package.sections],
        omissions=[_omission(omission) for omission in package.omissions],
        rendered=dict(package.rendered),
        warnings=list(package.warnings),
    )


def shown_refs(package: Package, execution_id: str | None) -> tuple[str, ...]:
    """Answer the ids of everything whose text the package holds, its run among them."""
    run = set() if execution_id is None else {execution_id}
    return tuple(sorted(run | {item.id for item in kept_items(package)}))


def shown_subjects(unit: Unit) -> tuple[str, ...]:
    """Answer the persons whom a package built for this caller is about."""
    return (unit.caller.person,) if unit.caller.person is not None else ()


def explained_answer(explanation: Explanation, project: str) -> PackageExplained:
    """Answer a manifest in words."""
    package, manifest = explanation.package, explanation.manifest
    plain = {
        name: manifest[name]
        for name in PackageExplained.model_fields
        if name in manifest and name not in ("sections", "omissions", "prefix_hashes", "purpose")
    }
    return PackageExplained(
        **plain,
        id=package.id,
        digest=package.digest,
        created_at=package.created_at,
        project=project,
        execution_id=package.execution_id,
        acting_user=package.acting_user,
        built_by=package.built_by,
        purpose=package.purpose,
        quarantined=package.quarantined,
        prefix_hashes=PrefixHashes(**manifest["prefix_hashes"]),
        sections=[
            ExplainedSection(
                name=section["name"],
                segment=section["segment"],
                used_tokens=section["used_tokens"],
                max_tokens=section["max_tokens"],
                value=section.get("value"),
                lost_value_at_most=section.get("lost_value_at_most"),
                items=[
                    ExplainedItem(
                        **{
                            **item,
                            "citation": item["citation"] or None,
                            "span": _span(item["span"]),
                        }
                    )
                    for item in section["items"]
                ],
            )
            for section in manifest["sections"]
        ],
        omissions=[ExplainedOmission(**omission) for omission in manifest["omissions"]],
        summary=list(explanation.summary),
    )


def _section(section: Section) -> PackageSection:
    return PackageSection(
        name=section.name.value,
        segment=section.segment.value,
        used_tokens=section.used_tokens,
        max_tokens=section.max_tokens,
        value=None if section.worth is None else section.worth.value,
        lost_value_at_most=None if section.worth is None else section.worth.lost_at_most,
        text=section.text,
        items=[_item(item) for item in section.items],
    )


def _item(item: Item) -> PackageItem:
    candidate, cut = item.candidate, item.truncated
    return PackageItem(
        citation=item.citation or None,
        kind=candidate.kind,
        id=candidate.id,
        version=candidate.version,
        tokens=item.tokens,
        text=item.text,
        truncated=Truncated(kept=cut.kept, of=cut.of) if cut is not None else None,
        card=item.card,
        authority=candidate.authority,
        trust=candidate.trust,
        advisory=candidate.advisory,
        source=_source(candidate.source),
        span=_span(item.span),
        sha256=candidate.sha256,
        flags=list(candidate.flags),
        merged=[_merged(one) for one in candidate.merged],
        scores=dict(candidate.scores),
    )


def _merged(one: Merged) -> MergedItem:
    return MergedItem(
        kind=one.kind,
        id=one.id,
        version=one.version,
        source=_source(one.source),
        span=_span(one.span),
        sha256=one.sha256,
    )


def _source(source: Source | None) -> ItemSource | None:
    if source is None:
        return None
    return ItemSource(
        uri=source.uri,
        kind=source.kind,
        source_version=source.source_version,
        observed_at=source.observed_at,
    )


def _span(span: tuple[int, int] | list[int] | None) -> SpanOfItem | None:
    return SpanOfItem(start=span[0], end=span[1]) if span is not None else None


def _omission(omission: Omission) -> PackageOmission:
    return PackageOmission(
        kind=omission.kind,
        id=omission.id,
        version=omission.version,
        section=omission.section.value,
        reason=omission.reason.value,
        tokens=omission.tokens,
        would_fit_with=omission.would_fit_with,
        scores=dict(omission.scores),
    )
