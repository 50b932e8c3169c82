"""What of evidence is sealed together, and the places that the seals are bound to."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from service.core.cipher import Cipher
from service.evidence.flags import flags_of
from service.evidence.model import Group, NewEvidence


@dataclass(frozen=True, slots=True)
class Header:
    """All short text of a version, under one seal: opened once for each passage that is shown."""

    uri: str
    source_version: str | None
    title: str
    group: tuple[str, str] | None
    subjects: tuple[str, ...]
    flags: tuple[str, ...] = ()

    @classmethod
    def of(cls, new: NewEvidence) -> "Header":
        """Take the header out of what was handed in."""
        group = (new.group.id, new.group.title) if new.group else None
        return cls(
            new.source.uri,
            new.source.source_version,
            new.title,
            group,
            tuple(sorted(set(new.subjects))),
            flags_of(new),
        )

    def group_at(self, sequence: int | None) -> Group | None:
        """Answer the group with the item's place in it."""
        if self.group is None or sequence is None:
            return None
        return Group(self.group[0], self.group[1], sequence)


class EvidenceSeal:
    """Seals and opens the texts of one version of one item."""

    def __init__(self, cipher: Cipher, evidence_id: str, version: int) -> None:
        self._cipher = cipher
        self._place = f"{evidence_id}/{version}"

    def header(self, header: Header) -> bytes:
        """Seal the header under the keys of those whom it names."""
        parts = [header.uri, header.source_version, header.title, header.group, header.subjects, header.flags]
        return self._seal(json.dumps(parts, ensure_ascii=False), header.subjects, "header")

    def open_header(self, sealed: bytes) -> Header:
        """Answer the header. Raises `TextErased`."""
        # Headers that were written before there were flags have none.
        uri, source_version, title, group, subjects, *rest = json.loads(self._open(sealed, "header"))
        flags = tuple(rest[0]) if rest else ()
        return Header(uri, source_version, title, group and (group[0], group[1]), tuple(subjects), flags)

    def metadata(self, metadata: Mapping[str, Any], subjects: Sequence[str]) -> bytes:
        """Seal the free-form metadata; none takes no bytes."""
        if not metadata:
            return b""
        return self._seal(json.dumps(metadata, ensure_ascii=False), subjects, "metadata")

    def open_metadata(self, sealed: bytes) -> dict[str, Any]:
        """Answer the metadata. Raises `TextErased`."""
        return dict(json.loads(self._open(sealed, "metadata"))) if sealed else {}

    def chunk(self, text: str, ordinal: int, subjects: Sequence[str]) -> bytes:
        """Seal one piece of the text."""
        return self._seal(text, subjects, f"chunk/{ordinal}")

    def open_chunk(self, sealed: bytes, ordinal: int) -> str:
        """Answer one piece of the text. Raises `TextErased`."""
        return self._open(sealed, f"chunk/{ordinal}")

    def _seal(self, text: str, subjects: Sequence[str], part: str) -> bytes:
        return self._cipher.seal(text, subjects=subjects, place=f"evidence/{self._place}/{part}")

    def _open(self, sealed: bytes, part: str) -> str:
        return self._cipher.open(sealed, place=f"evidence/{self._place}/{part}")
