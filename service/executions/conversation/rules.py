"""Who may set which pin. Pure."""

from collections.abc import Sequence
from typing import Final

from service.executions.conversation.model import PinKind, Turn, TurnRole

_A_PERSON_SAYS: Final = frozenset({PinKind.CONSTRAINT, PinKind.DECISION})


def needs_a_person(kind: PinKind) -> bool:
    """Say whether a pin of this kind comes only from what a person said."""
    return kind in _A_PERSON_SAYS


def person_said(turns: Sequence[Turn]) -> bool:
    """Say whether at least one turn is cited and each is a person's word; an assistant's is a claim."""
    return bool(turns) and all(turn.role is TurnRole.USER for turn in turns)


def was_relayed(turns: Sequence[Turn]) -> bool:
    """Say whether an agent sent any of the turns in its user's name."""
    return any(turn.relayed for turn in turns)
