"""Writes findings in the format that code hosts read: SARIF 2.1.0 (OASIS), with what GitHub asks for."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Final
from urllib.parse import quote

from service.policies.finding_codes import CODES
from service.policies.findings import Finding

SCHEMA_URI: Final = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)

Json = Mapping[str, object]


def write_sarif(folder: str, findings: Sequence[Finding]) -> str:
    """Answer one log with one run. Files are named from where the command was called, as `folder` is."""
    codes = sorted({finding.code for finding in findings})
    run = {
        "tool": {"driver": {"name": "muniment policy lint", "rules": [_rule(code) for code in codes]}},
        "columnKind": "unicodeCodePoints",
        "results": [_result(folder, finding, codes.index(finding.code)) for finding in findings],
    }
    log = {"$schema": SCHEMA_URI, "version": "2.1.0", "runs": [run]}
    return json.dumps(log, ensure_ascii=False, indent=2) + "\n"


def _rule(code: str) -> Json:
    said = {"text": f"{CODES[code][:1].upper()}{CODES[code][1:]}."}
    return {"id": code, "shortDescription": said, "fullDescription": said, "help": said}


def _result(folder: str, finding: Finding, number: int) -> Json:
    place = {
        "physicalLocation": {
            "artifactLocation": {"uri": _uri(folder, finding.file)},
            "region": {"startLine": finding.place.line, "startColumn": finding.place.column},
        }
    }
    logical = [{"fullyQualifiedName": finding.path}] if finding.path else []
    # Of the place in the rules, not of the line: what stands above may grow.
    mark = hashlib.sha256(f"{finding.code}\0{finding.file}\0{finding.path}".encode()).hexdigest()
    return {
        "ruleId": finding.code,
        "ruleIndex": number,
        "level": finding.severity.value,
        "message": {"text": finding.message},
        "locations": [{**place, "logicalLocations": logical} if logical else place],
        "partialFingerprints": {"primaryLocationLineHash": mark},
    }


def _uri(folder: str, file: str) -> str:
    # An address of its own is told as one; a name with a colon in it must not be taken for one.
    path = "/".join(part for part in (folder.rstrip("/"), file) if part)
    whole = quote(path.encode("utf-8", "surrogatepass"), safe="/")
    return f"file://{whole}" if whole.startswith("/") else whole
