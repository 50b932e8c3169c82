"""Between the policies' values and the shapes that leave the service."""

from collections.abc import Iterable, Mapping

from service.core.paging import Page
from service.policies.classes import Expiry, MemoryClass
from service.policies.findings import Finding
from service.policies.load import Inspection
from service.policies.model import Bundle
from service.policies.store import ActivePolicy, PolicyVersion
from service.wire.policies import (
    ClassAnswer,
    ExpiryAnswer,
    FindingAnswer,
    PolicyAnswer,
    PolicyVersionAnswer,
    PolicyVersionPage,
    ValidationAnswer,
)


def policy_answer(active: ActivePolicy | None, bundle: Bundle, files: Mapping[str, str]) -> PolicyAnswer:
    """Answer the active version, or that there is none."""
    return PolicyAnswer(
        version=active.version if active else None,
        revision=active.revision if active else 0,
        activated_at=active.activated_at if active else None,
        purposes={name: purpose.description for name, purpose in bundle.purposes.items()},
        classes=[_class_answer(memory_class) for memory_class in bundle.classes.values()],
        profiles={name: profile.description for name, profile in bundle.profiles.items()},
        retention_classes={name: kept.description for name, kept in bundle.retention.items()},
        files=dict(files),
    )


def versions_answer(page: Page[PolicyVersion], active: ActivePolicy | None) -> PolicyVersionPage:
    """Answer a page of versions."""
    return PolicyVersionPage(
        items=[
            PolicyVersionAnswer(
                version=item.version,
                created_at=item.created_at,
                active=active is not None and active.version == item.version,
            )
            for item in page.items
        ],
        next_cursor=page.next_cursor,
    )


def validation_answer(found: Inspection) -> ValidationAnswer:
    """Answer what an inspection found."""
    return ValidationAnswer(
        valid=found.bundle is not None,
        version=found.bundle.version if found.bundle else None,
        findings=finding_answers(found.findings),
    )


def finding_answers(findings: Iterable[Finding]) -> list[FindingAnswer]:
    """Answer findings with their places."""
    return [
        FindingAnswer(
            file=finding.file,
            line=finding.place.line,
            column=finding.place.column,
            path=finding.path,
            severity=finding.severity.value,
            code=finding.code,
            message=finding.message,
        )
        for finding in findings
    ]


def _class_answer(memory_class: MemoryClass) -> ClassAnswer:
    sources, shortcut = memory_class.sources, memory_class.approval.automatic_when
    return ClassAnswer(
        name=memory_class.name,
        because=memory_class.because,
        scope=memory_class.scope.value,
        refuses=memory_class.refuses,
        purposes=list(memory_class.purposes),
        lawful_basis=memory_class.lawful_basis.value if memory_class.lawful_basis else None,
        consent_needed=memory_class.consent_needed,
        writers=[role.value for role in memory_class.writers],
        readers=[role.value for role in memory_class.readers],
        correctors=[role.value for role in memory_class.correctors],
        may_inform=list(memory_class.may_inform),
        revalidate_for=[stake.value for stake in memory_class.revalidate_for],
        provenance=[kind.value for kind in sources.provenance] if sources else [],
        from_sources=list(sources.from_sources) if sources else [],
        lowest_trust=sources.lowest_trust.value if sources else None,
        confidence_min=memory_class.confidence_min,
        approval=memory_class.approval.by.value,
        automatic_confidence_min=shortcut.confidence_min if shortcut else None,
        expiry=_expiry_answer(memory_class.expiry) if memory_class.expiry else None,
        quota=memory_class.quota,
        conflict=memory_class.conflict.value,
        sensitivity=memory_class.sensitivity.value,
        destinations=[destination.value for destination in memory_class.destinations],
    )


def _expiry_answer(expiry: Expiry) -> ExpiryAnswer:
    return ExpiryAnswer(
        days=expiry.days,
        counted_from=expiry.counted_from.value,
        idle_days=expiry.idle_days,
        last_day=expiry.last_day.isoformat() if expiry.last_day else None,
    )
