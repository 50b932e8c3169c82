"""Stopping the runs of users who lose access to a project."""

from collections.abc import Sequence

from service.core.outbox import Message
from service.executions.review import review_runs_of
from service.jobs.system_unit import SystemUnits


class ReviewExecutions:
    """Handles messages of ended memberships, up to a page of runs in each transaction."""

    def __init__(self, units: SystemUnits) -> None:
        self._units = units

    def __call__(self, tenant_id: str, messages: Sequence[Message]) -> None:
        """Stop every run that the former member has in the project, unless they are a member again."""
        for message in messages:
            subject, project_id = message.payload["subject"], message.payload["project_id"]
            after_id: str | None = None
            while True:
                with self._units.write(tenant_id) as unit:
                    after_id = review_runs_of(subject, project_id, unit=unit, after_id=after_id)
                if after_id is None:
                    break
