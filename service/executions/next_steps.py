"""The handoff for a person or model with ten seconds: one paragraph with references."""

from collections.abc import Sequence
from typing import Final

from service.core.text import cut_at_grapheme
from service.executions.facts import Facts
from service.executions.handoff import Blocker, BlockerKind, compose_handoff

_QUOTE_LENGTH_MAX: Final = 100
_NAMED_MAX: Final = 3
"""How many outputs or blockers are named; the others are counted."""


def write_next_steps(facts: Facts) -> str:
    """Answer one line: the run's standing, what was completed last, what runs next, outputs, what blocks."""
    execution, handoff = facts.execution, compose_handoff(facts)
    name = execution.external_ref or execution.id
    done = f"{len(handoff.completed)} of {len(facts.tasks) + len(facts.undeclared)} tasks done"
    outputs = [f"{output.name} ({output.ref})" for _, output in handoff.outputs]
    sentences = [
        f"Run {name} (execution:{execution.id}) is {execution.status}, revision {execution.version}; {done}.",
        _last_completed(facts),
        f"Next: {_quote(handoff.next_action)}." if handoff.next_action else "Next: nothing is recorded.",
        f"Outputs: {_list(outputs)}." if outputs else "No outputs yet.",
        f"Blocked by {_list([_name(one) for one in handoff.blockers])}."
        if handoff.blockers
        else "Nothing blocks.",
    ]
    return " ".join(sentences)


def _last_completed(facts: Facts) -> str:
    step = facts.last_completed
    if step is None:
        return "Nothing is completed yet."
    words = f": {_quote(step.summary)}" if step.summary else ""
    return f"Completed last: {step.task_id} (step:{step.id}){words}."


def _name(blocker: Blocker) -> str:
    words = f": {_quote(blocker.text)}" if blocker.text else ""
    if blocker.kind is BlockerKind.EFFECT:
        return f"effect:{blocker.ref}{words}, to be reconciled before anything else"
    return f"{blocker.kind}:{blocker.ref}{words}"


def _list(named: Sequence[str]) -> str:
    more = len(named) - _NAMED_MAX
    return "; ".join(named[:_NAMED_MAX]) + (f"; and {more} more" if more > 0 else "")


def _quote(text: str | None) -> str:
    # White space of any kind would break the paragraph.
    line = " ".join((text or "").split())
    cut = cut_at_grapheme(line, _QUOTE_LENGTH_MAX)
    return (line if cut == len(line) else f"{line[:cut].rstrip()}…").rstrip(".")
