"""`muniment policy explain`: which rule decided on a proposal or memory, in order, with the facts it saw."""

from collections.abc import Iterator
from typing import Annotated, Any, Final

import typer

from service.authoring.explain import explain_decision
from service.core.clock import format_time
from service.entry.cli.opening import open_registry
from service.entry.cli.output import AsJson, TenantName, print_json, say
from service.entry.policy_explanation import explanation_answer
from service.wire.policies_explain import ExplanationAnswer, StepAnswer

_MARKS: Final = {
    "denies": "denies",
    "asks": "asks a person",
    "permits": "permits",
    "passes": "passes",
    "unanswered": "cannot be answered",
    "not_reached": "not reached",
}
_WHY_NOT: Final = {
    "facts_gone": "What it was judged by has been erased, or was decided before that was kept.",
    "version_unreadable": "This release cannot read the version that it was decided under.",
    "code": "This release judges the same facts under the same version otherwise.",
}


def explain(
    ref: Annotated[str, typer.Argument(metavar="ID", help="A proposal's id, or a memory's.")],
    *,
    tenant: TenantName,
    everything: Annotated[
        bool, typer.Option("--all", help="Also the checks that had nothing to say.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Say which rule decided on a proposal or memory, in order, with the facts that it saw; no word of it."""
    with open_registry() as registry, registry.read(registry.tenant(tenant).id) as unit:
        found = explanation_answer(explain_decision(ref, unit=unit))
    if as_json:
        print_json(found.model_dump(mode="json"))
        return
    for line in _lines(found, everything=everything):
        say(line)


def _lines(found: ExplanationAnswer, *, everything: bool) -> Iterator[str]:
    yield f"Proposal {found.id} of class {found.class_name}, {format_time(found.created_at)}"
    yield f"Under    {found.policy_version}"
    if found.policy_outcome is not None:
        yield f"Policy   {found.policy_outcome}{_listed(found.policy_codes)}"
    later = " after a person had looked, or its time was over" if found.by_person else ""
    yield f"Now      {found.outcome}{_listed(found.codes)}{later}"
    for step in found.steps:
        if everything or step.result not in ("passes", "not_reached"):
            yield from _step_lines(step)
    if found.unexplained is not None:
        yield _WHY_NOT[found.unexplained]


def _step_lines(step: StepAnswer) -> Iterator[str]:
    yield ""
    yield f"{step.check}: {_MARKS[step.result]}"
    if step.because:
        yield f"    because  {step.because}"
    if step.rule:
        yield f"    rule     {step.rule}{_said(step.says)}"
    for name, value in step.saw.items():
        yield f"    saw      {name}: {_short(value)}"


def _said(says: Any) -> str:  # noqa: ANN401 - whatever a file may say
    return "" if says is None or isinstance(says, dict | list) else f" = {_short(says)}"


def _short(value: Any) -> str:  # noqa: ANN401 - a fact
    if isinstance(value, list) and value and isinstance(value[0], dict):
        return "; ".join(", ".join(f"{name} {_short(one)}" for name, one in each.items()) for each in value)
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "-" if value is None or value == [] else str(value)


def _listed(codes: list[str]) -> str:
    return f": {', '.join(codes)}" if codes else ""
