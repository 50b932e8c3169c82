"""Memory libraries in a process of their own, which measure their own calls: the pipe is not part of them."""

import json
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from service.entry.demo.local_service import environment_of

_SILENT: Final = {"MEM0_TELEMETRY": "False", "OPENAI_API_KEY": "never-sent"}
"""Nothing is reported; a client of a language model is built that is never asked."""
_PEER: Final = Path(__file__).with_name("memory_peer.py")


@dataclass
class MemorySide:
    """One library."""

    process: subprocess.Popen[str]

    def load(self, owner: str, given: Path) -> None:
        """Hand it texts and their vectors, in `given` with the endings `.json` and `.npy`."""
        self._ask({"owner": owner, "load": str(given)})

    def search(self, owner: str, query: str, vector: Sequence[float]) -> float:
        """Search; answer the seconds. Raises when nothing was found: the comparison would mean nothing."""
        answer = self._ask({"owner": owner, "query": query, "vector": [float(value) for value in vector]})
        if not answer["found"]:
            raise RuntimeError("a peer found nothing: the comparison would mean nothing")
        return float(answer["seconds"])

    def _ask(self, line: dict[str, Any]) -> dict[str, Any]:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps(line) + "\n")
        self.process.stdin.flush()
        answer: dict[str, Any] = json.loads(self.process.stdout.readline())
        return answer


@contextmanager
def memory_side(folder: Path, peer: Path, name: str) -> Iterator[MemorySide]:
    """Start the library `name` in the environment whose interpreter `peer` is."""
    folder.mkdir(parents=True)
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(  # noqa: S603 - our own script in an environment that make built
            [peer, "-I", _PEER, name, folder],
            env={**environment_of(folder, folder), **_SILENT, "MEM0_DIR": str(folder)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
        )
        try:
            yield MemorySide(process)
        finally:
            process.communicate()
