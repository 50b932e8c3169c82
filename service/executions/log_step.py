"""Writing one line of the execution log."""

from service.audit.model import Action
from service.audit.record import record
from service.executions.complete import complete_if_met
from service.executions.hold import hold, refuse_full
from service.executions.keep import keeps_text
from service.executions.model import STEPS_MAX
from service.executions.ports import ReferencesOf
from service.executions.refusals import OutputsMissing
from service.executions.store import ExecutionStore
from service.executions.work.model import ExitStatus, NewStep, Step
from service.executions.work.rules import completed_key, missing_outputs
from service.identity.unit import Unit
from service.policies.model import Bundle


def log_step(
    execution_id: str, new: NewStep, *, unit: Unit, bundle: Bundle, references: ReferencesOf
) -> tuple[Step, bool]:
    """Append a line and answer it with `True`; or the first entry with `False`.

    The first entry is answered when this task was completed on these inputs before: the work stands, whatever
    is reported about it now. A completion that was the last thing to do completes the run. Raises
    `OutputsMissing` for one without all declared outputs.
    """
    store = ExecutionStore.of(unit)
    execution = hold(store, execution_id, unit=unit)
    key = completed_key(new.task_id, new.inputs)
    first = store.work.find_completed(execution_id, key)
    if first is not None:
        return first, False
    missing = missing_outputs(store.work.find_declared(execution_id, new.task_id), new)
    if missing:
        raise OutputsMissing(pointer="/outputs", missing=list(missing))
    sequence = store.work.next_sequence(execution_id)
    refuse_full(sequence - 1, STEPS_MAX)
    step = Step(
        id=unit.ids(),
        execution_id=execution.id,
        sequence=sequence,
        task_id=new.task_id,
        exit_status=new.exit_status,
        inputs=new.inputs,
        outputs=new.outputs,
        summary=new.summary if keeps_text(execution, bundle) else None,
        at=unit.now,
    )
    store.work.add_step(
        step,
        completed_key=key if new.exit_status is ExitStatus.COMPLETED else None,
        by=unit.caller.subject,
        person=execution.person,
    )
    record(
        unit,
        Action.STEP_LOGGED,
        kind="execution",
        ref=execution.id,
        step=step.id,
        exit_status=step.exit_status.value,
    )
    if step.exit_status is ExitStatus.COMPLETED:
        complete_if_met(store, execution, unit=unit, bundle=bundle, references=references)
    return step, True
