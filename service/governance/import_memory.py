"""`import_memory`: what a person exported comes back as a proposal on their own word, never as a memory."""

from typing import Final

from service.context.citations import RecordCitations
from service.core.errors import Forbidden, Gone
from service.executions.conversation.model import NewTurn, TurnRole
from service.executions.model import NewExecution
from service.executions.open import open_execution
from service.executions.say import say
from service.identity.model import Role
from service.identity.unit import Unit
from service.memories.model import Citation, Decided, NewProposal
from service.memories.propose import propose_memory
from service.policies.model import Bundle
from service.policies.verdict import Outcome
from service.policies.words import ProvenanceKind

_QUOTE_LENGTH_MAX: Final = 1_000
"""As much as a proposal quotes."""


class ImportErased(Gone):
    """What is to be imported was erased here: no copy brings it back."""

    code = "import_erased"
    title = "This memory was erased here, and an import does not bring it back"


def import_memory(new: NewProposal, imported_from: str, *, unit: Unit, bundle: Bundle) -> Decided:
    """Propose a memory of the caller's export; answer the policy's decision.

    The caller's own sign-in says it anew, in a turn of a run of its own, and that is its source: where a
    memory once came from need not be here, and what it then was trusted for is not taken on anybody's word.
    What the policy denies is kept nowhere, not even as a turn. Raises `Forbidden` for what is not about the
    caller, `ImportErased` for what the ledger knows by the id that it had.
    """
    caller = unit.caller
    if caller.role is not Role.USER or caller.act is not None or new.subject != caller.subject:
        raise Forbidden("A person imports what is remembered about themselves, by their own sign-in.")
    if unit.ledger.buried(unit.tenant_id, "memory", [imported_from]):
        raise ImportErased
    savepoint = unit.session.begin_nested()
    decided = propose_memory(
        _said_anew(new, unit, bundle), unit=unit, bundle=bundle, citations=RecordCitations(unit)
    )
    if decided.proposal.outcome is Outcome.DENIED:
        savepoint.rollback()
    else:
        savepoint.commit()
    return decided


def _said_anew(new: NewProposal, unit: Unit, bundle: Bundle) -> NewProposal:
    words = new.text or str(new.value)
    run = open_execution(NewExecution(new.project, "Import of an own export"), unit=unit, bundle=bundle)
    turn, _pin = say(run.id, NewTurn(TurnRole.USER, words), unit=unit, bundle=bundle)
    quote = words if len(words) <= _QUOTE_LENGTH_MAX else None
    return NewProposal(
        project=new.project,
        class_name=new.class_name,
        subject=new.subject,
        key=new.key,
        text=new.text,
        value=new.value,
        confidence=new.confidence,
        citations=(Citation(ProvenanceKind.TURN, turn.id, quote),),
        purpose=new.purpose,
        validity=new.validity,
    )
