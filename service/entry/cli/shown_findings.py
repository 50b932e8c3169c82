"""A finding about a bundle as commands show it: in a line for people, or as fields of a JSON document."""

from collections.abc import Mapping
from pathlib import Path

from service.policies.findings import Finding


def finding_line(folder: Path, finding: Finding) -> str:
    """Answer `DIR/FILE:LINE:COLUMN: …` with the rule's path, where it has one."""
    where = f" ({finding.path})" if finding.path else ""
    return f"{folder}/{finding}{where}" if finding.file else f"{folder}: {finding.message}"


def finding_fields(finding: Finding) -> Mapping[str, object]:
    """Answer a finding's fields as JSON can carry them."""
    return {
        "file": finding.file,
        "line": finding.place.line,
        "column": finding.place.column,
        "path": finding.path,
        "severity": finding.severity.value,
        "code": finding.code,
        "message": finding.message,
    }
