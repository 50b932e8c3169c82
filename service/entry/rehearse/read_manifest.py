"""Reads a manifest with the policy files' reader: strict, bounded, each fault with its line and column."""

import json
import re
from pathlib import Path
from typing import Final

from service.entry.rehearse.manifest import Manifest
from service.policies.characters import FILE_BYTES_MAX
from service.policies.findings import Finding, Place
from service.policies.read_yaml import read_yaml
from service.policies.validate_file import check_file

_ESCAPED_PAIR: Final = re.compile(
    r"(?<!\\)((?:\\\\)*)(\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})"
)


class ManifestInvalid(ValueError):
    """The manifest cannot be used; `findings` says why, each with its place."""

    def __init__(self, findings: tuple[Finding, ...]) -> None:
        super().__init__("\n".join(map(str, findings)))
        self.findings = findings


def read_manifest(path: Path) -> Manifest:
    """Answer what the file says: YAML, or JSON, which the same reader takes. Raises `ManifestInvalid`."""
    text = _text_of(path)
    if path.suffix == ".json":
        # JSON spells a character beyond 16 bits as two escapes, which YAML reads as two halves of one.
        text = _ESCAPED_PAIR.sub(lambda found: found[1] + json.loads(f'"{found[2]}"'), text)
    document, faults = read_yaml(str(path), text)
    if faults:
        raise ManifestInvalid(faults)
    checked = check_file(document, Manifest)
    if checked.model is None:
        raise ManifestInvalid(checked.findings)
    missing = _missing_folders(path, checked.model)
    if missing:
        raise ManifestInvalid(
            tuple(
                Finding(str(path), document.place_of(place), "no_folder", "there is no such folder")
                for place in missing
            )
        )
    return checked.model


def _text_of(path: Path) -> str:
    try:
        with path.open("rb") as file:
            # One byte more tells a file that is too large from one that just fits.
            return file.read(FILE_BYTES_MAX + 1).decode("utf-8")
    except UnicodeDecodeError:
        raise ManifestInvalid((_fault(path, "encoding", "not UTF-8: save as UTF-8"),)) from None
    except OSError as fault:
        message = f"cannot be read ({fault.strerror or type(fault).__name__})"
        raise ManifestInvalid((_fault(path, "unreadable", message),)) from None


def _fault(path: Path, code: str, message: str) -> Finding:
    return Finding(str(path), Place(), code, message)


def _missing_folders(path: Path, manifest: Manifest) -> list[tuple[str, ...]]:
    folders: list[tuple[tuple[str, ...], str]] = [
        (("scenarios", name, "work"), scenario.work)
        for name, scenario in manifest.scenarios.items()
        if scenario.work is not None
    ]
    if manifest.policies is not None:
        folders.append((("policies",), manifest.policies))
    return [place for place, folder in folders if not (path.parent / folder).is_dir()]
