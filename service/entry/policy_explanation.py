"""An explanation as surfaces answer it: the same over HTTP and on the command line."""

from service.authoring.explain import Explanation
from service.policies.explain import Step
from service.wire.policies_explain import ExplanationAnswer, StepAnswer


def explanation_answer(found: Explanation) -> ExplanationAnswer:
    """Answer an explanation."""
    recorded = found.recorded
    return ExplanationAnswer(
        id=recorded.proposal_id,
        memory=recorded.memory_id,
        class_name=recorded.class_name,
        outcome=recorded.outcome,
        codes=list(recorded.codes),
        by_person=recorded.by_person,
        created_at=recorded.created_at,
        decided_at=recorded.decided_at,
        policy_version=recorded.policy_version,
        policy_outcome=found.policy_outcome,
        policy_codes=list(found.policy_codes),
        rule=found.rule,
        steps=[_step(step) for step in found.steps],
        facts=None if found.facts is None else dict(found.facts),
        content_hash=recorded.content_hash,
        agrees=found.agrees,
        unexplained=None if found.unexplained is None else found.unexplained.value,
    )


def _step(step: Step) -> StepAnswer:
    return StepAnswer(
        check=step.check,
        result=step.result.value,
        rule=step.rule,
        says=step.says,
        because=step.because,
        saw=dict(step.saw),
    )
