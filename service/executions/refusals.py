"""What is refused around runs, each with its stable code."""

from service.core.errors import Conflict, Forbidden, Invalid, Unavailable


class ExternalRefTaken(Conflict):
    """The project has a run of that external reference; `execution_id` names it."""

    code = "external_ref_taken"
    title = "The project has a run with this external reference"


class ActingUserDiffers(Invalid):
    """`acting_user` was given and is not the credential's subject."""

    code = "acting_user_differs"
    title = "The acting user is the credential's subject"


class RetentionClassUnknown(Invalid):
    """The policy has no such retention class."""

    code = "retention_class_unknown"
    title = "The policy has no such retention class"


class ActingUserOnly(Forbidden):
    """Only the run's acting user, or an agent for that user, writes to a run."""

    code = "acting_user_only"
    title = "Only the run's acting user may write to it"


class ExecutionEnded(Conflict):
    """The run is ended and immutable; `status` says how."""

    code = "execution_ended"
    title = "The run is ended"


class AccessGone(Forbidden):
    """The run's acting user may no longer enter its project: people look at it before anybody goes on."""

    code = "acting_user_access_gone"
    title = "The run's acting user may no longer enter its project"


class ReviewRequired(Forbidden):
    """The run waits for an operator to look at it."""

    code = "review_required"
    title = "The run waits for a person to look at it"


class SchemaNewer(Unavailable):
    """A newer release has written to this run; this process is older and leaves it alone."""

    code = "schema_newer"
    title = "A newer release has written to this run"


class RunFull(Conflict):
    """The run holds as many entries of this kind as one run may."""

    code = "run_full"
    title = "The run holds as many of these as it may"


class TransitionRefused(Conflict):
    """The run's status does not allow this transition."""

    code = "transition_refused"
    title = "The run's status does not allow this transition"


class StepBackwards(Conflict):
    """The step would be lower than the run's present one."""

    code = "step_backwards"
    title = "A step never goes backwards"


class BudgetExhausted(Conflict):
    """The run is past its budget: only `wait` and `fail` are left."""

    code = "budget_exhausted"
    title = "The run is past its budget"


class CostTooLarge(Invalid):
    """The run's cost would be more than can be counted."""

    code = "cost_too_large"
    title = "The cost is more than can be counted"


class EffectUnknown(Conflict):
    """The run waits for a reconciliation, and an effect's outcome is still unknown."""

    code = "effect_unknown"
    title = "An effect's outcome is unknown"


class StateTooLarge(Invalid):
    """The working state is larger than one checkpoint takes."""

    code = "state_too_large"
    title = "The working state is too large"


class TaskRemovalRefused(Forbidden):
    """An agent may add tasks and outputs, and not take them away."""

    code = "task_removal_refused"
    title = "An agent may not remove tasks or their declared outputs"


class OutputsMissing(Invalid):
    """A completed step lacks outputs that its task declares; `missing` names them."""

    code = "outputs_missing"
    title = "Declared outputs are missing"


class PinNeedsAPerson(Invalid):
    """Constraints and decisions come only from what a person said."""

    code = "pin_needs_a_person"
    title = "A constraint or decision needs a person's own words as its source"


class TurnUnknown(Invalid):
    """A cited turn is not one of this run."""

    code = "turn_unknown"
    title = "A cited turn is not one of this run"


class SummaryUnknown(Invalid):
    """The superseded summary is not one of this run."""

    code = "summary_unknown"
    title = "The superseded summary is not one of this run"


class OperationTaken(Conflict):
    """The operation id stands for another request in this run."""

    code = "operation_id_taken"
    title = "This operation id stands for another request"


class EffectBackwards(Conflict):
    """An effect's status only moves forwards; `status` is the present one."""

    code = "effect_backwards"
    title = "An effect never goes backwards"


class ReconciliationNeeded(Conflict):
    """Nobody knows the effect's outcome, and the agent's own word cannot settle it."""

    code = "reconciliation_needed"
    title = "An unknown outcome is settled by reconciliation only"


class ConnectorDelivers(Conflict):
    """A connector delivers effects of this kind, so what became of one is the downstream's word alone."""

    code = "connector_delivers"
    title = "A connector delivers this effect"


class EffectNotAllowed(Forbidden):
    """The policy has no rule for effects of this kind, so none may happen."""

    code = "effect_not_allowed"
    title = "The policy does not allow this kind of effect"


class CapabilityMissing(Forbidden):
    """The caller's role lacks the capability that the policy demands."""

    code = "capability_missing"
    title = "The policy does not give this credential the capability"


class ApprovalNeeded(Forbidden):
    """The policy demands an approval for this kind of effect."""

    code = "approval_needed"
    title = "This kind of effect needs an approval"


class ApprovalUnknown(Invalid):
    """No approval of that id belongs to this run."""

    code = "approval_unknown"
    title = "No such approval belongs to this run"


class RequirementUnknown(Invalid):
    """The contract has no such requirement."""

    code = "requirement_unknown"
    title = "The contract has no such requirement"


class CandidateUnknown(Invalid):
    """No such artifact was submitted to this run."""

    code = "candidate_unknown"
    title = "No such artifact was submitted"


class ContractDiffers(Conflict):
    """The check was made under another contract; `contract_hash` is the run's."""

    code = "contract_differs"
    title = "The check was made under another contract"


class GraderDiffers(Invalid):
    """The requirement names another grader."""

    code = "grader_differs"
    title = "The requirement names another grader"


class FailureUnexplained(Invalid):
    """A failed check says what was expected, what was observed, how to reproduce it, and its kind."""

    code = "failure_unexplained"
    title = "A failed check needs expected, observed, reproduce and failure_kind"


class CandidateMissing(Conflict):
    """Nothing was submitted to this run yet, so there is nothing to check."""

    code = "candidate_missing"
    title = "Submit a candidate before asking for checks"


class GraderIsAuthor(Forbidden):
    """The credential belongs to the run's acting user or agent, or to who submitted one of its candidates."""

    code = "grader_is_author"
    title = "Nobody grades their own work"


class AccessStillGone(Conflict):
    """The run's acting user is not a member of its project, so nobody could go on with it."""

    code = "access_gone"
    title = "The run's acting user has no access to its project"
