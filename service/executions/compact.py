"""Writing a summary over what was said: first read, then written without any transaction, then kept."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from service.core.lineage import Node
from service.core.quarantined import Quarantined
from service.core.text import strip_hidden, text_fault
from service.executions.compaction.material import Material
from service.executions.compaction.refusals import CompactorUnavailable, SummaryOvertaken
from service.executions.compaction.rules import Count, choose_sentences, head_and_tail
from service.executions.compaction.sentences import split_sentences
from service.executions.compaction.summary_text import SummaryText, write_summary
from service.executions.compaction.surviving import surviving_lines
from service.executions.conversation.model import NewSummary, Summary
from service.executions.hold import hold
from service.executions.model import Execution
from service.executions.ports import Compactor
from service.executions.sources import nodes_of
from service.executions.standings import read_standings
from service.executions.store import ExecutionStore
from service.executions.summarise import keep_summary
from service.identity.unit import Unit
from service.policies.model import Bundle

BUILTIN_MODEL: Final = "builtin-extractive-1"
"""The name under which the built-in compactor's summaries stand. Another way of choosing gets another one."""
_SENT_CHARACTERS_MAX: Final = 200_000
"""So much is sent to a model for one summary; many passages share it."""
_PASSAGE_SENT_CHARACTERS_MAX: Final = 8_000


@dataclass(frozen=True, slots=True)
class Prose:
    """What was said, in lines, and who wrote them."""

    lines: Sequence[str]
    model: str


def write_prose(material: Material, *, compactor: Compactor | None, count: Count) -> Prose:
    """Answer the most telling of what was said, within the budget: the operator's model's, else our choice.

    Asked for `BUILTIN_MODEL` by name, the model is left alone. Takes no transaction: a model may be slow.
    Raises `CompactorUnavailable`; nothing else is done in its place, so that nobody takes one for the other.
    """
    passages = material.passages
    if compactor is None or material.model == BUILTIN_MODEL or not passages:
        lines = choose_sentences(passages, tokens_max=material.tokens_max, count=count)
        return Prose(lines, BUILTIN_MODEL)
    share = min(_PASSAGE_SENT_CHARACTERS_MAX, _SENT_CHARACTERS_MAX // len(passages))
    said = [(one.label, strip_hidden(head_and_tail(one.text, share))) for one in passages]
    text = compactor.write(said, tokens_max=material.tokens_max)
    lines = _fitting(text, f"summary by {compactor.model}, claim", material.tokens_max, count)
    if not lines:
        raise CompactorUnavailable("It answered nothing that could be kept.")
    return Prose(lines, compactor.model)


def keep_compaction(
    execution_id: str, material: Material, prose: Prose, *, unit: Unit, bundle: Bundle
) -> Summary:
    """Keep the summary: what must survive as the record has it now, its references, then the prose.

    Raises what `hold` does, and `SummaryOvertaken` when since the material was read another summary was kept,
    or some of it was erased or put under quarantine: that must not come back in a summary.
    """
    store = ExecutionStore.of(unit)
    execution = hold(store, execution_id, unit=unit)
    latest = store.latest_summary(execution_id)
    if material.follows != (None if latest is None else latest.id):
        raise SummaryOvertaken
    if _is_erased(material, execution_id, store):
        raise SummaryOvertaken("Some of what it was made of has been erased meanwhile.")
    quarantined = Quarantined(unit.session, unit.tenant_id)
    quarantined.share()
    if _is_put_aside(material, execution_id, store, quarantined):
        raise SummaryOvertaken("Some of what it was made of is under quarantine now.")
    surviving = _surviving(execution, store, unit=unit, bundle=bundle)
    references = tuple(source.ref for source in material.sources)
    new = NewSummary(
        from_sequence=material.from_sequence,
        to_sequence=material.to_sequence,
        text=write_summary(SummaryText(surviving, references, prose.lines)),
        model=prose.model,
        supersedes=material.supersedes,
        derived_from=references,
    )
    return keep_summary(execution, new, material.sources, store=store, unit=unit, bundle=bundle)


def _surviving(execution: Execution, store: ExecutionStore, *, unit: Unit, bundle: Bundle) -> Sequence[str]:
    pins = store.pins(execution.id)
    cited = sorted({turn_id for pin in pins if not pin.resolved for turn_id in pin.turn_ids})
    turns = store.conversation.turns_by_id(execution.id, cited) if cited else ()
    aside = Quarantined(unit.session, unit.tenant_id).among("turn", cited)
    return surviving_lines(
        execution,
        pins=[pin for pin in pins if aside.isdisjoint(pin.turn_ids)],
        turn_numbers={turn.id: turn.sequence for turn in turns},
        standings=read_standings(execution.id, unit=unit, bundle=bundle),
        checks=store.checks(execution.id),
        effects=store.effects(execution.id),
    )


def _is_put_aside(
    material: Material, execution_id: str, store: ExecutionStore, quarantined: Quarantined
) -> bool:
    """Say whether something that was read for the summary has been put under quarantine since."""
    first, last = material.from_sequence, material.to_sequence
    now = store.conversation.count_quarantined(execution_id, from_sequence=first, to_sequence=last)
    nodes = list(nodes_of(material.sources))
    if material.supersedes is not None:
        nodes.append(Node("summary", material.supersedes))
    return now != material.aside or any(
        quarantined.among(kind, {node.id for node in nodes if node.kind == kind})
        for kind in {node.kind for node in nodes}
    )


def _is_erased(material: Material, execution_id: str, store: ExecutionStore) -> bool:
    """Say whether text of the range is gone: taken away, or with the key that all of it rests under."""
    first, last, witness = material.from_sequence, material.to_sequence, material.witness
    if store.conversation.count_texts(execution_id, from_sequence=first, to_sequence=last) != material.texts:
        return True
    if witness is None:
        return False
    turns = store.conversation.turns(execution_id, last=1, from_sequence=witness, to_sequence=witness)
    return any(turn.text is None for turn in turns)


def _fitting(text: str, label: str, tokens_max: int, count: Count) -> Sequence[str]:
    """Answer a model's text as one line, without the sentences that are past the budget."""
    if text_fault(text):
        raise CompactorUnavailable("It answered text that cannot be kept.")
    kept: list[str] = []
    for sentence in split_sentences(text):
        longer = f"{label}: {' '.join([*kept, sentence])}"
        if count(f"- {longer}\n") > tokens_max:
            break
        kept.append(sentence)
    return [f"{label}: {' '.join(kept)}"] if kept else []
