"""Shapes of the data map and of the record of processing activities."""

from typing import Literal

from service.wire.scalars import Answer


class MappedFieldAnswer(Answer):
    """One field of one store.

    `retention_class` names how it is kept and `kept` says it in words; `erased_by` names the stores of a
    receipt that count it when a person is erased, none where it stays.
    """

    store: Literal["record", "keystore", "index", "backup", "logs"]
    table: str
    field: str
    what: str
    personal: Literal["none", "pseudonymous", "personal"]
    purpose: str
    lawful_basis: str
    retention_class: str
    kept: str
    sealed_under: Literal["subject", "tenant", "none"]
    erased_by: list[str]


class DataMapAnswer(Answer):
    """Every field of every store."""

    items: list[MappedFieldAnswer]


class PurposeAnswer(Answer):
    """A purpose with the sentence that a person reads who is asked for consent."""

    name: str
    description: str


class MemoryProcessingAnswer(Answer):
    """What is done with memories of one class."""

    name: str
    because: str
    purposes: list[PurposeAnswer]
    lawful_basis: str | None
    consent_needed: bool
    subjects: list[str]
    data: list[str]
    sensitivity: str
    recipients: list[str]
    destinations: list[str]
    models: list[str]
    sources: list[str]
    retention: str
    approval: str
    refuses: str | None


class RunProcessingAnswer(Answer):
    """What is done with the content of runs of one retention class."""

    name: str
    purposes: list[PurposeAnswer]
    lawful_basis: str
    subjects: list[str]
    data: list[str]
    recipients: list[str]
    retention: str


class RecordsOfProcessingAnswer(Answer):
    """The record of processing activities (GDPR, article 30) that follows from the active policy."""

    policy_version: str | None
    memory_classes: list[MemoryProcessingAnswer]
    retention_classes: list[RunProcessingAnswer]
    security_measures: list[str]
