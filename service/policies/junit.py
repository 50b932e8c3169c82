"""Writes results in the XML that build servers read (JUnit), for tests and for findings alike."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final
from xml.sax.saxutils import escape, quoteattr

_NO_XML: Final = dict.fromkeys((*range(9), 11, 12, *range(14, 32), 127, 65534, 65535), "�")
"""Characters that XML 1.0 cannot carry, or carries badly."""


@dataclass(frozen=True, slots=True)
class JUnitCase:
    """One result: what was looked at, where it stands, and what is wrong with it (nothing: it is fine)."""

    name: str
    file: str
    line: int
    faults: tuple[str, ...] = ()


def write_junit(suite: str, cases: Sequence[JUnitCase]) -> str:
    """Answer one document with one suite. A case with a fault is a failure; its faults stand in the text."""
    failed = sum(bool(case.faults) for case in cases)
    head = f'<testsuite name={_attribute(suite)} tests="{len(cases)}" failures="{failed}" errors="0">'
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', "<testsuites>", f"  {head}"]
    for case in cases:
        lines.extend(_case(case))
    return "\n".join([*lines, "  </testsuite>", "</testsuites>", ""])


def _case(case: JUnitCase) -> Sequence[str]:
    place = f'classname={_attribute(case.file)} file={_attribute(case.file)} line="{case.line}"'
    opening = f"    <testcase name={_attribute(case.name)} {place}"
    if not case.faults:
        return [f"{opening}/>"]
    text = escape("\n".join(case.faults).translate(_NO_XML))
    message = _attribute(case.faults[0])
    return [f"{opening}>", f"      <failure message={message}>{text}</failure>", "    </testcase>"]


def _attribute(text: str) -> str:
    return quoteattr(text.translate(_NO_XML))
