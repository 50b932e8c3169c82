"""A plan in plain words, a line each. Pure."""

import json
import shlex
from collections.abc import Iterator, Mapping
from typing import Any, Final

from service.wire.policies_plans import PlanAnswer

_VALUE_CHARACTERS_MAX: Final = 100
_MEMORIES: Final[Mapping[str, str]] = {
    "now": "would end at once",
    "sooner": "would end sooner",
    "held": "would end sooner, but a legal hold keeps them",
    "later": "would end later",
    "hidden": "would be hidden from some who are shown them now",
    "revealed": "would be shown to some who are not shown them now",
    "unchanged": "would stay as they are",
}
_DIRECTIONS: Final[Mapping[str, str]] = {
    "stricter": "each allows less than before",
    "looser": "not each provably allows less than before, so another policy admin has to say yes as well",
}


def rule_words(plan: PlanAnswer) -> Iterator[str]:
    """Say what the candidate says otherwise, rule by rule."""
    yield f"Candidate      {plan.candidate_version}"
    yield f"Counts now     {plan.base_version} (revision {plan.base_revision})"
    yield ""
    if not plan.changes:
        yield "Rules: nothing is said otherwise"
        return
    yield f"Rules said otherwise: {len(plan.changes)}, {plan.direction} ({_DIRECTIONS[plan.direction]})"
    for change in plan.changes:
        moved = f"{_value(change.before)} -> {_value(change.after)}"
        yield f"  {change.direction:<8}  {change.path}: {moved}"


def effect_words(plan: PlanAnswer) -> Iterator[str]:
    """Say what the candidate would do, in counts. What is nothing is left out."""
    found = plan.affected
    memories, proposals, packages = found["memories"], found["proposals"], found["packages"]
    yield f"Memories that live: {memories['total']:,}"
    yield from _counted(memories, _MEMORIES)
    if memories["now"] or memories["sooner"]:
        yield "  A shortened time ends nothing before the effective date, which the activation names."
    judged = proposals["judged"] + proposals["not_judged"]
    yield f"Proposals of the last {plan.days} days: {judged:,}"
    words = {
        "otherwise": "would be decided otherwise",
        "not_judged": "cannot be judged again: too little is kept of what they were judged by",
    }
    yield from _counted(proposals, words)
    yield f"Packages of the last {plan.days} days: {packages['looked_at']:,}"
    yield from _counted(packages, {"otherwise": "would be other ones"})
    yield f"Approvals that wait and would be stale: {found['approvals']['stale']:,}"
    runs = found["executions"]
    yield f"Ended runs whose content would go sooner: {runs['sooner']:,}, later: {runs['later']:,}"
    about = "" if found["subjects_are"] == "exact" else "about "
    yield f"Persons touched: {about}{found['subjects']:,}"


def activation_words(plan: PlanAnswer, tenant: str) -> Iterator[str]:
    """Say which plan was kept, and which command makes it count."""
    yield ""
    yield f"Plan  {plan.id}"
    yield f"Hash  {plan.hash}"
    if plan.candidate_version == plan.base_version:
        yield "This version counts already: there is nothing to activate."
        return
    command = ["muniment", "policy", "activate", plan.id, "--tenant", tenant, "--hash", plan.hash]
    yield "A policy admin, whose key stands in MUNIMENT_TOKEN, makes it count with:"
    yield f"  {shlex.join(command)}"


def _counted(counts: Mapping[str, int], words: Mapping[str, str]) -> Iterator[str]:
    for name, said in words.items():
        if counts[name]:
            yield f"  {counts[name]:>9,}  {said}"


def _value(value: Any) -> str:  # noqa: ANN401 - whatever a bundle is made of
    if value is None:
        return "nothing"
    written = json.dumps(value, ensure_ascii=False)
    return written if len(written) <= _VALUE_CHARACTERS_MAX else f"{written[: _VALUE_CHARACTERS_MAX - 1]}…"
