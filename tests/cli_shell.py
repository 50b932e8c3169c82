"""A shell for tests of commands: runs them in this process, and answers what they print."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from service.core.database import Database
from service.entry.cli import main


@dataclass
class Shell:
    """Runs commands in this process, in an empty data folder."""

    capture: pytest.CaptureFixture[str]
    folder: Path

    def run(self, *words: str, code: int = 0) -> tuple[str, str]:
        """Run a command, expect an exit code, answer both outputs."""
        found = main(words)
        output, errors = self.capture.readouterr()
        assert found == code, (output, errors)
        return output, errors

    def json(self, *words: str, code: int = 0) -> Any:
        """Run a command with `--json` and read its answer."""
        return json.loads(self.run(*words, "--json", code=code)[0])

    @property
    def database(self) -> Database:
        """The record that the commands wrote."""
        return Database(f"sqlite:///{self.folder / 'muniment.db'}")
