"""A run walked at random, over HTTP, against a model that knows only what callers were told."""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, ClassVar

import pytest
from conftest import FixedClock
from executions_told import ARTIFACTS, ENDED, OPERATIONS, REQUIREMENTS, UNSETTLED, Told
from http_support import Site, open_site
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from test_executions_http import POLICIES

from service.core.database import Database
from service.migrations.migrate import migrate
from service.policies.read_folder import read_folder
from service.policies.seed import seed_bundle

FAILED = {
    "expected": "it works",
    "observed": "it does not",
    "reproduce": "try it",
    "failure_kind": "wrong_result",
}


class RunMachine(RuleBasedStateMachine):
    """Workers with and without a lease, a grader and an operator, at one run."""

    site: ClassVar[Site]
    agent: ClassVar[dict[str, str]]
    grader: ClassVar[dict[str, str]]
    operator: ClassVar[dict[str, str]]

    @initialize()
    def open(self) -> None:
        requirements = [{"id": one, "text": f"{one} works"} for one in REQUIREMENTS]
        body = {"project": "alpha", "objective": "Build it", "requirements": requirements}
        opened = self.site.client.post("/v1/executions", headers=self.agent, json=body)
        assert opened.status_code == 201
        self.path, self.hash = f"/v1/executions/{opened.json()['id']}", opened.json()["contract_hash"]
        self.told = Told()

    def call(self, method: str, path: str, who: dict[str, str], body: Any, **headers: str) -> Any:
        answer = self.site.client.request(method, f"{self.path}{path}", headers={**who, **headers}, json=body)
        assert answer.status_code < 500, answer.text
        return answer

    def work(self, method: str, path: str, body: Any, token: int | None, **headers: str) -> Any:
        """Write as a worker, and hold the refusal of a wrong token to what the model knows."""
        fenced = {} if token is None else {"Fencing-Token": str(token)}
        answer = self.call(method, path, self.agent, body, **fenced, **headers)
        told = self.told
        # What ends a run takes its worker's lease.
        lives = not told.ended and told.until is not None and self.site.clock() < told.until
        fits = token == told.token if lives else token in (None, told.highest or None)
        if not fits:
            assert answer.status_code == 409, answer.text
            assert answer.json()["code"] == ("execution_ended" if told.ended else "fencing_token_stale")
        elif told.ended and path != "/resume":
            assert answer.status_code in (409, 412), answer.text
        return answer

    @property
    def tokens(self) -> list[int | None]:
        return [None, self.told.highest, self.told.highest - 1, self.told.highest + 1]

    @rule(seconds=st.sampled_from([1, 60, 121]))
    def wait(self, seconds: int) -> None:
        self.site.clock.advance(seconds=seconds)  # type: ignore[attr-defined] - a clock of tests

    @rule(which=st.integers(0, 3), artifact=st.sampled_from([None, *ARTIFACTS]))
    def resume(self, which: int, artifact: str | None) -> None:
        token = self.tokens[which]
        fenced = {} if token is None else {"Fencing-Token": str(token)}
        body = {"contract_hash": self.hash, "artifact_hash": artifact}
        answer = self.call("POST", "/resume", self.agent, body, **fenced)
        assert answer.status_code == 200, answer.text
        resumed, told = answer.json(), self.told
        lives = told.until is not None and self.site.clock() < told.until
        self._check_decision(resumed["decision"], artifact)
        lease = resumed["lease"]
        if lease is not None:
            assert not lives or token == told.token
            assert lease["fencing_token"] == (told.token if lives else told.highest + 1)
            told.token = told.highest = lease["fencing_token"]
            told.mode, told.until = lease["mode"], self.site.clock()
            told.until = told.until.fromisoformat(lease["expires_at"])
        elif resumed["decision"] in ("completed", *(f"ended:{one}" for one in ENDED)):
            told.until = None
        if resumed["decision"] == "completed":
            assert told.is_met
            told.status = "completed"

    def _check_decision(self, decision: str, artifact: str | None) -> None:
        told = self.told
        unknown = [one for one, status in told.effects.items() if status in ("dispatched", "unknown")]
        escalated = [one for one, status in told.effects.items() if status == "escalated"]
        undone = [one for one in REQUIREMENTS if not told.passed.get((one, told.artifact or ""))]
        if told.ended:
            expected = f"ended:{told.status}"
        elif artifact != told.artifact:
            expected = "revalidate"
        elif unknown:
            expected = f"reconcile:{unknown[0]}"
        elif escalated:
            expected = f"escalated:{escalated[0]}"
        elif undone:
            expected = f"verify:{undone[0]}"
        else:
            expected = "continue:objective" if told.status == "failed" else "completed"
        assert decision.replace("escalate:", "verify:") == expected

    @rule(
        which=st.integers(0, 3),
        stale=st.booleans(),
        transition=st.sampled_from(["start", "advance", "wait", "fail", "retry", "finish"]),
    )
    def checkpoint(self, which: int, stale: bool, transition: str) -> None:
        version = self.told.version - stale
        body = {"transition": transition, "state": {"n": version}}
        answer = self.work("POST", "/checkpoints", body, self.tokens[which], **{"If-Match": f'"{version}"'})
        if answer.status_code == 201:
            assert not stale
            assert answer.json()["version"] == version + 1
            self.told.version, self.told.status = version + 1, answer.json()["status"]
            if self.told.status == "completed":
                assert self.told.is_met

    @rule(which=st.integers(0, 3), task=st.sampled_from(["read", "draft"]))
    def step(self, which: int, task: str) -> None:
        body = {"task_id": task, "exit_status": "completed"}
        answer = self.work("POST", "/steps", body, self.tokens[which])
        if answer.status_code in (200, 201):
            assert (answer.status_code == 201) == (answer.json()["id"] not in self.told.steps)
            self.told.steps = list(dict.fromkeys([*self.told.steps, answer.json()["id"]]))

    @rule(which=st.integers(0, 3), operation=st.sampled_from(OPERATIONS), sku=st.sampled_from("AB"))
    def intend(self, which: int, operation: str, sku: str) -> None:
        body = {"operation_id": operation, "kind": "orders.create", "request": {"sku": sku}}
        answer = self.work("POST", "/effects", body, self.tokens[which])
        if answer.status_code == 201:
            assert operation not in self.told.effects
            assert not self._recovering()
            self.told.effects[operation] = "intended"

    @rule(
        which=st.integers(0, 3),
        operation=st.sampled_from(OPERATIONS),
        status=st.sampled_from(["dispatched", "committed", "failed", "unknown"]),
    )
    def report(self, which: int, operation: str, status: str) -> None:
        before = self.told.effects.get(operation)
        answer = self.work("PATCH", f"/effects/{operation}", {"status": status}, self.tokens[which])
        if answer.status_code == 200:
            assert before is not None
            allowed = {
                "intended": {"dispatched", "failed"},
                "dispatched": {"committed", "failed", "unknown"},
                "absent": {"dispatched"},
            }
            assert status == before or status in allowed.get(before, set())
            assert not (self._recovering() and status == "dispatched" != before)
            self.told.effects[operation] = status

    @rule(
        operation=st.sampled_from(OPERATIONS),
        outcome=st.sampled_from(["committed", "absent", "undetermined"]),
    )
    def reconcile(self, operation: str, outcome: str) -> None:
        before = self.told.effects.get(operation)
        bare = self.call("POST", f"/effects/{operation}/reconcile", self.agent, {"outcome": outcome})
        answer = self.call("POST", f"/effects/{operation}/reconcile", self.operator, {"outcome": outcome})
        assert bare.status_code in (403, 404, 409) or bare.json()["status"] == before
        if answer.status_code == 200:
            assert before is not None
            assert before in UNSETTLED or before == answer.json()["status"]
            self.told.effects[operation] = answer.json()["status"]
            self._completed_by_record()

    @rule(which=st.integers(0, 3), artifact=st.sampled_from(ARTIFACTS))
    def submit(self, which: int, artifact: str) -> None:
        answer = self.work("POST", "/candidates", {"artifact_hash": artifact}, self.tokens[which])
        if answer.status_code in (200, 201):
            self.told.artifact = artifact

    @rule(
        requirement=st.sampled_from(REQUIREMENTS),
        present=st.sampled_from([True, True, False]),
        passed=st.sampled_from([True, True, False]),
    )
    def grade(self, requirement: str, present: bool, passed: bool) -> None:
        self._grade(requirement, (self.told.artifact if present else None) or ARTIFACTS[0], passed=passed)

    @rule(operation=st.sampled_from(OPERATIONS), artifact=st.sampled_from(ARTIFACTS))
    def work_as_a_worker_does(self, operation: str, artifact: str) -> None:
        """Do at once what chance would rarely do in this order."""
        which = 1 if self.told.highest else 0
        self.intend(which, operation, "A")
        self.report(which, operation, "dispatched")
        self.submit(which, artifact)
        for requirement in REQUIREMENTS:
            self._grade(requirement, artifact, passed=True)

    def _grade(self, requirement: str, artifact: str, *, passed: bool) -> None:
        body = {
            "requirement": requirement,
            "passed": passed,
            "artifact_hash": artifact,
            "contract_hash": self.hash,
            "grader": {"id": "browser", "version": "3"},
            **({} if passed else FAILED),
        }
        answer = self.call("POST", "/checks", self.grader, body)
        if answer.status_code == 201:
            assert not self.told.ended
            self.told.passed[(requirement, artifact)] = passed
            if answer.json()["execution_status"] == "completed":
                assert self.told.is_met
                self.told.status = "completed"

    @precondition(lambda self: self.told.version > 3)
    @rule()
    def cancel(self) -> None:
        version = {"If-Match": f'"{self.told.version}"'}
        answer = self.call("POST", "/cancel", self.operator, {"reason": "enough"}, **version)
        if answer.status_code == 200:
            assert not self.told.ended
            self.told.status, self.told.version, self.told.until = "cancelled", self.told.version + 1, None

    @invariant()
    def what_callers_were_told_is_so(self) -> None:
        if not hasattr(self, "told"):
            return
        shown = self.site.client.get(self.path, headers=self.agent).json()
        handoff = self.site.client.get(f"{self.path}/handoff", headers=self.agent).json()
        self.told.status = shown["status"] if self._may_complete(shown["status"]) else self.told.status
        assert (shown["version"], shown["status"]) == (self.told.version, self.told.status)
        assert {one["operation_id"]: one["status"] for one in handoff["effects"]} == self.told.effects
        assert handoff["artifact_hash"] == self.told.artifact
        assert len(self.site.client.get(f"{self.path}/log", headers=self.agent).text.splitlines()) == len(
            self.told.steps
        )

    def _recovering(self) -> bool:
        lives = self.told.until is not None and self.site.clock() < self.told.until
        return lives and self.told.mode == "recovery"

    def _completed_by_record(self) -> None:
        if self.told.is_met and self.told.status in ("open", "running"):
            shown = self.site.client.get(self.path, headers=self.agent).json()
            self.told.status = shown["status"]

    def _may_complete(self, status: str) -> bool:
        return status == "completed" and self.told.is_met


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory(dir=tmp_path)))
        database = Database(f"sqlite:///{folder / 'record.db'}")
        stack.callback(database.close)
        migrate(database)
        yield stack.enter_context(
            open_site(database, folder / "data", FixedClock(), requests_per_minute=10**9)
        )


def test_a_run_is_what_its_callers_were_told(site: Site) -> None:
    RunMachine.site = site
    RunMachine.agent = site.headers("agent", subject="agent-1", on_behalf_of="user-1")
    RunMachine.grader = site.headers("grader", subject="grader-1")
    RunMachine.operator = site.headers("operator", subject="operator-1")
    files = dict(read_folder(POLICIES))
    files["stopping.yaml"] = (
        files["stopping.yaml"].replace("always", "never").replace("agent_written", "never")
    )
    with site.runtime.database.write(site.tenants["acme"]) as session:
        seed_bundle(session, site.tenants["acme"], read_folder(POLICIES), now=site.clock())

    RunMachine.TestCase.settings = settings(
        max_examples=12,
        stateful_step_count=30,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    RunMachine.TestCase().runTest()
