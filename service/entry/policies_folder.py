"""What `serve` says at its start about the policies folder, which it reads for nothing else.

Which version counts for a tenant stands in the record. The folder gives a new tenant its first one, so a
broken one stops no tenant that there is: whoever starts the service is told, and founding one is refused.
"""

from pathlib import Path
from typing import Final

import structlog

from service.policies.findings import BundleInvalid, Finding, Severity
from service.policies.load import inspect_files
from service.policies.read_folder import read_folder

_PLACES_MAX: Final = 10


def warn_of_broken_policies(folder: Path) -> None:
    """Log what is wrong in the folder: places and codes, and no word of a file."""
    try:
        findings = inspect_files(read_folder(folder)).findings
    except BundleInvalid as fault:
        findings = fault.findings
    except OSError as fault:
        structlog.get_logger("muniment.policies").warning(
            "policies_folder_unreadable", error=type(fault).__name__
        )
        return
    errors = [finding for finding in findings if finding.severity is Severity.ERROR]
    if errors:
        structlog.get_logger("muniment.policies").warning(
            "policies_folder_broken",
            errors=len(errors),
            places=[_place(finding) for finding in errors[:_PLACES_MAX]],
            consequence="no tenant can be founded; those that there are keep the version that counts",
            see="muniment policy lint",
        )


def _place(finding: Finding) -> str:
    return f"{finding.file}:{finding.place.line}:{finding.place.column} {finding.code}"
