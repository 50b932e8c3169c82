"""Reading a run as its own worker would: what holds must not depend on who happens to look."""

from dataclasses import replace

from service.executions.model import Execution
from service.identity.matrix import scopes_of
from service.identity.model import Caller, Role
from service.identity.store import IdentityStore
from service.identity.unit import Unit


def in_place_of_worker(execution: Execution, unit: Unit) -> Unit:
    """Answer a unit that reads as the run's acting user does, through the agent that opened it if one did.

    Rights are read now: what a membership that has ended showed is not there. It is for reading only, since
    nobody is asking.
    """
    agent = execution.agent
    on_behalf_of = None if agent in (None, execution.acting_user) else execution.acting_user
    subjects = (execution.acting_user,) if on_behalf_of is None else (str(agent), on_behalf_of)
    role = Role.USER if agent is None else Role.AGENT
    worker = Caller(
        tenant_id=unit.tenant_id,
        credential_id="",
        role=role,
        subject=subjects[0],
        on_behalf_of=on_behalf_of,
        projects=IdentityStore.of(unit).projects_of(subjects, project_id=None),
        scopes=scopes_of(role, delegated=on_behalf_of is not None),
    )
    return replace(unit, caller=worker)
