"""How the requirements of one run stand, read from its record."""

from collections.abc import Sequence

from service.executions.acceptance.model import RequirementStanding
from service.executions.acceptance.rules import stand
from service.executions.store import ExecutionStore
from service.identity.unit import Unit
from service.policies.model import Bundle


def read_standings(execution_id: str, *, unit: Unit, bundle: Bundle) -> Sequence[RequirementStanding]:
    """Answer how each requirement stands now. Raises `NotFound` for a run that the caller may not read.

    The answer is the same for everyone who may read the run, also for those who read it without its texts.
    """
    store = ExecutionStore.deciding(unit)
    return stand(
        store.get(execution_id),
        candidates=store.candidates(execution_id),
        checks=store.checks(execution_id),
        environment=store.acceptance.find_environment(execution_id),
        stopping=bundle.stopping,
    )
