"""`muniment policy simulate | diff`: what a candidate would do to a tenant's data, before it does it.

Exit codes: 0 worked out, 1 the candidate has errors, 2 it could not be worked out.
"""

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Final

import typer
from sqlalchemy.exc import OperationalError

from service.authoring.model import DAYS_MAX
from service.authoring.plan import Drafted, draft_plan, keep_plan
from service.authoring.simulate import Progress
from service.core.errors import Refusal
from service.entry.cli.candidate import Candidate, Folder, read_candidate, tell_doubts
from service.entry.cli.opening import open_registry
from service.entry.cli.output import AsJson, TenantName, answer_list, note, print_json, say
from service.entry.cli.policy_plan_words import activation_words, effect_words, rule_words
from service.entry.policy_plan import plan_answer
from service.identity.unit import Unit
from service.wire.policies_plans import PlanAnswer

Days = Annotated[
    int, typer.Option("--days", min=1, max=DAYS_MAX, help="How many days back decisions are looked at.")
]
_OF_A_KEPT_PLAN: Final = frozenset({"id", "hash", "made_at"})
_SAMPLES: Final = {
    "memories": ("id", "class", "before", "after", "codes"),
    "proposals": ("id", "class", "before", "after", "codes"),
    "packages": ("id", "codes"),
}


def simulate(folder: Folder, *, tenant: TenantName, days: Days = 30, as_json: AsJson = False) -> None:
    """Work out what a candidate would do to what is kept, and keep that as a plan. Nothing else changes.

    Exit code 1 where the candidate has errors, 2 where it cannot be worked out.
    """
    with _exit_2_where_refused():
        candidate = read_candidate(folder, as_json=as_json)
    tell_doubts(folder, candidate)
    with _exit_2_where_refused(), open_registry() as registry:
        tenant_id = registry.tenant(tenant).id
        with registry.read(tenant_id) as unit:
            drafted = _draft(candidate, unit, days, as_json=as_json)
        with registry.write(tenant_id) as unit:
            keep_plan(drafted, unit=unit)
            answer = plan_answer(drafted.plan, unit)
    if as_json:
        print_json(answer.model_dump(mode="json"))
        return
    _say_all(answer)
    for line in activation_words(answer, tenant):
        say(line)


def diff(folder: Folder, *, tenant: TenantName, days: Days = 30, as_json: AsJson = False) -> None:
    """Tell what a candidate says otherwise than what counts, and what that would do. Keeps nothing.

    Exit code 1 where the candidate has errors, 2 where it cannot be worked out.
    """
    with _exit_2_where_refused():
        candidate = read_candidate(folder, as_json=as_json)
    tell_doubts(folder, candidate)
    with (
        _exit_2_where_refused(),
        open_registry() as registry,
        registry.read(registry.tenant(tenant).id) as unit,
    ):
        answer = plan_answer(_draft(candidate, unit, days, as_json=as_json).plan, unit)
    if as_json:
        print_json(answer.model_dump(mode="json", exclude=set(_OF_A_KEPT_PLAN)))
        return
    _say_all(answer)


def _draft(candidate: Candidate, unit: Unit, days: int, *, as_json: bool) -> Drafted:
    # What is loaded stays: the collector need not look through it again, which takes a fifth of the time.
    gc.freeze()
    with _progress(is_shown=not as_json and sys.stderr.isatty()) as progress:
        return draft_plan(candidate.bundle, candidate.files, unit=unit, days=days, progress=progress)


@contextmanager
def _progress(*, is_shown: bool) -> Iterator[Progress]:
    """Answer what is told of progress; a bar on standard error where one is shown."""
    if not is_shown:
        yield lambda _done, _total: None
        return
    # Drawing a bar takes a while to load.
    from rich.console import Console  # noqa: PLC0415
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn  # noqa: PLC0415

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bars:
        bar = bars.add_task("looking at what is kept", total=None)
        yield lambda done, total: bars.update(bar, completed=done, total=total)


@contextmanager
def _exit_2_where_refused() -> Iterator[None]:
    """Exit with 2 for whatever keeps a candidate from being worked out: 1 says that it has errors."""
    try:
        yield
    except Refusal as refusal:
        note(refusal.detail)
    except OperationalError:
        note("The database does not answer.")
    except OSError as failure:
        note(failure.strerror or type(failure).__name__)
    else:
        return
    raise typer.Exit(2)


def _say_all(answer: PlanAnswer) -> None:
    for line in (*rule_words(answer), "", *effect_words(answer)):
        say(line)
    for part, columns in _SAMPLES.items():
        if samples := answer.samples[part]:
            say(f"\nSamples of {part}")
            answer_list(samples, as_json=False, columns=columns)
