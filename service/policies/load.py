"""Files in, one bundle out, or findings: a bundle with a single error is not loaded at all."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from service.core.hashing import hash_json
from service.policies.cases import CaseFile
from service.policies.characters import check_text
from service.policies.cross_check import MAPPED_SECTIONS, SourceFile, check_parts
from service.policies.file_model import BundleFile
from service.policies.findings import BundleInvalid, Finding, Place, Severity, in_order, shorten
from service.policies.model import Bundle, Guards, Stopping
from service.policies.read_yaml import read_yaml
from service.policies.validate_file import check_file

BUNDLE_BYTES_MAX: Final = 2 * 1024 * 1024
BUNDLE_FILES_MAX: Final = 200
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
        reading.take(path, files[path])
    if not reading.findings:
        reading.findings.extend(check_parts(reading.sources, reading.instructions))
    findings = in_order(reading.findings)
    if any(finding.severity is Severity.ERROR for finding in findings):
        return Inspection(None, findings, {})
    return Inspection(reading.bundle(), findings, reading.cases, reading.case_places)


def _check_sizes(files: Mapping[str, str]) -> Iterator[Finding]:
    if len(files) > BUNDLE_FILES_MAX:
        yield Finding(
            "", Place(), "too_many_files", f"{len(files)} files: a bundle has at most {BUNDLE_FILES_MAX}"
        )
    size_bytes = sum(len(text.encode("utf-8", "surrogatepass")) for text in files.values())
    if size_bytes > BUNDLE_BYTES_MAX:
        message = f"{size_bytes} bytes: a bundle has at most {BUNDLE_BYTES_MAX}"
        yield Finding("", Place(), "bundle_too_large", message)
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
            self.instructions[path] = self.canonical[path] = text
        else:
            self._take_yaml(path, text)

    def _take_yaml(self, path: str, text: str) -> None:
        document, faults = read_yaml(path, text)
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
        self.findings.extend(content.findings)
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
