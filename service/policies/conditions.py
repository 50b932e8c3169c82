"""Conditions: what an author writes under `when`, in CEL, where structured fields do not suffice.

A condition is read once, when its bundle is: it must compile, name only known facts, and answer yes or no.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated, Any, Final

from pydantic import AfterValidator, Field
from pydantic_core import PydanticCustomError

from service.policies.condition_steps import STEPS_MAX, measure
from service.policies.condition_types import ENVIRONMENT, FACTS, SOURCE_FIELDS, answers_yes_or_no, type_name
from service.policies.findings import nearest

CONDITION_CHARACTERS_MAX: Final = 2_000
_READ_MAX: Final = 2_048

_ERROR: Final = re.compile(r"ERROR: <input>:(\d+):(\d+): ([^\n]*)")
_UNDECLARED: Final = re.compile(r"undeclared reference to '([^']*)'")
_UNDEFINED: Final = re.compile(r"undefined field '([^']*)'")
_OF_NUMBERS: Final = re.compile(r"\(double, int\)|\(int, double\)")


class ConditionFailed(Exception):
    """A condition could not be answered on these facts. Whoever asked refuses."""


class ConditionInvalid(ValueError):
    """A condition cannot be read: what is wrong, and the line and column inside it, from 1."""

    def __init__(self, message: str, line: int = 1, column: int = 1) -> None:
        super().__init__(message)
        self.line = line
        self.column = column


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition that was read. Safe to share between threads."""

    text: str
    expression: Any

    def holds(self, facts: Mapping[str, object]) -> bool:
        """Answer it on `facts`, which name all of `FACTS`. Raises `ConditionFailed`."""
        try:
            answer = self.expression.eval(data=facts).value()
        except Exception:  # noqa: BLE001 - the library raises plain errors for whatever goes wrong
            raise ConditionFailed from None
        # An error inside, as a division by zero, comes back as a text.
        if not isinstance(answer, bool):
            raise ConditionFailed
        return answer


@lru_cache(maxsize=_READ_MAX)
def read_condition(text: str) -> Condition:
    """Compile a condition. Raises `ConditionInvalid`.

    Grammar and meaning are those of the Common Expression Language (cel.dev, language definition).
    """
    if len(text) > CONDITION_CHARACTERS_MAX:
        raise ConditionInvalid(f"a condition has at most {CONDITION_CHARACTERS_MAX} characters")
    try:
        expression = ENVIRONMENT.compile(text)
    except Exception as fault:  # noqa: BLE001 - the library raises plain errors for whatever it refuses
        raise _invalid(str(fault)) from None
    if (work := measure(text)).steps > STEPS_MAX:
        raise ConditionInvalid(
            f"this may take {work.steps} steps for one proposal, and {STEPS_MAX} are the most:"
            " walk lists less deep, join less, or make it two rules",
            *_line_and_column(text, work.position),
        )
    if not answers_yes_or_no(expression):
        raise ConditionInvalid(f"this answers {type_name(expression)}: a condition answers true or false")
    return Condition(text, expression)


def _line_and_column(text: str, position: int) -> tuple[int, int]:
    before = text[:position]
    return before.count("\n") + 1, position - (before.rfind("\n") + 1) + 1


def _invalid(fault: str) -> ConditionInvalid:
    found = _ERROR.search(fault)
    if found is None:
        deep = "recursion" in fault
        return ConditionInvalid("nested too deep: make it two rules" if deep else "this cannot be read")
    line, column, message = int(found[1]), int(found[2]), found[3].removesuffix(" (in container '')")
    if (unknown := _UNDECLARED.search(message)) is not None:
        message = f"`{unknown[1]}` is not known here: {nearest(unknown[1], FACTS)}"
    elif (unknown := _UNDEFINED.search(message)) is not None:
        message = f"a source has no `{unknown[1]}`: {nearest(unknown[1], SOURCE_FIELDS)}"
    elif _OF_NUMBERS.search(message):
        message += "; numbers are compared as they are written: `1.0`, not `1`, beside a confidence"
    # Columns are counted from 1 for most faults; a fault of the whole text has none.
    return ConditionInvalid(message, line, max(column, 1))


def check_condition(text: str) -> str:
    """Answer `text` if it is a condition. Raises the error that becomes a finding, with its place inside."""
    try:
        read_condition(text)
    except ConditionInvalid as fault:
        # Braces in a message would be read as a template.
        raise PydanticCustomError(
            "condition",
            "{fault}",
            {"fault": str(fault), "line": fault.line, "column": fault.column},
        ) from None
    return text


ConditionText = Annotated[
    str, Field(min_length=1, max_length=CONDITION_CHARACTERS_MAX), AfterValidator(check_condition)
]
"""A condition in CEL (cel.dev) that answers true or false about the facts of a proposal."""
