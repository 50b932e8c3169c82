"""Shapes of delegations."""

from service.wire.scalars import Answer, When


class DelegationAnswer(Answer):
    """A key with which an agent acts in your name. `project` is the only one it enters."""

    id: str
    agent: str
    project: str | None
    created_at: When
    expires_at: When | None


class DelegationPage(Answer):
    """Delegations in the order of their ids."""

    items: list[DelegationAnswer]
    next_cursor: str | None
