"""Shapes of uses: which packages showed a memory."""

from service.wire.scalars import Answer, When


class UseAnswer(Answer):
    """One package that showed it: when, by whom and for what it was built."""

    package_id: str
    execution_id: str | None
    at: When
    by: str
    purpose: str


class UsePage(Answer):
    """Uses, newest first."""

    items: list[UseAnswer]
    next_cursor: str | None
