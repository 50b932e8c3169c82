"""Every setting, command, fault of the trail and warning is documented."""

from collections.abc import Iterator
from pathlib import Path

import pytest
import typer

from service.audit.model import Fault
from service.core.signing import SignatureFault
from service.entry.cli import COMMANDS, app
from service.governance.bundle_check import BundleFault
from service.identity.model import KeyWarning
from service.settings import Settings

DOCS = Path(__file__).parents[1] / "docs"


def _commands() -> Iterator[str]:
    root = typer.main.get_command(app)
    context = typer.Context(root)
    for name in COMMANDS:
        command = root.get_command(context, name)  # type: ignore[attr-defined]  # the root is a group
        inner = getattr(command, "commands", {})
        yield from (f"muniment {name} {part}" for part in inner) if inner else (f"muniment {name}",)


@pytest.mark.parametrize("name", list(Settings.model_fields))
def test_every_setting_is_documented_with_its_meaning(name: str) -> None:
    lines = [
        line
        for line in (DOCS / "settings.md").read_text().splitlines()
        if f"`MUNIMENT_{name.upper()}`" in line
    ]
    description = Settings.model_fields[name].description

    assert description
    assert any(line.startswith("|") and description.rstrip(".") in line for line in lines)


def test_every_command_is_documented() -> None:
    text = "\n".join(path.read_text() for path in DOCS.glob("*.md"))
    commands = list(_commands())

    assert len(commands) >= 12
    assert [command for command in commands if f"`{command}" not in text] == []


def test_every_fault_of_a_bundle_is_documented() -> None:
    text = (DOCS / "audit.md").read_text()

    assert [fault for fault in (*BundleFault, *SignatureFault) if f"`{fault}`" not in text] == []


def test_every_fault_and_warning_is_documented() -> None:
    audit, cli = (DOCS / "audit.md").read_text(), (DOCS / "cli.md").read_text()

    assert [fault for fault in Fault if f"`{fault}`" not in audit] == []
    assert [warning for warning in KeyWarning if f"`{warning}`" not in cli] == []
