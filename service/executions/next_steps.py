"""The handoff for a person or model with ten seconds: one paragraph with references."""

from collections.abc import Sequence
from typing import Final

from service.core.text import cut_at_grapheme
from service.executions.facts import Facts
from service.executions.handoff import Blocker, BlockerKind, compose_handoff, next_action, pending_action
from service.executions.rules import ENDED
from service.executions.work.model import Output

_QUOTE_LENGTH_MAX: Final = 100
_NAMED_MAX: Final = 3
"""How many outputs or blockers are named at most; the others are counted."""
_LIST_LENGTH_MAX: Final = 240
"""Beyond it no further one is named: a reference is of no use when it is cut."""
_JOINERS: Final = frozenset("\u200c\u200d")
"""Not printed themselves, they make up letters of some scripts and pictures."""
_WORDS_OF_TASK: Final = "continue:"


def write_next_steps(facts: Facts) -> str:
    """Answer one line: the run's standing, what was completed last, what runs next, outputs, what blocks.

    What the record says must happen next goes before what the agent meant to do; newer outputs before older.
    """
    execution, handoff = facts.execution, compose_handoff(facts)
    name = execution.external_ref or execution.id
    done = f"{len(handoff.completed)} of {len(facts.tasks) + len(facts.undeclared)} tasks done"
    outputs = [f"{output.name} ({output.ref})" for output in _newest_outputs(facts)]
    sentences = [
        f"Run {name} (execution:{execution.id}) is {execution.status}, revision {execution.version}; {done}.",
        _last_completed(facts),
        f"Next: {_next(facts)}.",
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


def _next(facts: Facts) -> str:
    if facts.execution.status in ENDED:
        return "nothing, the run has ended"
    pending, words = pending_action(facts), next_action(facts)
    if pending is None or words == pending:
        return _quote(words) if words else "nothing is recorded"
    if pending.startswith(_WORDS_OF_TASK):
        return f"{_quote(words)} ({pending})"
    return f"{pending}; then {_quote(words)}"


def _newest_outputs(facts: Facts) -> Sequence[Output]:
    """Answer what exists by now, the newest first: of each task's output the last that was made."""
    standing = {output for task in (*facts.tasks, *facts.undeclared) for output in task.produced}
    made = (output for step in reversed(facts.log) for output in reversed(step.outputs))
    return list(dict.fromkeys(output for output in made if output in standing))


def _name(blocker: Blocker) -> str:
    words = f": {_quote(blocker.text)}" if blocker.text else ""
    if blocker.kind is BlockerKind.EFFECT:
        return f"effect:{blocker.ref}{words}, to be reconciled before anything else"
    return f"{blocker.kind}:{blocker.ref}{words}"


def _list(named: Sequence[str]) -> str:
    shown = list(named[:1])
    for one in named[1:_NAMED_MAX]:
        if len("; ".join([*shown, one])) > _LIST_LENGTH_MAX:
            break
        shown.append(one)
    more = len(named) - len(shown)
    return "; ".join(shown) + (f"; and {more} more" if more > 0 else "")


def _quote(text: str | None) -> str:
    # White space of any kind would break the paragraph, and a terminal obeys what is not printed.
    shown = "".join(mark if mark.isprintable() or mark in _JOINERS else " " for mark in text or "")
    line = " ".join(shown.split())
    cut = cut_at_grapheme(line, _QUOTE_LENGTH_MAX)
    return (line if cut == len(line) else f"{line[:cut].rstrip()}…").rstrip(".")
