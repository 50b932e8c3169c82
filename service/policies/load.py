"""Files in, one bundle out, or findings: a bundle with a single error is not loaded at all."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from service.core.hashing import hash_json
from service.policies.cases import CaseFile
from service.policies.characters import BUNDLE_BYTES_MAX, FILE_BYTES_MAX, check_text
from service.policies.cross_check import MAPPED_SECTIONS, SourceFile, check_parts
from service.policies.file_model import BundleFile
from service.policies.findings import (
    FINDINGS_MAX,
    BundleInvalid,
    Finding,
    Place,
    Severity,
    at_most,
    in_order,
    shorten,
)
from service.policies.laws import find_breaches, without_echoes
from service.policies.model import Bundle, Guards, Stopping
from service.policies.read_yaml import Document, read_yaml
from service.policies.validate_file import check_file

BUNDLE_FILES_MAX: Final = 200
BUNDLE_VALUES_MAX: Final = 40_000
"""So many keys and values stand in all files of a bundle together."""
_PATH: Final = re.compile(
    r"instructions/[a-z0-9][a-z0-9_-]{0,63}\.md"
    r"|([a-z0-9][a-z0-9_-]{0,63}/){0,3}[a-z0-9][a-z0-9_-]{0,63}\.yaml"
)
_TESTS: Final = "tests/"


@dataclass(frozen=True, slots=True)
class Inspection:
    """What was found: the bundle where nothing is wrong, the findings, and the tests beside it."""

    bundle: Bundle | None
    findings: tuple[Finding, ...]
    cases: Mapping[str, CaseFile]
    case_places: Mapping[str, tuple[Place, ...]] = field(default_factory=dict)
    """Where each test stands in its file."""
    documents: Mapping[str, Document] = field(default_factory=dict)
    """The policy files as they were read, of a bundle without errors."""


def load_bundle(files: Mapping[str, str]) -> Bundle:
    """Answer the bundle that `files` (text by path) are. Raises `BundleInvalid` with every finding."""
    found = inspect_files(files)
    if found.bundle is None:
        raise BundleInvalid(found.findings)
    return found.bundle


def inspect_files(files: Mapping[str, str]) -> Inspection:
    """Answer everything about `files`. Never raises; without a bundle at least one finding is an error."""
    too_much = tuple(_check_sizes(files))
    if too_much:
        return Inspection(None, too_much, {})
    reading = _Reading()
    for path in sorted(files):
        # Of so much that is wrong, what else is wrong would take long to tell and help nobody.
        if len(reading.findings) >= FINDINGS_MAX or reading.count > BUNDLE_VALUES_MAX:
            break
        reading.take(path, files[path])
    if not reading.findings:
        reading.findings.extend(at_most(check_parts(reading.sources, reading.instructions)))
    findings = in_order(reading.findings)
    if any(finding.severity is Severity.ERROR for finding in findings):
        return Inspection(None, findings, {})
    documents = {file.document.file: file.document for file in reading.sources}
    return Inspection(reading.bundle(), findings, reading.cases, reading.case_places, documents)


def _check_sizes(files: Mapping[str, str]) -> Iterator[Finding]:
    if len(files) > BUNDLE_FILES_MAX:
        yield Finding(
            "", Place(), "too_many_files", f"{len(files)} files: a bundle has at most {BUNDLE_FILES_MAX}"
        )
    sizes = {path: len(text.encode("utf-8", "surrogatepass")) for path, text in files.items()}
    if (size_bytes := sum(sizes.values())) > BUNDLE_BYTES_MAX:
        largest = max(sizes, key=lambda path: sizes[path])
        message = (
            f"the bundle has {size_bytes} bytes, {sizes[largest]} of them in this file: "
            f"{BUNDLE_BYTES_MAX} are the most, and {FILE_BYTES_MAX} for a file"
        )
        yield Finding(shorten(largest), Place(), "bundle_too_large", message)
    if not any(path.endswith(".yaml") and not path.startswith(_TESTS) for path in files):
        yield Finding("", Place(), "no_files", "no policy file: a bundle has at least one `.yaml`")


@dataclass(slots=True)
class _Reading:
    """The files read so far."""

    findings: list[Finding] = field(default_factory=list)
    sources: list[SourceFile] = field(default_factory=list)
    instructions: dict[str, str] = field(default_factory=dict)
    cases: dict[str, CaseFile] = field(default_factory=dict)
    case_places: dict[str, tuple[Place, ...]] = field(default_factory=dict)
    canonical: dict[str, object] = field(default_factory=dict)
    count: int = 0

    def take(self, path: str, text: str) -> None:
        """Read one file."""
        if not _PATH.fullmatch(path):
            message = (
                "not a file of a bundle: policies are `NAME.yaml`, tests `tests/NAME.yaml`, "
                "instructions `instructions/NAME.md`, in lower case"
            )
            self.findings.append(Finding(shorten(path), Place(), "unexpected_file", message))
        elif path.endswith(".md"):
            self.findings.extend(check_text(path, text, tabs_allowed=True))
            if not text.strip():
                self.findings.append(Finding(path, Place(), "empty", "an empty file: remove it"))
            # Editors on Windows end lines otherwise. That is no other instruction.
            self.instructions[path] = self.canonical[path] = text.replace("\r\n", "\n")
        else:
            self._take_yaml(path, text)

    def _take_yaml(self, path: str, text: str) -> None:
        document, faults = read_yaml(path, text)
        self.count += len(document.keys) + len(document.values)
        if not faults and self.count > BUNDLE_VALUES_MAX:
            message = (
                f"more than {BUNDLE_VALUES_MAX} keys and values up to this file: make the bundle smaller"
            )
            faults = (Finding(path, Place(), "too_many_values", message),)
        if faults:
            self.findings.extend(faults)
            return
        self.canonical[path] = document.content
        if path.startswith(_TESTS):
            cases = check_file(document, CaseFile)
            self.findings.extend(cases.findings)
            if cases.model is not None:
                self.cases[path] = cases.model
                self.case_places[path] = tuple(
                    document.place_of(("cases", number)) for number in range(len(cases.model.cases))
                )
            return
        content = check_file(document, BundleFile)
        breaches = tuple(at_most(find_breaches(document)))
        self.findings.extend([*breaches, *without_echoes(content.findings, breaches)])
        if content.model is not None:
            self.sources.append(SourceFile(document, content.model))

    def bundle(self) -> Bundle:
        """Put the parts together; nothing is wrong with any of them."""
        parts: dict[str, Any] = {section: {} for section in MAPPED_SECTIONS}
        stopping, guards = Stopping(), Guards()
        for file in self.sources:
            for section in MAPPED_SECTIONS:
                parts[section].update(getattr(file.content, section))
            stopping = file.content.stopping or stopping
            guards = file.content.guards or guards
        sources = sorted(parts.pop("sources").values(), key=lambda rule: (-len(rule.uri_prefix), rule.name))
        # What the parser made of the YAML is hashed, not its text: comments, quotes and the order of keys
        # decide nothing, so they do not make another version. Every character of an instruction does.
        version = hash_json(self.canonical)
        return Bundle(
            version=version,
            sources=tuple(sources),
            stopping=stopping,
            guards=guards,
            instructions=self.instructions,
            **parts,
        )
