"""What a person's export holds, section by section, in the shapes that the single calls answer."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from service.context.store_uses import UseStore
from service.core.errors import NotFound
from service.core.paging import PAGE_ITEMS_MAX, Page, PageRequest, page_request
from service.entry.http.erasures_shapes import erasure_answer
from service.entry.http.evidence_shapes import evidence_answer
from service.entry.http.executions_shapes import step_answer
from service.entry.http.memories_lifecycle_shapes import history_answer, refusals_answer
from service.entry.http.memories_shapes import consent_answers, memory_answer, proposal_listed
from service.evidence.get import get_evidence, read_text
from service.executions.conversation.model import Pin, Summary, Turn
from service.executions.store import ExecutionStore
from service.governance.forget import get_erasure
from service.governance.store_export import OwnStore
from service.identity.delegations import list_delegations
from service.identity.unit import Unit
from service.memories.consent import list_consents
from service.memories.refuse import list_refusals
from service.memories.store import MemoryStore
from service.memories.store import Wanted as WantedMemories
from service.memories.store_history import HistoryStore
from service.memories.store_proposals import ProposalStore
from service.memories.store_proposals import Wanted as WantedProposals
from service.policies.active import active_bundle

Item = Mapping[str, Any]
Section = Callable[[str, Unit], Iterator[Item]]

_TURNS_MAX: Final = 1_000_000
"""More than a run can hold."""


def _memories(person: str, unit: Unit) -> Iterator[Item]:
    bundle = active_bundle(unit)
    store, history, uses = MemoryStore.of(unit, bundle), HistoryStore.of(unit, bundle), UseStore.of(unit)
    wanted = WantedMemories(subject=person)
    for memory in _every(
        lambda page: store.list_readable(page, caller=unit.caller, now=unit.now, wanted=wanted)
    ):
        versions = history.list_versions(memory.id, caller=unit.caller, now=unit.now)
        shown = _every(lambda page, name=memory.id: uses.page("memory", name, page, project_ids=None))  # type: ignore[misc]  # bound now
        yield {
            **memory_answer(memory, unit, bundle).model_dump(mode="json", by_alias=True),
            "history": history_answer(versions).model_dump(mode="json", by_alias=True)["items"],
            "uses": [
                {
                    "package_id": use.package_id,
                    "execution_id": use.execution_id,
                    "at": use.at.isoformat(),
                    "purpose": use.purpose,
                }
                for use in shown
            ],
        }


def _consents(person: str, unit: Unit) -> Iterator[Item]:
    for consent in consent_answers(person, list_consents(person, unit=unit)):
        yield consent.model_dump(mode="json", by_alias=True)


def _refusals(person: str, unit: Unit) -> Iterator[Item]:
    found = refusals_answer(person, list_refusals(person, unit=unit))
    yield from found.model_dump(mode="json", by_alias=True)["items"]


def _proposals(person: str, unit: Unit) -> Iterator[Item]:
    store, wanted = ProposalStore.of(unit), WantedProposals(subject=person)
    for proposal in _every(lambda page: store.list_for(unit.caller, page, wanted)):
        yield proposal_listed(proposal, unit).model_dump(mode="json", by_alias=True)


def _executions(person: str, unit: Unit) -> Iterator[Item]:
    store, own = ExecutionStore.of(unit), OwnStore(person, unit)
    for execution_id in own.execution_ids():
        run = store.find_readable(execution_id)
        if run is None:
            continue
        summaries = (store.find_summary(name) for name in own.summary_ids(run.id))
        yield {
            "id": run.id,
            "external_ref": run.external_ref,
            "status": run.status.value,
            "objective": run.objective,
            "created_at": run.created_at.isoformat(),
            "state": dict(store.latest_state(run.id)),
            "turns": [_turn(turn) for turn in store.turns(run.id, last=_TURNS_MAX)],
            "pins": [_pin(pin) for pin in store.pins(run.id)],
            "summaries": [_summary(summary) for summary in summaries if summary is not None],
            "steps": [step_answer(step).model_dump(mode="json") for step in store.steps(run.id)],
        }


def _evidence(person: str, unit: Unit) -> Iterator[Item]:
    for evidence_id in OwnStore(person, unit).evidence_ids():
        try:
            evidence = get_evidence(evidence_id, unit=unit)
        except NotFound:
            continue
        parts, start = [], 0
        while start < evidence.characters:
            part = read_text(evidence_id, unit=unit, start=start)
            parts.append(part.text)
            start = part.end
        fields = evidence_answer(evidence, "", unit.caller).model_dump(mode="json", by_alias=True)
        yield {**fields, "text": "".join(parts)}


def _delegations(person: str, unit: Unit) -> Iterator[Item]:
    del person
    for each in _every(lambda page: list_delegations(page, unit=unit)):
        yield {"id": each.key.id, "agent": each.key.subject, "project": each.project}


def _erasures(person: str, unit: Unit) -> Iterator[Item]:
    for erasure_id in OwnStore(person, unit).erasure_ids():
        yield erasure_answer(get_erasure(erasure_id, unit=unit)).model_dump(mode="json", by_alias=True)


SECTIONS: Final[Mapping[str, Section]] = {
    "memories": _memories,
    "consents": _consents,
    "refusals": _refusals,
    "proposals": _proposals,
    "executions": _executions,
    "evidence": _evidence,
    "delegations": _delegations,
    "erasures": _erasures,
}
"""Everything that an export holds, in its order."""


def _every(list_page: Callable[[PageRequest], Page[Any]]) -> Iterator[Any]:
    cursor: str | None = None
    while True:
        page = list_page(page_request(PAGE_ITEMS_MAX, cursor, tenant_id="export", filters=()))
        yield from page.items
        cursor = page.next_cursor
        if cursor is None:
            return


def _turn(turn: Turn) -> Item:
    return {
        "id": turn.id,
        "sequence": turn.sequence,
        "role": turn.role.value,
        "text": turn.text,
        "tool_calls": list(turn.tool_calls),
        "relayed": turn.relayed,
        "at": turn.at.isoformat(),
    }


def _pin(pin: Pin) -> Item:
    return {"id": pin.id, "kind": pin.kind.value, "text": pin.text, "resolution": pin.resolution}


def _summary(summary: Summary) -> Item:
    return {"id": summary.id, "version": summary.version, "text": summary.text, "model": summary.model}
