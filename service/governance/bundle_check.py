"""Checking an evidence bundle where there is no service: no database, no settings, no network."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from service.audit.rules import hash_link
from service.core.hashing import canonical_json, hash_json
from service.core.signing import SignatureFault, signature_fault

FORMAT: Final = "muniment-bundle/1"
_FINDINGS_MAX: Final = 50
_FIELDS: Final = frozenset({"format", "about", "tenant_id", "made_at", "manifest", "contents", "signature"})


class BundleFault(StrEnum):
    """Why a bundle does not hold. Append only."""

    UNREADABLE = "unreadable"
    FORMAT_UNKNOWN = "format_unknown"
    NOT_CANONICAL = "not_canonical"
    MANIFEST_MISMATCH = "manifest_mismatch"
    CONTENT_ALTERED = "content_altered"
    EVENT_ALTERED = "event_altered"
    CHAIN_BROKEN = "chain_broken"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that does not hold; `where` names the part of the bundle, or the event by its sequence."""

    code: BundleFault | SignatureFault
    where: str


@dataclass(frozen=True, slots=True)
class Checked:
    """What was found. `document` is `None` for what could not be read at all.

    `is_proved` says that the chain was walked from the bundle's first event to the end that it names.
    """

    findings: Sequence[Finding]
    document: Mapping[str, Any] | None
    is_proved: bool

    @property
    def holds(self) -> bool:
        """Whether nothing was changed since it was signed."""
        return not self.findings


class _Twice(ValueError):
    """A name stands twice in one object."""


def check_bundle(content: bytes, *, trusted: bytes | None) -> Checked:
    """Check a bundle's bytes. `trusted` is the public key that it must be signed with.

    Without it the key that stands in the bundle is used: that shows that nothing was changed since, and
    whoever can make a bundle can make a key; so compare the key's id with the one that you know.
    """
    try:
        document = json.loads(content.decode(), object_pairs_hook=_once)
        canonical = canonical_json(document)
    except (ValueError, RecursionError, OverflowError):
        return _unreadable(BundleFault.UNREADABLE, "file")
    if not isinstance(document, dict) or document.get("format") != FORMAT or document.keys() != _FIELDS:
        return _unreadable(BundleFault.FORMAT_UNKNOWN, "format")
    findings = [] if canonical == content else [Finding(BundleFault.NOT_CANONICAL, "file")]
    proved = False
    try:
        findings += _manifest(document)
        fault = signature_fault(document, trusted=trusted)
        findings += [] if fault is None else [Finding(fault, "signature")]
        audit = document["contents"]["audit"]
        findings += _events(audit)
        if audit["segment"] is not None:
            findings += _segment(audit)
            proved = True
    except (KeyError, TypeError, ValueError, AttributeError):
        findings.append(Finding(BundleFault.UNREADABLE, "contents"))
    return Checked(findings[:_FINDINGS_MAX], document, proved and not findings)


def _unreadable(fault: BundleFault, where: str) -> Checked:
    return Checked([Finding(fault, where)], None, is_proved=False)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise _Twice
    return found


def _manifest(document: Mapping[str, Any]) -> Iterator[Finding]:
    listed = {entry["name"]: entry["sha256"] for entry in document["manifest"]}
    contents = document["contents"]
    for name in sorted(listed.keys() ^ contents.keys()):
        yield Finding(BundleFault.MANIFEST_MISMATCH, name)
    for name in sorted(listed.keys() & contents.keys()):
        if hash_json(contents[name]) != listed[name]:
            yield Finding(BundleFault.CONTENT_ALTERED, name)


def _events(audit: Mapping[str, Any]) -> Iterator[Finding]:
    for event in audit["events"]:
        expected = hash_link(
            hash_json(event["content"]), sequence=event["sequence"], previous_hash=event["previous_hash"]
        )
        if event["hash"] not in (expected, _of_first_form(event)):
            yield Finding(BundleFault.EVENT_ALTERED, f"event {event['sequence']}")


def _of_first_form(event: Mapping[str, Any]) -> str:
    place = {"previous_hash": event["previous_hash"], "sequence": event["sequence"]}
    return hash_json({**place, **event["content"]})


def _segment(audit: Mapping[str, Any]) -> Iterator[Finding]:
    """Walk the chain from the first event to its end, and find each of the bundle's events on the way."""
    segment, head = audit["segment"], audit["head"]
    own = {event["sequence"]: event for event in audit["events"]}
    sequence, previous_hash = segment["from_sequence"], segment["previous_hash"]
    for content_hash in segment["content_hashes"]:
        event = own.pop(sequence, None)
        here = hash_link(content_hash, sequence=sequence, previous_hash=previous_hash)
        if event is not None and (event["hash"], event["previous_hash"]) != (here, previous_hash):
            yield Finding(BundleFault.CHAIN_BROKEN, f"event {sequence}")
        sequence, previous_hash = sequence + 1, here
    if (sequence - 1, previous_hash) != (head["sequence"], head["hash"]):
        yield Finding(BundleFault.CHAIN_BROKEN, "head")
    for missing in sorted(own):
        yield Finding(BundleFault.CHAIN_BROKEN, f"event {missing}")
