"""What one caller may read of the tenant's runs: the one place that decides it."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Self

from sqlmodel import Session

from service.core.cipher import Cipher
from service.core.errors import NotFound
from service.core.ids import is_id
from service.core.paging import Page, PageRequest
from service.executions.acceptance.model import Candidate, Check, CheckRequest
from service.executions.acceptance.store import AcceptanceStore
from service.executions.acceptance.store_requests import CheckRequestStore
from service.executions.approvals.model import Approval, ApprovalStatus
from service.executions.approvals.store import ApprovalStore
from service.executions.conversation.model import Pin, Summary, Turn
from service.executions.conversation.store import ConversationStore
from service.executions.leases.store import LeaseStore
from service.executions.ledger.model import Effect, Observation
from service.executions.ledger.store import LedgerStore
from service.executions.model import STATE_SCHEMA_VERSION, STEPS_MAX, Execution, PinnedSource, Status
from service.executions.refusals import SchemaNewer
from service.executions.rules import CAN_EXPIRE
from service.executions.sealed import SealedText
from service.executions.store_interventions import InterventionStore
from service.executions.store_runs import RunStore
from service.executions.work.model import Step, Task
from service.executions.work.rules import derive_tasks
from service.executions.work.store import WorkStore
from service.identity.matrix import EXECUTIONS_READ, EXECUTIONS_READ_REDACTED
from service.identity.model import Caller
from service.identity.unit import Unit


class ExecutionStore:
    """Reads runs as one caller: those of the caller's projects, everything else is `NotFound`.

    A caller that may only read redacted runs gets every text as `None`. The parts (`runs`, `conversation`,
    `work`, `ledger`, `acceptance`) decide nothing themselves: verbs use them for a run that they have locked.
    """

    def __init__(
        self,
        session: Session,
        tenant_id: str,
        *,
        caller: Caller,
        cipher: Cipher,
        now: datetime,
        deciding: bool = False,
    ) -> None:
        redacted = EXECUTIONS_READ_REDACTED in caller.scopes and EXECUTIONS_READ not in caller.scopes
        text = SealedText(cipher, redacted=redacted and not deciding)
        self._caller = caller
        self._now = now
        self._readable: set[str] = set()
        self.runs = RunStore(session, tenant_id, text, now=now)
        self.conversation = ConversationStore(session, tenant_id, text)
        self.work = WorkStore(session, tenant_id, text)
        self.approvals = ApprovalStore(session, tenant_id, cipher, caller=caller, now=now)
        self.ledger = LedgerStore(session, tenant_id, text)
        self.acceptance = AcceptanceStore(session, tenant_id, text)
        self.check_requests = CheckRequestStore(session, tenant_id)
        self.leases = LeaseStore(session, tenant_id)
        self.interventions = InterventionStore(session, tenant_id, text)

    @classmethod
    def of(cls, unit: Unit) -> Self:
        """Answer the store of a unit of work."""
        return cls(unit.session, unit.tenant_id, caller=unit.caller, cipher=unit.cipher, now=unit.now)

    @classmethod
    def deciding(cls, unit: Unit) -> Self:
        """Answer a store that reads texts for what is decided by them: nothing that it answers is shown.

        Whether a contract is met must not depend on how much of it the caller may read.
        """
        return cls(
            unit.session,
            unit.tenant_id,
            caller=unit.caller,
            cipher=unit.cipher,
            now=unit.now,
            deciding=True,
        )

    def get(self, execution_id: str, *, lock: bool = False) -> Execution:
        """Answer the run.

        Raises `NotFound` for one that the caller may not read, and `SchemaNewer` for one that a newer release
        has written: an older process leaves it alone.
        """
        found = self.runs.find(execution_id, lock=lock) if is_id(execution_id) else None
        if found is None or found.project_id not in self._caller.project_ids:
            raise NotFound
        if found.schema_version > STATE_SCHEMA_VERSION:
            raise SchemaNewer
        self._readable.add(found.id)
        return found

    def find_readable(self, execution_id: str) -> Execution | None:
        """Answer the run, or `None` for one that the caller may not read."""
        try:
            return self.get(execution_id)
        except NotFound:
            return None

    def page(
        self,
        request: PageRequest,
        *,
        project_id: str | None = None,
        status: Status | None = None,
        external_ref: str | None = None,
    ) -> Page[Execution]:
        """Answer a page of the runs that the caller may read, newest first."""
        mine = self._caller.project_ids
        rows = self.runs.list_newest(
            sorted(mine if project_id is None else mine & {project_id}),
            limit=request.limit + 1,
            before_id=None if request.after is None else str(request.after[0]),
            status=status,
            external_ref=external_ref,
        )
        return request.page(rows, [(row.id,) for row in rows])

    def page_check_requests(
        self, request: PageRequest, *, execution_id: str | None = None, requirement: str | None = None
    ) -> Page[tuple[CheckRequest, Execution]]:
        """Answer a page of the open requests for checks of readable runs, oldest first, each with its run."""
        found = self.check_requests.list_oldest(
            sorted(self._caller.project_ids),
            statuses=sorted(CAN_EXPIRE),
            now=self._now,
            limit=request.limit + 1,
            after_id=None if request.after is None else str(request.after[0]),
            execution_id=execution_id,
            requirement=requirement,
        )
        runs = {run.id: run for run in self.runs.find_all({one.execution_id for one in found})}
        return request.page([(one, runs[one.execution_id]) for one in found], [(one.id,) for one in found])

    def latest_state(self, execution_id: str) -> Mapping[str, Any]:
        """Answer the working state of the newest checkpoint that gave one; empty when none did."""
        found = self.runs.latest_checkpoint_with_state(self._known(execution_id))
        return {} if found is None or found.state is None else found.state

    def latest_sources(self, execution_id: str) -> Sequence[PinnedSource]:
        """Answer what the working state was derived from, as it stood then."""
        found = self.runs.latest_checkpoint_with_state(self._known(execution_id))
        return () if found is None else found.sources

    def turns(self, execution_id: str, *, last: int) -> Sequence[Turn]:
        """Answer up to `last` newest turns, in their order."""
        return self.conversation.turns(self._known(execution_id), last=last)

    def pins(self, execution_id: str) -> Sequence[Pin]:
        """Answer all pins in the order they were set, resolved ones too."""
        return self.conversation.pins(self._known(execution_id))

    def latest_summary(self, execution_id: str) -> Summary | None:
        """Answer the newest summary, or `None`."""
        return self.conversation.latest_summary(self._known(execution_id))

    def observations(self, execution_id: str, *, last: int) -> Sequence[Observation]:
        """Answer up to `last` newest observations, in their order."""
        return self.ledger.observations(self._known(execution_id), last=last)

    def effects(self, execution_id: str) -> Sequence[Effect]:
        """Answer all effects in the order they were intended."""
        return self.ledger.effects(self._known(execution_id))

    def steps(self, execution_id: str, *, last: int = STEPS_MAX) -> Sequence[Step]:
        """Answer up to `last` newest lines of the log, in their order."""
        return self.work.steps(self._known(execution_id), last=last)

    def steps_after(self, execution_id: str, step_id: str | None, *, count: int) -> Sequence[Step] | None:
        """Answer up to `count` lines after one of the run's lines (`None`: from the first), oldest first.

        Answers `None` when the run has no such line.
        """
        return self.work.steps_after(self._known(execution_id), step_id, count=count)

    def tasks(self, execution_id: str) -> Sequence[Task]:
        """Answer the declared tasks in their order, each with its standing derived from the log."""
        known = self._known(execution_id)
        declared = self.work.declared(known)
        return derive_tasks(declared, self.work.outline(known)) if declared else []

    def candidates(self, execution_id: str) -> Sequence[Candidate]:
        """Answer all candidates; the last is the present one."""
        return self.acceptance.candidates(self._known(execution_id))

    def checks(self, execution_id: str) -> Sequence[Check]:
        """Answer all checks in the order they were written."""
        return self.acceptance.checks(self._known(execution_id))

    def approvals_of(self, execution_id: str) -> Sequence[Approval]:
        """Answer all approvals in the order they were asked for, without their texts."""
        return self.approvals.of_run(self._known(execution_id))

    def page_approvals(
        self, request: PageRequest, *, status: ApprovalStatus | None = None
    ) -> Page[tuple[Approval, str]]:
        """Answer a page of the approvals of readable runs, newest first, each with its project's id."""
        found = self.approvals.list_newest(
            sorted(self._caller.project_ids),
            limit=request.limit + 1,
            before_id=None if request.after is None else str(request.after[0]),
            status=status,
        )
        return request.page(found, [(approval.id,) for approval, _ in found])

    def find_approval(self, approval_id: str) -> Approval | None:
        """Answer an approval of any run that the caller may read, or `None`."""
        found = self.approvals.find(approval_id) if is_id(approval_id) else None
        return found if found is not None and self._may_read(found.execution_id) else None

    def lock_approval(self, approval_id: str) -> tuple[Approval, Execution]:
        """Answer an approval with its run, locked: what is then read is what stands until this commits.

        Raises `NotFound` for one that the caller may not read.
        """
        found = self.find_approval(approval_id)
        if found is None:
            raise NotFound
        execution = self.get(found.execution_id, lock=True)
        approval = self.approvals.find(approval_id)
        assert approval is not None, "no approval is ever removed"
        return approval, execution

    def find_turn(self, turn_id: str) -> Turn | None:
        """Answer a turn of any run that the caller may read, or `None`."""
        found = self.conversation.find_turn(turn_id) if is_id(turn_id) else None
        return found if found is not None and self._may_read(found.execution_id) else None

    def find_observation(self, observation_id: str) -> Observation | None:
        """Answer an observation of any run that the caller may read, or `None`."""
        found = self.ledger.find_observation(observation_id) if is_id(observation_id) else None
        return found if found is not None and self._may_read(found.execution_id) else None

    def find_summary(self, summary_id: str) -> Summary | None:
        """Answer a summary of any run that the caller may read, or `None`."""
        found = self.conversation.summary_by_id(summary_id) if is_id(summary_id) else None
        return found if found is not None and self._may_read(found.execution_id) else None

    def _known(self, execution_id: str) -> str:
        if execution_id not in self._readable:
            self.get(execution_id)
        return execution_id

    def _may_read(self, execution_id: str) -> bool:
        return execution_id in self._readable or self.find_readable(execution_id) is not None
