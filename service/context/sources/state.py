"""Where the run stands: unknown effects first, then what blocks and what failed, then what comes next."""

from collections.abc import Iterator, Sequence
from typing import Final

from service.context.model import Candidate, Part, Shape
from service.context.situation import Run, Situation
from service.context.sources.goal import pin_label
from service.core.clock import format_time
from service.core.hashing import hash_text
from service.executions.acceptance.model import CheckStatus
from service.executions.approvals.model import ApprovalStatus
from service.executions.approvals.rules import LIVE, newest_of_each_command
from service.executions.conversation.model import PinKind
from service.executions.ledger.rules import is_unknown
from service.executions.sealed import stable_json
from service.executions.work.model import Standing

_SHOWN_ELSEWHERE: Final = frozenset({"next_action", "derived_from"})
_SETTLED_APPROVALS: Final = frozenset({ApprovalStatus.REDEEMED, ApprovalStatus.CANCELLED})
"""Of these nobody has to know more: the effect of a redeemed one speaks for itself."""


def collect(situation: Situation) -> Sequence[Candidate]:
    """Answer candidates in the order in which they matter to whoever goes on."""
    run = situation.run
    if run is None:
        return []
    return [
        *_unknown_effects(run),
        *_blockers(run),
        *_approvals(run),
        *_checks(run),
        *_next(run),
        *_tasks(run),
        *_effects(run),
    ]


def _unknown_effects(run: Run) -> Iterator[Candidate]:
    for number, effect in enumerate(run.facts.effects):
        if is_unknown(effect):
            text = f"{effect.kind}: outcome unknown ({effect.status}); reconcile before anything else"
            yield _line("effect", effect.operation_id, text, (0, number), required=True)


def _blockers(run: Run) -> Iterator[Candidate]:
    sequences = {turn.id: turn.sequence for turn in run.pin_turns}
    for number, pin in enumerate(run.open_pins):
        if pin.kind is PinKind.BLOCKER:
            label = pin_label(pin, sequences)
            yield _line("pin", pin.id, pin.text or "", (1, number), required=True, label=label)


def _approvals(run: Run) -> Iterator[Candidate]:
    for number, approval in enumerate(newest_of_each_command(run.facts.approvals)):
        if approval.status in _SETTLED_APPROVALS:
            continue
        words = f"{approval.kind}: {approval.status}"
        if approval.status in LIVE:
            words += f" until {format_time(approval.expires_at)}"
        yield _line("approval", approval.id, words, (2, number))


def _checks(run: Run) -> Iterator[Candidate]:
    checks = {check.id: check for check in run.checks}
    for number, standing in enumerate(run.facts.standings):
        check = checks.get(standing.check_id or "")
        is_failed = standing.status is CheckStatus.FAILED
        words = [f"check {standing.status}"]
        if is_failed and check is not None:
            named = (("kind", check.failure_kind), ("expected", check.expected), ("observed", check.observed))
            words += [f"{name}: {value}" for name, value in (*named, ("reproduce", check.reproduce)) if value]
        if standing.escalated:
            words.append("failed more often than its revisions allow: hand over to a person")
        place = (3 if is_failed or standing.escalated else 4, number)
        label = f"requirement {standing.requirement}"
        yield _line(
            "check",
            standing.check_id or standing.requirement,
            "; ".join(words),
            place,
            required=is_failed or standing.escalated,
            label=label,
        )


def _next(run: Run) -> Iterator[Candidate]:
    execution = run.facts.execution
    status = f"{execution.status} at step {execution.step}, version {execution.version}"
    yield _line("execution", execution.id, status, (5, 0), label="run")
    if run.next_action is not None:
        yield _line("state", execution.id, run.next_action, (5, 1), label="next action")
    rest = {name: value for name, value in run.facts.state.items() if name not in _SHOWN_ELSEWHERE}
    if rest:
        text = stable_json(rest) or ""
        yield Candidate(
            kind="state",
            id=execution.id,
            version=execution.version,
            parts=(Part("working state", text),),
            sha256=hash_text(text),
            place=(5, 2),
            shape=Shape.JSON,
        )


def _tasks(run: Run) -> Iterator[Candidate]:
    for number, task in enumerate(run.facts.tasks):
        title = f": {task.title}" if task.title else ""
        place = (7 if task.standing is Standing.COMPLETED else 6, number)
        yield _line("task", task.id, f"{task.standing}{title}", place)


def _effects(run: Run) -> Iterator[Candidate]:
    for number, effect in enumerate(run.facts.effects):
        if not is_unknown(effect):
            yield _line("effect", effect.operation_id, f"{effect.kind}: {effect.status}", (8, number))


def _line(
    kind: str,
    item_id: str,
    text: str,
    place: tuple[int, int],
    *,
    required: bool = False,
    label: str | None = None,
) -> Candidate:
    return Candidate(
        kind=kind,
        id=item_id,
        version=1,
        parts=(Part(label or f"{kind} {item_id}", text),),
        sha256=hash_text(text),
        place=place,
        required=required,
        shape=Shape.PROSE,
    )
