"""What is left of the run's budgets, and the bundle's rules for stopping."""

from collections.abc import Iterator, Sequence

from service.context.model import Candidate, Part, Shape
from service.context.situation import Run, Situation
from service.core.clock import format_time
from service.core.hashing import hash_text


def collect(situation: Situation) -> Sequence[Candidate]:
    """Answer one line for each budget of the run, then one for each rule."""
    lines = list(_budgets(situation.run, situation)) if situation.run is not None else []
    rules = situation.bundle.stopping.rules
    lines += [(f"stopping rule {number}", rule) for number, rule in enumerate(rules, start=1)]
    return [
        Candidate(
            kind="limit",
            id=label,
            version=1,
            parts=(Part(label, text),),
            sha256=hash_text(text),
            place=(number,),
            trusted=True,
            shape=Shape.WHOLE,
        )
        for number, (label, text) in enumerate(lines)
    ]


def _budgets(run: Run, situation: Situation) -> Iterator[tuple[str, str]]:
    execution, stopping = run.facts.execution, situation.bundle.stopping
    steps = min(execution.budgets.steps or stopping.steps_max, stopping.steps_max)
    yield "steps left", f"{max(0, steps - execution.step)} of {steps}"
    if execution.budgets.cost is not None:
        left = max(execution.budgets.cost - execution.cost_used, execution.budgets.cost * 0)
        yield "cost left", f"{left:f} of {execution.budgets.cost:f}"
    revisions = min(execution.budgets.revisions or stopping.revisions_max, stopping.revisions_max)
    yield "revisions of each requirement", str(revisions)
    if execution.deadline is not None:
        yield "deadline", format_time(execution.deadline)
