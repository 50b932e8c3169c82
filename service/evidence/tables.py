"""Rows of evidence: an item, its versions, their chunks, readers, subjects and lineage.

An item's row is its identity and points at the current version. All that a person could recognise (uri,
title, group, source version, metadata, text) is ciphertext; look-ups go through keyed hashes.
"""

from datetime import datetime

from sqlalchemy import BigInteger, ForeignKeyConstraint, Index, LargeBinary, UniqueConstraint
from sqlmodel import Field, SQLModel

from service.core.database import UtcDateTime

_ITEM = ["evidence.tenant_id", "evidence.id"]
_VERSION = ["evidence_versions.tenant_id", "evidence_versions.evidence_id", "evidence_versions.version"]
_VERSION_COLUMNS = ["tenant_id", "evidence_id", "version"]


class EvidenceRow(SQLModel, table=True):
    """One item. `uri_key` is the keyed hash of its uri and lane (see `rules.lanes`)."""

    __tablename__ = "evidence"
    __table_args__ = (
        ForeignKeyConstraint(
            ["tenant_id", "project_id"], ["projects.tenant_id", "projects.id"], name="fk_evidence_project"
        ),
        UniqueConstraint("tenant_id", "project_id", "uri_key", name="uq_evidence_uri"),
    )

    tenant_id: str = Field(primary_key=True, max_length=36)
    id: str = Field(primary_key=True, max_length=36)
    project_id: str = Field(max_length=36)
    uri_key: str = Field(max_length=64)
    version: int
    superseded_by: str | None = Field(default=None, max_length=36)
    quarantine_id: str | None = Field(default=None, max_length=36)
    """The quarantine that keeps it out of every search, package and reading."""
    created_by: str = Field(max_length=450)
    created_at: datetime = Field(sa_type=UtcDateTime)


class EvidenceVersionRow(SQLModel, table=True):
    """One version of an item: provenance and standing. Only `observed_at` and `fresh_until` ever move."""

    __tablename__ = "evidence_versions"
    __table_args__ = (
        ForeignKeyConstraint(["tenant_id", "evidence_id"], _ITEM, ondelete="CASCADE"),
        Index("ix_evidence_versions_group", "tenant_id", "group_key", "sequence"),
    )

    tenant_id: str = Field(primary_key=True, max_length=36)
    evidence_id: str = Field(primary_key=True, max_length=36)
    version: int = Field(primary_key=True)
    kind: str = Field(max_length=64)
    observed_at: datetime = Field(sa_type=UtcDateTime)
    header: bytes = Field(sa_type=LargeBinary)
    free_form: bytes = Field(sa_type=LargeBinary)
    media_type: str = Field(max_length=100)
    sha256: str = Field(max_length=71)
    statement_key: str = Field(max_length=64)
    readers_key: str = Field(max_length=64)
    characters: int
    tokens: int
    chunks: int
    trust: str = Field(max_length=20)
    authority: str = Field(max_length=20)
    limited: str | None = Field(default=None, max_length=64)
    fresh_until: datetime | None = Field(default=None, sa_type=UtcDateTime)
    group_key: str | None = Field(default=None, max_length=64)
    sequence: int | None = Field(default=None, sa_type=BigInteger)
    supersedes: str | None = Field(default=None, max_length=36)
    created_by: str = Field(max_length=450)
    created_at: datetime = Field(sa_type=UtcDateTime)


class EvidenceChunkRow(SQLModel, table=True):
    """A piece of a version's text. In order the pieces are the text; there is no other copy."""

    __tablename__ = "evidence_chunks"
    __table_args__ = (ForeignKeyConstraint(_VERSION_COLUMNS, _VERSION, ondelete="CASCADE"),)

    tenant_id: str = Field(primary_key=True, max_length=36)
    evidence_id: str = Field(primary_key=True, max_length=36)
    version: int = Field(primary_key=True)
    ordinal: int = Field(primary_key=True)
    start_at: int
    end_at: int
    tokens: int
    text: bytes = Field(sa_type=LargeBinary)


class EvidenceReaderRow(SQLModel, table=True):
    """A label of those who may read a version, as in `Caller.reader_labels`."""

    __tablename__ = "evidence_readers"
    __table_args__ = (ForeignKeyConstraint(_VERSION_COLUMNS, _VERSION, ondelete="CASCADE"),)

    tenant_id: str = Field(primary_key=True, max_length=36)
    evidence_id: str = Field(primary_key=True, max_length=36)
    version: int = Field(primary_key=True)
    label: str = Field(primary_key=True, max_length=250)


class EvidenceSubjectRow(SQLModel, table=True):
    """A person whom a version is about, by keyed hash; the name itself is sealed in the header."""

    __tablename__ = "evidence_subjects"
    __table_args__ = (
        ForeignKeyConstraint(_VERSION_COLUMNS, _VERSION, ondelete="CASCADE"),
        Index("ix_evidence_subjects_subject", "tenant_id", "subject_hash"),
    )

    tenant_id: str = Field(primary_key=True, max_length=36)
    evidence_id: str = Field(primary_key=True, max_length=36)
    version: int = Field(primary_key=True)
    subject_hash: str = Field(primary_key=True, max_length=64)


class EvidenceLineageRow(SQLModel, table=True):
    """Something that a version was made from. What it names may be gone: the row only says that it was."""

    __tablename__ = "evidence_lineage"
    __table_args__ = (
        ForeignKeyConstraint(_VERSION_COLUMNS, _VERSION, ondelete="CASCADE"),
        Index("ix_evidence_lineage_ref", "tenant_id", "ref_kind", "ref_id"),
    )

    tenant_id: str = Field(primary_key=True, max_length=36)
    evidence_id: str = Field(primary_key=True, max_length=36)
    version: int = Field(primary_key=True)
    position: int = Field(primary_key=True)
    ref_kind: str = Field(max_length=20)
    ref_id: str = Field(max_length=100)
    ref_version: int | None = None
