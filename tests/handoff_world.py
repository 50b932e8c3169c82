"""A served run and an empty folder: what tests of `muniment handoff` stand on."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import httpx
import pytest
from conftest import FixedClock, sqlite_record
from evidence_site import open_evidence_site
from http_support import Site, listening

from service.core.hashing import hash_text
from service.entry.cli import main

START: Final = "from service.entry.cli import main; import sys; sys.exit(main(sys.argv[1:]))"
HASH: Final = hash_text("build 17")


@dataclass
class Desk:
    """A run on a service that listens, and a folder for it. Each method is one call or one command."""

    site: Site
    url: str
    token: str
    run: str
    folder: Path
    capture: pytest.CaptureFixture[str]

    def step(self, task: str, status: str = "started", **fields: Any) -> dict[str, Any]:
        """Write a line on the service, as another worker would."""
        answer = httpx.post(
            f"{self.url}/v1/executions/{self.run}/steps",
            headers={"Authorization": f"Bearer {self.token}"},
            json={"task_id": task, "exit_status": status, **fields},
        )
        return dict(answer.raise_for_status().json())

    def log(self) -> list[dict[str, Any]]:
        """Read the service's log."""
        answer = httpx.get(
            f"{self.url}/v1/executions/{self.run}/log", headers={"Authorization": f"Bearer {self.token}"}
        )
        return [json.loads(line) for line in answer.raise_for_status().text.splitlines()]

    def words(self, *words: str, url: str | None = None) -> list[str]:
        """Answer a command's words, with where the service is and the folder."""
        return ["handoff", *words, "--url", url or self.url, "--token", self.token, "--dir", str(self.folder)]

    def handoff(self, *words: str, code: int = 0, url: str | None = None) -> dict[str, Any]:
        """Run a command in this process with `--json`, expect an exit code, answer what it answered."""
        self.capture.readouterr()
        found = main([*self.words(*words, url=url), "--json"])
        output, errors = self.capture.readouterr()
        assert found == code, (output, errors)
        # The service runs in this process and logs to the same output, before the answer or after it.
        start = output.find("{\n")
        return dict(json.JSONDecoder().raw_decode(output, start)[0]) if start >= 0 else {"said": errors}

    def pull(self, *words: str, code: int = 0) -> dict[str, Any]:
        """Pull the run."""
        return self.handoff("pull", "--execution", self.run, *words, code=code)

    def push(self, *words: str, code: int = 0) -> dict[str, Any]:
        """Push what was written in the folder."""
        return self.handoff("push", "--execution", self.run, *words, code=code)

    def process(self, *words: str, points: Mapping[str, str] | None = None) -> "subprocess.Popen[str]":
        """Start a command in a process of its own, with fail points."""
        environment = dict(os.environ)  # noqa: TID251 - the process's own
        if points:
            environment |= {
                "MUNIMENT_FAILPOINTS": json.dumps(points),
                "MUNIMENT_FAILPOINTS_ALLOWED": "true",
            }
        return subprocess.Popen(
            [sys.executable, "-c", START, *self.words(*words)],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def write(self, *lines: Mapping[str, Any] | str) -> None:
        """Append lines to the folder's log, as an agent without the network does."""
        self.folder.mkdir(exist_ok=True)
        with self.log_path.open("a") as file:
            for line in lines:
                file.write(line if isinstance(line, str) else json.dumps(line) + "\n")

    @property
    def log_path(self) -> Path:
        """Where the folder's log is."""
        return self.folder / "execution.jsonl"

    @property
    def kept(self) -> Sequence[dict[str, Any]]:
        """The lines of the folder's log."""
        return [json.loads(line) for line in self.log_path.read_text().splitlines()]

    @property
    def tasks(self) -> list[str]:
        """The task of each line on the service."""
        return [line["task_id"] for line in self.log()]


def line(task: str, status: str = "started", **fields: Any) -> dict[str, Any]:
    """Make a line as an agent writes one."""
    return {"task_id": task, "exit_status": status, **fields}


@contextmanager
def open_desk(folder: Path, clock: FixedClock, capture: pytest.CaptureFixture[str]) -> Iterator[Desk]:
    """Open a service with one run, which listens, and name an empty folder."""
    database = sqlite_record(folder / "record.db")
    with open_evidence_site(database, folder / "data", clock) as site, listening(site) as url:
        token = site.token("agent", subject="agent-1", on_behalf_of="user-1")
        opening = {"project": "alpha", "external_ref": "order-app-42", "objective": "Build the order app"}
        answer = httpx.post(
            f"{url}/v1/executions", headers={"Authorization": f"Bearer {token}"}, json=opening
        )
        yield Desk(site, url, token, answer.raise_for_status().json()["id"], folder / "here", capture)
    database.close()
