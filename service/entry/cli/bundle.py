"""`muniment bundle`: check a signed evidence bundle, with no database, no settings and no network."""

from pathlib import Path
from typing import Annotated, Final

import typer

from service.core.signing import read_public_key
from service.entry.cli.output import AsJson, answer
from service.governance.bundle_check import Checked, check_bundle

app = typer.Typer(help="Check evidence bundles.", no_args_is_help=True, add_completion=False)

_FILE_BYTES_MAX: Final = 64 * 2**20
_KEY_BYTES_MAX: Final = 10_000


@app.callback()
def _bundle() -> None:
    """Check evidence bundles."""


@app.command("verify")
def verify(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="The bundle, byte for byte as it was answered.")
    ],
    *,
    key: Annotated[
        str | None,
        typer.Option("--key", help="The public key that it must be signed with: a PEM file, or base64."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Say whether a bundle holds, and what does not. Exit code 1 when it does not.

    Without `--key` only the key that stands in the bundle is used: compare its id with the one you know.
    """
    trusted = None if key is None else read_public_key(_key_text(key))
    with file.open("rb") as stream:
        content = stream.read(_FILE_BYTES_MAX + 1)
    checked = check_bundle(content, trusted=trusted)
    answer({**_told(checked), "key_trusted": trusted is not None}, as_json=as_json)
    if not checked.holds:
        raise typer.Exit(1)


def _told(checked: Checked) -> dict[str, object]:
    found = checked.document or {}
    about, signature = found.get("about"), found.get("signature")
    return {
        "holds": checked.holds,
        "about": f"{about.get('kind')}:{about.get('id')}" if isinstance(about, dict) else None,
        "made_at": found.get("made_at"),
        "chain": "walked to its end" if checked.is_proved else "events alone",
        "key_id": signature.get("key_id") if isinstance(signature, dict) else None,
        "findings": [f"{finding.code}: {finding.where}" for finding in checked.findings],
    }


def _key_text(key: str) -> str:
    path = Path(key)
    # Base64 of 32 bytes is no name that anybody gives a file; a name that is not there fails as one.
    if len(key) == 44 and not path.exists():  # noqa: PLR2004 - the length of 32 bytes in base64
        return key
    with path.open(encoding="utf-8", errors="replace") as stream:
        return stream.read(_KEY_BYTES_MAX)
