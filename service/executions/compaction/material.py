"""Reading what a summary is made of, before anything is written and outside of every writing transaction."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from service.core.errors import Invalid
from service.core.quarantined import Quarantined, SourceQuarantined
from service.executions.compaction.passages import (
    ToolResults,
    passages_of,
    passages_of_summary,
    reference_of,
    references_named,
)
from service.executions.compaction.refusals import NothingSaid, SummaryTooWide, TextNotKept
from service.executions.compaction.rules import Passage
from service.executions.conversation.model import Summary, Turn
from service.executions.hold import look_at
from service.executions.keep import keeps_text
from service.executions.model import Execution, PinnedSource
from service.executions.ports import References
from service.executions.refusals import SummaryUnknown
from service.executions.sources import is_there, pin, pin_sources
from service.executions.store import ExecutionStore
from service.identity.unit import Unit
from service.policies.model import Bundle

TURNS_READ_MAX: Final = 2_000
OBSERVATIONS_READ_MAX: Final = 5_000
SUMMARY_REFERENCES_MAX: Final = 2_000
PROSE_TOKENS_DEFAULT: Final = 400
PROSE_TOKENS_MIN: Final = 50
PROSE_TOKENS_MAX: Final = 4_000
_NAMED_REFERENCES_MAX: Final = 500
"""So many references that stand in turns are looked up; what the tools brought is always kept."""


@dataclass(frozen=True, slots=True)
class NewCompaction:
    """What is asked to be summarised. Without a range: all that was said, over the newest summary.

    `tokens_max` bounds the sentences; what must survive comes on top. `model` names who is to write them,
    where there is a choice.
    """

    from_sequence: int | None = None
    to_sequence: int | None = None
    supersedes: str | None = None
    derived_from: tuple[str, ...] = ()
    tokens_max: int = PROSE_TOKENS_DEFAULT
    model: str | None = None


@dataclass(frozen=True, slots=True)
class Material:
    """What a summary will be made of, as it stood when it was read.

    `follows` is the newest summary then, `texts` the number of turns in the range whose text was kept,
    `aside` of those under quarantine, which nothing was taken from, and `witness` the newest of those that
    could be read, if there was one. `sources` are pinned as they stood.
    """

    from_sequence: int
    to_sequence: int
    supersedes: str | None
    follows: str | None
    texts: int
    aside: int
    witness: int | None
    passages: Sequence[Passage]
    sources: Sequence[PinnedSource]
    tokens_max: int
    model: str | None


def read_material(
    execution_id: str, asked: NewCompaction, *, unit: Unit, bundle: Bundle, references: References
) -> Material:
    """Answer what a summary of a range is made of.

    An incremental one reads the turns under the summary before it again, as far back as one reading goes, and
    takes over what that says of older ones: the source is never deleted, so nothing needs to be told twice
    over. Nothing is taken from what is under quarantine. Raises what `hold` does, `TextNotKept`,
    `NothingSaid`, `SummaryUnknown`, `SummaryTooWide`, `Invalid` for a range that was not said,
    `ReferenceNotFound`, and `SourceQuarantined` where the summary to take the place of is put aside.
    """
    store = ExecutionStore.of(unit)
    execution = look_at(store, execution_id, unit=unit)
    if not keeps_text(execution, bundle):
        raise TextNotKept
    latest = store.latest_summary(execution_id)
    usable = latest
    if latest is not None and latest.quarantined:
        usable = store.conversation.latest_summary(execution_id, usable=True)
    first, last = _range(asked, usable, store.conversation.last_sequence(execution_id))
    earlier = usable if asked.from_sequence is None else None
    if asked.supersedes is not None:
        earlier = store.conversation.find_summary(execution_id, asked.supersedes)
        if earlier is None:
            raise SummaryUnknown(pointer="/supersedes")
        if earlier.quarantined:
            raise SourceQuarantined
    turns = store.conversation.turns(execution_id, last=TURNS_READ_MAX, from_sequence=first, to_sequence=last)
    carried = _carried(earlier, turns, first)
    quarantined = Quarantined(unit.session, unit.tenant_id)
    results = _results(execution, turns, store, quarantined)
    aside = quarantined.among("turn", [turn.id for turn in turns])
    said = [turn for turn in turns if turn.id not in aside]
    kept = _sources(asked, said, results, earlier, references)
    return Material(
        from_sequence=first,
        to_sequence=last,
        supersedes=None if earlier is None else earlier.id,
        follows=None if latest is None else latest.id,
        texts=store.conversation.count_texts(execution_id, from_sequence=first, to_sequence=last),
        aside=store.conversation.count_quarantined(execution_id, from_sequence=first, to_sequence=last),
        witness=next((turn.sequence for turn in reversed(turns) if turn.text), None),
        passages=[*carried, *passages_of(said, results)],
        sources=kept,
        tokens_max=asked.tokens_max,
        model=asked.model,
    )


def _range(asked: NewCompaction, latest: Summary | None, last_said: int) -> tuple[int, int]:
    if asked.from_sequence is not None and asked.to_sequence is not None:
        if not 1 <= asked.from_sequence <= asked.to_sequence:
            raise Invalid("is after to_sequence", pointer="/from_sequence")
        if asked.to_sequence > last_said:
            raise Invalid("is after the last turn", pointer="/to_sequence")
        return asked.from_sequence, asked.to_sequence
    if asked.from_sequence is not None or asked.to_sequence is not None:
        raise Invalid("is given with the other end of the range, or not at all", pointer="/from_sequence")
    if last_said == (0 if latest is None else latest.to_sequence):
        raise NothingSaid
    return 1 if latest is None else latest.from_sequence, last_said


def _carried(earlier: Summary | None, turns: Sequence[Turn], first: int) -> Sequence[Passage]:
    """Answer what an earlier summary says, where turns under it are not among those that were read."""
    begin = turns[0].sequence if turns else first
    if begin > first and (earlier is None or earlier.to_sequence < begin - 1):
        raise SummaryTooWide(f"One summary reads {TURNS_READ_MAX} turns: begin with the older ones.")
    if earlier is None or (begin <= earlier.from_sequence and earlier.to_sequence <= turns[-1].sequence):
        return ()
    return passages_of_summary(earlier)


def _results(
    execution: Execution, turns: Sequence[Turn], store: ExecutionStore, quarantined: Quarantined
) -> ToolResults:
    """Answer the tool results from the first turn on; those up to the turn after the last one are inside."""
    since = execution.created_at if turns[0].sequence == 1 else turns[0].at
    found = store.ledger.observations_since(execution.id, since, count=OBSERVATIONS_READ_MAX + 1)
    if len(found) > OBSERVATIONS_READ_MAX:
        raise SummaryTooWide(f"Since its first turn came more than {OBSERVATIONS_READ_MAX} tool results.")
    following = turns[-1].sequence + 1
    after = store.conversation.turns(execution.id, last=1, from_sequence=following, to_sequence=following)
    aside = quarantined.among("observation", [one.id for one in found])
    usable = [one for one in found if one.id not in aside]
    return ToolResults(usable, after[0].at if after else None)


def _sources(
    asked: NewCompaction,
    turns: Sequence[Turn],
    results: ToolResults,
    earlier: Summary | None,
    references: References,
) -> Sequence[PinnedSource]:
    """Answer all that the summary rests on: what it takes over, what was seen, named, and given."""
    given = pin_sources(asked.derived_from, references, pointer="/derived_from")
    named = list(dict.fromkeys(references_named(turns)))[-_NAMED_REFERENCES_MAX:]
    found = _without_repeats(
        # What is gone has nothing more to say: a summary that still rested on it could never be put right.
        () if earlier is None else (ref for ref in earlier.derived_from if is_there(ref, references)),
        map(reference_of, results.inside),
        (ref for ref in named if references.look_up(*_parts(ref)) is not None),
        (source.ref for source in given),
    )
    if len(found) > SUMMARY_REFERENCES_MAX:
        raise SummaryTooWide(f"It would rest on more than {SUMMARY_REFERENCES_MAX} references.")
    return [pin(ref, references) for ref in found]


def _parts(ref: str) -> tuple[str, str]:
    kind, _, item_id = ref.partition(":")
    return kind, item_id


def _without_repeats(*parts: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(ref for part in parts for ref in part))
