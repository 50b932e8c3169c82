"""Runs and memories with everything that a bundle tells of, and bundles checked as others check them."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from memories_world import MemoryWorld

from service.core.signing import pem_of
from service.governance.bundle_check import Checked, check_bundle

SECRET = "Prefers concise explanations"


class Evidence:
    """A world of memories, with a run that did something and a memory that was used."""

    def __init__(self, world: MemoryWorld) -> None:
        self.world = world
        world.consent()
        self.run = self._run()
        self.memory = str(world.propose(self._turn())["memory"]["id"])
        body = {
            "project": "alpha",
            "execution_id": self.run,
            "purpose": "personalisation",
            "query": "how should replies be written?",
            "encoding": "o200k_base",
            "max_tokens": 4_000,
            "profile": "default",
            "render": "markdown",
        }
        self.package = world.call("POST", "/context-packages", world.agent, body, expect=201)["id"]

    @property
    def auditor(self) -> dict[str, str]:
        return self.world.of("auditor", "auditor-1")

    @property
    def key(self) -> bytes:
        return self.world.site.runtime.witness.signer.public_key

    def take(self, kind: str, item_id: str, who: dict[str, str] | None = None) -> bytes:
        response = self.world.site.client.get(f"/v1/{kind}/{item_id}/bundle", headers=who or self.auditor)
        assert response.status_code == 200, response.text
        return response.content

    def check(self, content: bytes) -> Checked:
        return check_bundle(content, trusted=self.key)

    def _run(self) -> str:
        world = self.world
        requirements = [{"id": "login", "text": "Secret login words"}]
        opened = {"project": "alpha", "objective": "Secret objective", "requirements": requirements}
        run = str(world.call("POST", "/executions", world.agent, opened, expect=201)["id"])
        effect = {"operation_id": "order-8", "kind": "orders.create", "request": {"sku": "Secret sku"}}
        world.call("POST", f"/executions/{run}/effects", world.agent, effect, expect=201)
        asked = {"command": {"kind": "mail.send", "to": "Secret address"}}
        world.call("POST", f"/executions/{run}/approvals", world.agent, asked, expect=201)
        return run

    def _turn(self) -> str:
        path, turn = f"/executions/{self.run}/turns", {"role": "user", "text": "Please keep it short."}
        return str(self.world.call("POST", path, self.world.agent, turn, expect=201)["id"])


def verify_apart(folder: Path, content: bytes, *, key: bytes | None) -> tuple[int, dict[str, Any]]:
    """Verify as somebody does who has neither service nor settings: a process with an empty environment."""
    file = folder / "bundle.json"
    file.write_bytes(content)
    command = [sys.executable, "-I", "-m", "service.entry.cli", "bundle", "verify", str(file), "--json"]
    if key is not None:
        (folder / "key.pem").write_text(pem_of(key))
        command += ["--key", str(folder / "key.pem")]
    command[1:2] = ["-I", "-c", _APART, os.fspath(Path(__file__).parents[1])]
    done = subprocess.run(command, env={}, cwd=folder, capture_output=True, text=True, check=False)
    assert done.stdout, done.stderr
    return done.returncode, json.loads(done.stdout)


# `-I` leaves the folder of the code out of the path: it is named to the process, and nothing else is.
_APART = (
    "import sys; sys.path.insert(0, sys.argv[1]); from service.entry.cli import main;"
    "code = main(sys.argv[4:]); names = ('sqlalchemy', 'fastapi', 'service.settings', 'service.wiring');"
    "assert not [name for name in names if name in sys.modules]; sys.exit(code)"
)
