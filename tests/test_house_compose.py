"""Running it in containers: settings exist, neighbours say when they are healthy, Docker reads it."""

import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from service.settings import Settings

ROOT = Path(__file__).parents[1]
SETTINGS = {f"MUNIMENT_{name.upper()}" for name in Settings.model_fields}
SECRETS = {"POSTGRES_PASSWORD": "made-up", "MUNIMENT_MASTER_KEY": "bWFkZS11cA=="}


def _services() -> dict[str, dict[str, Any]]:
    services: dict[str, dict[str, Any]] = YAML(typ="safe").load(ROOT / "compose.yaml")["services"]
    return services


def test_only_settings_that_exist_are_set() -> None:
    named = set(re.findall(r"MUNIMENT_[A-Z_]+", (ROOT / "Dockerfile").read_text()))
    named |= set(re.findall(r"MUNIMENT_[A-Z_]+", (ROOT / "compose.yaml").read_text()))

    assert len(named) >= 5
    assert named - SETTINGS == set()


def test_the_service_waits_for_healthy_neighbours_and_says_when_it_is_healthy() -> None:
    services = _services()
    service = services.pop("service")

    assert service["depends_on"] == {name: {"condition": "service_healthy"} for name in services}
    assert [name for name, other in services.items() if "healthcheck" not in other] == []
    assert "HEALTHCHECK" in (ROOT / "Dockerfile").read_text()


def _compose(*arguments: str) -> subprocess.CompletedProcess[str]:
    docker = shutil.which("docker") or "docker"
    command = [docker, "compose", *arguments]
    environment = {"PATH": os.defpath, **SECRETS}
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)


def test_docker_reads_the_composition() -> None:
    if shutil.which("docker") is None or _compose("version").returncode != 0:
        pytest.skip("no docker compose here: it validates compose.yaml where it is installed")

    finished = _compose("config", "--quiet")

    assert finished.returncode == 0, finished.stderr[-2_000:]
