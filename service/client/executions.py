"""The calls of runs that a worker in a folder needs: find one, read its handoff and log, write a line."""

from collections.abc import Sequence
from dataclasses import dataclass

from service.client.connection import JSON, Connection, as_json, given, idempotent
from service.wire.executions import ExecutionListed, ExecutionPage
from service.wire.work import LogStep, StepAnswer


@dataclass(frozen=True, slots=True)
class LogPage:
    """Lines of a log as the service wrote them, without line breaks; `more` says that others follow."""

    lines: Sequence[str]
    more: bool


class ExecutionCalls(Connection):
    """Read and write runs. `fencing_token` is that of the run's lease, while one lives."""

    def find_execution(self, project: str, external_ref: str) -> ExecutionListed | None:
        """Answer the project's run of that external reference, or `None`."""
        params = given(project=project, external_ref=external_ref, limit=1)
        page = self._call("GET", "/executions", ExecutionPage, params=params)
        return page.items[0] if page.items else None

    def read_log(self, execution_id: str, *, after: str | None = None) -> LogPage:
        """Read the log from its beginning, or from behind the line of the id `after`."""
        response = self._send("GET", f"/executions/{execution_id}/log", params=given(after=after))
        lines = [line for line in response.content.decode().split("\n") if line]
        return LogPage(lines, more="next" in response.links)

    def read_next_steps(self, execution_id: str) -> str:
        """Read the handoff in words: one paragraph."""
        path = f"/executions/{execution_id}/handoff"
        return self._send("GET", path, headers={"Accept": "text/plain"}).content.decode()

    def log_step(
        self,
        execution_id: str,
        new: LogStep,
        *,
        idempotency_key: str | None = None,
        fencing_token: int | None = None,
    ) -> StepAnswer:
        """Write one line of the log; what was completed on the same inputs before answers that first line."""
        headers = JSON | idempotent(idempotency_key)
        if fencing_token is not None:
            headers |= {"Fencing-Token": str(fencing_token)}
        path = f"/executions/{execution_id}/steps"
        return self._call("POST", path, StepAnswer, content=as_json(new), headers=headers)
