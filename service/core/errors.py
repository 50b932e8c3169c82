"""The few kinds of refusal. Capabilities subclass them; only the edge knows HTTP.

A refusal carries a stable `code` (append-only, documented in `docs/errors.md`), one sentence for a person,
and `extra`, fields that a program may rely on. None of them ever holds user text.
"""

from typing import ClassVar


class Refusal(Exception):
    """Something was asked that will not be done. Never raised itself: one of the kinds below is."""

    code: ClassVar[str] = "refused"
    title: ClassVar[str] = "The request was refused"

    def __init__(self, detail: str = "", /, **extra: object) -> None:
        super().__init__(detail or self.title)
        self.detail = detail or self.title
        self.extra = extra


class Unauthenticated(Refusal):
    """Nobody we know is asking."""

    code = "unauthenticated"
    title = "A valid credential is needed"


class Forbidden(Refusal):
    """The caller may see it and may not do this to it."""

    code = "forbidden"
    title = "This credential may not do that"


class NotFound(Refusal):
    """It never existed, is gone, or is not the caller's to see: all three answer alike."""

    code = "not_found"
    title = "There is nothing here that you may read"


class Conflict(Refusal):
    """The present state does not allow it."""

    code = "conflict"
    title = "The present state does not allow this"


class Stale(Refusal):
    """The caller's `If-Match` names a version that is no longer current."""

    code = "stale_version"
    title = "Somebody else changed this first"

    def __init__(self, current_version: int) -> None:
        super().__init__(
            "Read it again and repeat with its current version.", current_version=current_version
        )


class PreconditionNeeded(Refusal):
    """A write that needs `If-Match` came without."""

    code = "if_match_required"
    title = "Send If-Match with the version you read"


class Gone(Refusal):
    """It was here and has been erased."""

    code = "erased"
    title = "The answer to this request has been erased"


class TooLarge(Refusal):
    """More was sent than is taken."""

    code = "too_large"
    title = "This is larger than what is taken here"


class Unsupported(Refusal):
    """The body's media type is not one that this call reads."""

    code = "unsupported_media_type"
    title = "This media type is not read here"


class Invalid(Refusal):
    """The request cannot mean anything. `errors` holds `{"pointer", "message"}` for each fault."""

    code = "invalid"
    title = "The request is not valid"

    def __init__(self, detail: str = "", /, *, pointer: str | None = None, **extra: object) -> None:
        if pointer is not None:
            extra["errors"] = [{"pointer": pointer, "message": detail}]
        super().__init__(detail, **extra)


class TooMany(Refusal):
    """A rate or quota is used up; try again after `retry_after_seconds`."""

    code = "rate_limited"
    title = "Too many requests"

    def __init__(self, detail: str = "", /, *, retry_after_seconds: int, **extra: object) -> None:
        super().__init__(detail, **extra)
        self.retry_after_seconds = retry_after_seconds


class Unavailable(Refusal):
    """Something this service needs does not answer; nothing was half done."""

    code = "dependency_unavailable"
    title = "Something this service needs does not answer"

    def __init__(self, detail: str = "", /, *, retry_after_seconds: int = 5, **extra: object) -> None:
        super().__init__(detail, **extra)
        self.retry_after_seconds = retry_after_seconds
