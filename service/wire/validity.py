"""When something is true, in requests: a window of time that is not empty."""

from typing import Self

from pydantic import model_validator

from service.wire.scalars import Request, When


class WithValidity(Request):
    """A request that may say when what it states is true: from a moment on, and until before another."""

    valid_from: When | None = None
    valid_until: When | None = None

    @model_validator(mode="after")
    def _is_no_empty_window(self) -> Self:
        if (
            self.valid_from is not None
            and self.valid_until is not None
            and self.valid_until <= self.valid_from
        ):
            raise ValueError("valid_until is not after valid_from")
        return self
