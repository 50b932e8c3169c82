"""The worked example, from nothing to two printed packages, as a newcomer runs it."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def printed() -> str:
    finished = subprocess.run(
        [sys.executable, "-m", "service.entry.cli", "demo"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=110,
        check=False,
    )
    assert finished.returncode == 0, finished.stderr[-2_000:]
    return finished.stdout


def test_what_the_person_said_is_kept_and_what_was_planted_is_not(printed: str) -> None:
    decisions = re.findall(r"^ +(approved|denied) +(\S.*)$", printed, re.MULTILINE)

    assert [decision for decision, _ in decisions] == ["approved", "denied"]
    assert "trust_too_low" in printed


def test_the_package_sets_the_register_above_what_the_assistant_said(printed: str) -> None:
    cited = re.findall(r"^(E\d)\s+(\S+)", printed, re.MULTILINE)

    assert "Plot 18 now has approval" in printed
    assert "claim" in printed
    assert cited[0] == ("E1", "register://plots/18")
    assert "permits.issue" in printed
    assert re.search(r"permits\.issue\s+recovery", printed)


def test_it_shows_where_the_tokens_went_and_what_is_left_to_do(printed: str) -> None:
    for word in ("instructions", "evidence", "memories", "left out", "citations", "█"):
        assert word in printed
    assert "seed-order-8" in printed
    assert "outcome unknown" in printed


def test_fresh_sessions_are_told_what_to_do_first(printed: str) -> None:
    resumed = re.findall(r"^(\S+) +(?:an artifact|the artifact|the same)", printed, re.MULTILINE)

    assert resumed == ["revalidate", "reconcile:seed-order-8", "continue:orders"]


def test_nothing_is_left_running(printed: str) -> None:
    assert printed
    running = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True).stdout

    assert "muniment-demo" not in running
