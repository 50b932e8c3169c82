"""The queries of one tenant's candidates and checks."""

from collections.abc import Sequence
from typing import Final

from sqlalchemy import bindparam
from sqlmodel import Session, col, func, select

from service.executions.acceptance.model import Candidate, Check, FailureKind, FoundEnvironment
from service.executions.acceptance.tables import CandidateRow, CheckRow
from service.executions.model import Execution
from service.executions.sealed import SealedText
from service.executions.sequences import last_number
from service.executions.tables import ExecutionRow

# Every checkpoint asks, and so it is built once.
_PASSED: Final = select(func.count(func.distinct(CheckRow.requirement))).where(
    col(CheckRow.tenant_id) == bindparam("tenant"),
    col(CheckRow.execution_id) == bindparam("execution"),
    col(CheckRow.passed),
)


class AcceptanceStore:
    """Reads and adds; visibility is decided by `ExecutionStore`, which hands out what stands here."""

    def __init__(self, session: Session, tenant_id: str, text: SealedText) -> None:
        self._session = session
        self._tenant_id = tenant_id
        self._text = text

    def add_candidate(self, candidate: Candidate) -> None:
        """Keep a submitted artifact's hash."""
        self._session.add(
            CandidateRow(
                tenant_id=self._tenant_id,
                id=candidate.id,
                execution_id=candidate.execution_id,
                sequence=candidate.sequence,
                artifact_hash=candidate.artifact_hash,
                inputs=dict(candidate.inputs),
                by=candidate.by,
                created_at=candidate.at,
            )
        )
        self._session.flush()

    def candidates(self, execution_id: str) -> Sequence[Candidate]:
        """Answer all candidates of the run; the last is the present one."""
        rows = self._session.exec(
            select(CandidateRow)
            .where(CandidateRow.tenant_id == self._tenant_id, CandidateRow.execution_id == execution_id)
            .order_by(col(CandidateRow.sequence))
        ).all()
        return [
            Candidate(
                row.id,
                row.execution_id,
                row.sequence,
                row.artifact_hash,
                row.inputs,
                row.by,
                row.created_at,
            )
            for row in rows
        ]

    def find_environment(self, execution_id: str) -> FoundEnvironment | None:
        """Answer what was found around the run when it was last resumed, `None` when nobody said."""
        row = self._session.get_one(ExecutionRow, (self._tenant_id, execution_id))
        if row.environment is None:
            return None
        values = self._text.open_object(row.environment, place=_environment_place(execution_id))
        return FoundEnvironment(values, row.environment_checks)

    def keep_environment(self, execution: Execution, found: FoundEnvironment) -> None:
        """Write down what was found around a run that is held."""
        row = self._session.get_one(ExecutionRow, (self._tenant_id, execution.id))
        row.environment = self._text.seal_json(
            dict(found.values), person=execution.person, place=_environment_place(execution.id)
        )
        row.environment_checks = found.checks
        self._session.add(row)
        self._session.flush()

    def next_check(self, execution_id: str) -> int:
        """Answer the number of the run's next check."""
        return 1 + last_number(self._session, CheckRow, self._tenant_id, execution_id)

    def add_check(self, check: Check, *, person: str | None) -> None:
        """Keep a verdict."""
        place = f"checks/{check.id}"
        self._session.add(
            CheckRow(
                tenant_id=self._tenant_id,
                id=check.id,
                execution_id=check.execution_id,
                sequence=check.sequence,
                requirement=check.requirement,
                passed=check.passed,
                artifact_hash=check.artifact_hash,
                contract_hash=check.contract_hash,
                grader_id=check.grader_id,
                grader_version=check.grader_version,
                environment=self._text.seal_json(
                    dict(check.environment), person=person, place=f"{place}/environment"
                ),
                output_ref=check.output_ref,
                expected=self._text.seal(check.expected, person=person, place=f"{place}/expected"),
                observed=self._text.seal(check.observed, person=person, place=f"{place}/observed"),
                reproduce=self._text.seal(check.reproduce, person=person, place=f"{place}/reproduce"),
                failure_kind=check.failure_kind,
                by=check.by,
                created_at=check.at,
            )
        )
        self._session.flush()

    def count_passed(self, execution_id: str) -> int:
        """Count the requirements that some check of some candidate found to hold."""
        key = {"tenant": self._tenant_id, "execution": execution_id}
        return int(self._session.connection().execute(_PASSED, key).scalar_one())

    def checks(self, execution_id: str) -> Sequence[Check]:
        """Answer all checks of the run in the order they were written."""
        rows = self._session.exec(
            select(CheckRow)
            .where(CheckRow.tenant_id == self._tenant_id, CheckRow.execution_id == execution_id)
            .order_by(col(CheckRow.sequence))
        ).all()
        return [self._check(row) for row in rows]

    def _check(self, row: CheckRow) -> Check:
        place = f"checks/{row.id}"
        return Check(
            id=row.id,
            execution_id=row.execution_id,
            sequence=row.sequence,
            requirement=row.requirement,
            passed=row.passed,
            artifact_hash=row.artifact_hash,
            contract_hash=row.contract_hash,
            grader_id=row.grader_id,
            grader_version=row.grader_version,
            environment=self._text.open_object(row.environment, place=f"{place}/environment"),
            output_ref=row.output_ref,
            expected=self._text.open(row.expected, place=f"{place}/expected"),
            observed=self._text.open(row.observed, place=f"{place}/observed"),
            reproduce=self._text.open(row.reproduce, place=f"{place}/reproduce"),
            failure_kind=None if row.failure_kind is None else FailureKind(row.failure_kind),
            by=row.by,
            at=row.created_at,
        )


def _environment_place(execution_id: str) -> str:
    return f"executions/{execution_id}/environment"
