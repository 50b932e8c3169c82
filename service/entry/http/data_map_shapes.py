"""Between the data map's values and the shapes that leave the service."""

from collections.abc import Mapping

from service.governance.data_map import MappedField
from service.governance.records_of_processing import MemoryProcessing, RecordsOfProcessing, RunProcessing
from service.wire.data_map import (
    MappedFieldAnswer,
    MemoryProcessingAnswer,
    PurposeAnswer,
    RecordsOfProcessingAnswer,
    RunProcessingAnswer,
)


def field_answer(field: MappedField) -> MappedFieldAnswer:
    """Answer one field of one store."""
    return MappedFieldAnswer(
        store=field.store.value,
        table=field.table,
        field=field.field,
        what=field.described.what,
        personal=field.described.personal.value,
        purpose=field.handling.purpose,
        lawful_basis=field.handling.lawful_basis,
        retention_class=field.retention.name,
        kept=field.retention.until,
        sealed_under=field.described.sealed_under.value,
        erased_by=list(field.erased_by),
    )


def processing_answer(records: RecordsOfProcessing, policy_version: str | None) -> RecordsOfProcessingAnswer:
    """Answer the record of processing activities under a policy version; `None` where none is active."""
    return RecordsOfProcessingAnswer(
        policy_version=policy_version,
        memory_classes=[_memory(one) for one in records.memories],
        retention_classes=[_run(one) for one in records.runs],
        security_measures=list(records.measures),
    )


def _memory(one: MemoryProcessing) -> MemoryProcessingAnswer:
    rule = one.rule
    return MemoryProcessingAnswer(
        name=rule.name,
        because=rule.because,
        purposes=_purposes(one.purposes),
        lawful_basis=rule.lawful_basis.value if rule.lawful_basis else None,
        consent_needed=rule.consent_needed,
        subjects=list(one.subjects),
        data=list(one.data),
        sensitivity=rule.sensitivity.value,
        recipients=list(one.recipients),
        destinations=[destination.value for destination in rule.destinations],
        models=list(rule.models),
        sources=list(rule.sources.from_sources) if rule.sources else [],
        retention=one.retention,
        approval=one.approval,
        refuses=rule.refuses,
    )


def _run(one: RunProcessing) -> RunProcessingAnswer:
    return RunProcessingAnswer(
        name=one.name,
        purposes=_purposes(one.purposes),
        lawful_basis=one.lawful_basis,
        subjects=list(one.subjects),
        data=list(one.data),
        recipients=list(one.recipients),
        retention=one.retention,
    )


def _purposes(purposes: Mapping[str, str]) -> list[PurposeAnswer]:
    return [PurposeAnswer(name=name, description=description) for name, description in purposes.items()]
