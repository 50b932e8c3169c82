"""The rows of one version, as columns and values: what `EvidenceStore.write` adds."""

from collections.abc import Sequence
from typing import Any

from service.evidence.model import Head, Piece
from service.evidence.prepare import Prepared
from service.evidence.sealing import EvidenceSeal, Header
from service.identity.unit import Unit

Values = dict[str, Any]


class VersionRows:
    """Makes the rows of one prepared text as one version of one item."""

    def __init__(self, prepared: Prepared, unit: Unit, evidence_id: str, version: int) -> None:
        self._prepared = prepared
        self._unit = unit
        self._header = Header.of(prepared.new)
        self._seal = EvidenceSeal(unit.cipher, evidence_id, version)
        self._key: Values = {"evidence_id": evidence_id, "version": version}

    @property
    def flags(self) -> tuple[str, ...]:
        """What readers of the text should know."""
        return self._header.flags

    def item(self, uri_key: str) -> Values:
        """Answer the item's own row."""
        return {
            "id": self._key["evidence_id"],
            "project_id": self._prepared.project_id,
            "uri_key": uri_key,
            "version": self._key["version"],
            "superseded_by": None,
            "created_by": self._unit.caller.principal,
            "created_at": self._unit.now,
        }

    def version(self, pieces: Sequence[Piece]) -> Values:
        """Answer the version's row."""
        prepared, new = self._prepared, self._prepared.new
        return self._key | {
            "kind": new.source.kind,
            "observed_at": new.source.observed_at,
            "header": self._seal.header(self._header),
            "free_form": self._seal.metadata(new.metadata, self._header.subjects),
            "media_type": new.media_type,
            "sha256": prepared.sha256,
            "statement_key": prepared.statement_key,
            "readers_key": prepared.readers_key,
            "characters": len(new.text),
            "tokens": sum(piece.tokens for piece in pieces),
            "chunks": len(pieces),
            "trust": prepared.standing.trust.value,
            "authority": prepared.standing.authority.value,
            "limited": prepared.standing.limited and prepared.standing.limited.value,
            "fresh_until": new.fresh_until,
            "group_key": self._group_key(),
            "sequence": new.group.sequence if new.group else None,
            "supersedes": new.supersedes,
            "created_by": self._unit.caller.principal,
            "created_at": self._unit.now,
        }

    def chunks(self, pieces: Sequence[Piece]) -> list[Values]:
        """Answer the rows of the text."""
        return [
            self._key
            | {
                "ordinal": ordinal,
                "start_at": piece.start,
                "end_at": piece.end,
                "tokens": piece.tokens,
                "text": self._seal.chunk(piece.text, ordinal, self._header.subjects),
            }
            for ordinal, piece in enumerate(pieces)
        ]

    def readers(self) -> list[Values]:
        """Answer a row for each reader label."""
        return [self._key | {"label": label} for label in self._prepared.labels]

    def subjects(self) -> list[Values]:
        """Answer a row for each person whom the text is about."""
        hashes = [self._unit.cipher.keyed_hash(subject) for subject in self._header.subjects]
        return [self._key | {"subject_hash": subject_hash} for subject_hash in hashes]

    def lineage(self) -> list[Values]:
        """Answer a row for each thing that the text was made from."""
        return [
            self._key
            | {
                "position": position,
                "ref_kind": reference.kind,
                "ref_id": reference.id,
                "ref_version": reference.version,
            }
            for position, reference in enumerate(self._prepared.new.derived_from)
        ]

    def head(self, uri_key: str, pieces: Sequence[Piece], *, created_by: str) -> Head:
        """Answer the item as it stands once these rows are written."""
        prepared = self._prepared
        return Head(
            id=self._key["evidence_id"],
            project_id=prepared.project_id,
            uri_key=uri_key,
            version=self._key["version"],
            superseded_by=None,
            created_by=created_by,
            standing=prepared.standing,
            readers_key=prepared.readers_key,
            statement_key=prepared.statement_key,
            observed_at=prepared.new.source.observed_at,
            fresh_until=prepared.new.fresh_until,
            sha256=prepared.sha256,
            tokens=sum(piece.tokens for piece in pieces),
            chunks=len(pieces),
        )

    def _group_key(self) -> str | None:
        group = self._prepared.new.group
        if group is None:
            return None
        return self._unit.cipher.keyed_hash(f"group\n{self._prepared.project_id}\n{group.id}")
