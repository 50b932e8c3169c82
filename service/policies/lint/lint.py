"""All that can be said about a bundle: what keeps it from being loaded, else what is not meant."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from service.policies.findings import Finding, Place, Severity, at_most, in_order
from service.policies.lint.decide import WORLDS_ALTOGETHER_MAX
from service.policies.lint.ending import LiveHolds, lint_endings
from service.policies.lint.faults import Fault
from service.policies.lint.reach import lint_reach
from service.policies.lint.rules import lint_rules
from service.policies.lint.untested import lint_untested
from service.policies.lint.unused import lint_unused
from service.policies.load import Inspection, inspect_files
from service.policies.model import Bundle
from service.policies.read_yaml import Document, path_text
from service.policies.validate_file import place_inside


def lint_files(files: Mapping[str, str], holds: LiveHolds | None = None) -> Inspection:
    """Answer what `inspect_files` does, and beside it what is provably not meant. Never raises.

    What harms or cannot work is an error: then there is no bundle in the answer, though it could be loaded.
    `holds` are a tenant's live legal holds, where they are known.
    """
    found = inspect_files(files)
    if found.bundle is None:
        return found
    faults = at_most(_finding(fault, found) for fault in _faults(found.bundle, found, holds))
    findings = in_order([*found.findings, *faults])
    if any(finding.severity is Severity.ERROR for finding in findings):
        return replace(found, bundle=None, findings=findings)
    return replace(found, findings=findings)


def _faults(bundle: Bundle, found: Inspection, holds: LiveHolds | None) -> Iterator[Fault]:
    sources = {rule.name: rule for rule in bundle.sources}
    budget = [WORLDS_ALTOGETHER_MAX]
    for memory_class in bundle.classes.values():
        yield from lint_reach(memory_class, sources)
        yield from lint_rules(memory_class, frozenset(sources), budget)
    yield from lint_unused(bundle)
    yield from lint_endings(bundle, holds)
    yield from lint_untested(bundle, found.cases)


def _finding(fault: Fault, found: Inspection) -> Finding:
    document = _document_of(fault, found)
    return Finding(
        document.file,
        _place_of(fault, document),
        fault.code,
        fault.message,
        fault.severity,
        path_text(document.path_of(fault.path)),
    )


def _document_of(fault: Fault, found: Inspection) -> Document:
    # An entry stands in one file only, so the file that has the first two steps has the rest.
    for document in found.documents.values():
        if fault.path[:2] in document.values:
            return document
    raise AssertionError(f"no file has {fault.path}")


def _place_of(fault: Fault, document: Document) -> Place:
    if fault.inside is None:
        return document.place_of(fault.path, of_key=fault.of_key)
    text, at = fault.inside
    before = text[:at]
    line, column = before.count("\n") + 1, at - (before.rfind("\n") + 1) + 1
    return place_inside(document, fault.path, text, line, column)
