"""Errors as RFC 9457 problems: one table from kinds of refusal to HTTP, and from vendors' errors to kinds.

Nothing that a client sent and nothing that an engine said is ever repeated in an answer.
"""

import json
import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final

from fastapi.exceptions import RequestValidationError
from sqlalchemy.exc import DBAPIError, IntegrityError, InterfaceError, OperationalError, SQLAlchemyError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError
from starlette.exceptions import HTTPException
from starlette.responses import Response

from service.core.errors import (
    Conflict,
    Forbidden,
    Gone,
    Invalid,
    NotFound,
    PreconditionNeeded,
    Refusal,
    Stale,
    TooLarge,
    TooMany,
    Unauthenticated,
    Unavailable,
    Unsupported,
)

PROBLEM_MEDIA_TYPE: Final = "application/problem+json"
INTERNAL_CODE: Final = "internal_error"


class MethodNotAllowed(Refusal):
    """The path exists and does not take this method."""

    code = "method_not_allowed"
    title = "This method is not offered here"

    def __init__(self, allowed: str) -> None:
        super().__init__()
        self.allowed = allowed


class WrittenAtOnce(Conflict):
    """Two requests wrote the same thing at once, and the database kept the other one's."""

    code = "written_at_once"
    title = "Another request wrote the same thing at this moment"


STATUS_BY_KIND: Final[Mapping[type[Refusal], int]] = MappingProxyType(
    {
        Unauthenticated: 401,
        Forbidden: 403,
        NotFound: 404,
        MethodNotAllowed: 405,
        Conflict: 409,
        Gone: 410,
        Stale: 412,
        TooLarge: 413,
        Unsupported: 415,
        Invalid: 422,
        PreconditionNeeded: 428,
        TooMany: 429,
        Unavailable: 503,
    }
)

_STANDARD_MEMBERS: Final = frozenset({"type", "title", "status", "detail", "request_id", "code"})
# A part of a pointer that looks like one of our field names is repeated; a client's own key never is.
_FIELD_NAME: Final = re.compile(r"[a-z][a-z_]{0,39}|sha256")
# What these kinds of pydantic error say about the input is quoted from it.
_QUOTING_ERRORS: Final = ("union_tag", "uuid", "url", "date", "time", "decimal", "get_attribute", "bytes")
# SQLSTATE class 23 on PostgreSQL, extended result codes on SQLite: what two requests at once can cause.
_COLLISIONS: Final = frozenset(
    {
        "23503",
        "23505",
        "SQLITE_CONSTRAINT_UNIQUE",
        "SQLITE_CONSTRAINT_PRIMARYKEY",
        "SQLITE_CONSTRAINT_FOREIGNKEY",
    }
)


def status_of(kind: type[Refusal]) -> int:
    """Answer the HTTP status of a refusal, looked up along its ancestors; 500 when none is in the table."""
    return next((STATUS_BY_KIND[parent] for parent in kind.__mro__ if parent in STATUS_BY_KIND), 500)


def refusal_of(failure: Exception) -> Refusal | None:
    """Answer the refusal that a failure amounts to, or `None` when it is a fault of ours."""
    if isinstance(failure, Refusal):
        return failure
    if isinstance(failure, RequestValidationError):
        return Invalid("The request does not have the shape that this call takes.", errors=_faults(failure))
    if isinstance(failure, HTTPException):
        return _of_framework(failure)
    if isinstance(failure, SQLAlchemyError):
        return _of_record(failure)
    return None


def problem_response(failure: Exception, request_id: str) -> Response:
    """Answer the problem for any failure, always valid JSON, with the headers that belong to it."""
    refusal = refusal_of(failure)
    if refusal is None:
        body = _members(INTERNAL_CODE, "Something failed here", 500, "The fault is recorded.", request_id)
        return _response(body, 500, {})
    status = status_of(type(refusal))
    body = _members(refusal.code, refusal.title, status, refusal.detail, request_id)
    body |= {name: value for name, value in refusal.extra.items() if name not in _STANDARD_MEMBERS}
    return _response(body, status, _headers(refusal))


def pointer_to(location: Sequence[int | str]) -> str:
    """Answer a JSON Pointer (RFC 6901); a part that is not one of our names is written as `*`."""
    return "".join(f"/{part if _may_repeat(part) else '*'}" for part in location)


def describe_faults(errors: Sequence[Mapping[str, Any]]) -> list[dict[str, str]]:
    """Answer pydantic's errors as `{"pointer", "message"}`, without anything that the client sent."""
    return [{"pointer": pointer_to(error["loc"]), "message": _message(error)} for error in errors]


def _of_framework(failure: HTTPException) -> Refusal | None:
    match failure.status_code:
        case 404:
            return NotFound("There is no such path.")
        case 405:
            return MethodNotAllowed((failure.headers or {}).get("Allow", ""))
        case 400 | 422:
            return Invalid("The request could not be read.")
    return None


def _of_record(failure: SQLAlchemyError) -> Refusal | None:
    match failure:
        case IntegrityError() if _is_collision(failure):
            return WrittenAtOnce("Read it again and repeat what still makes sense.")
        case (
            OperationalError()
            | InterfaceError()
            | PoolTimeoutError()
            | DBAPIError(connection_invalidated=True)
        ):
            return Unavailable("The record does not answer at the moment; nothing was half done.")
    return None


def _faults(failure: RequestValidationError) -> list[dict[str, str]]:
    # FastAPI puts where it looked ("body", "query", "path") before the place in it.
    return describe_faults([{**error, "loc": error["loc"][1:]} for error in failure.errors()])


def _may_repeat(part: int | str) -> bool:
    return isinstance(part, int) or _FIELD_NAME.fullmatch(part) is not None


def _message(error: Mapping[str, Any]) -> str:
    if error["type"] == "extra_forbidden":
        return "is not a field of this request"
    if str(error["type"]).startswith(_QUOTING_ERRORS):
        return "is not valid here"
    return str(error["msg"]).removeprefix("Value error, ")


def _is_collision(failure: IntegrityError) -> bool:
    engine_error = failure.orig
    found = getattr(engine_error, "sqlstate", None) or getattr(engine_error, "sqlite_errorname", None)
    return found in _COLLISIONS


def _members(code: str, title: str, status: int, detail: str, request_id: str) -> dict[str, object]:
    return {
        "type": f"urn:muniment:problem:{code}",
        "title": title,
        "status": status,
        "detail": detail,
        "request_id": request_id,
        "code": code,
    }


def _headers(refusal: Refusal) -> dict[str, str]:
    headers: dict[str, str] = {}
    wait = getattr(refusal, "retry_after_seconds", None)
    if isinstance(wait, int):
        headers["Retry-After"] = str(max(1, wait))
    if isinstance(refusal, Unauthenticated):
        headers["WWW-Authenticate"] = "Bearer"
    if isinstance(refusal, MethodNotAllowed):
        headers["Allow"] = refusal.allowed
    return headers


def _response(body: Mapping[str, object], status: int, headers: Mapping[str, str]) -> Response:
    # ASCII escapes keep even a stray surrogate encodable; `str` keeps any extra value serialisable.
    content = json.dumps(body, default=str).encode()
    return Response(content, status, {**headers, "Cache-Control": "no-store"}, PROBLEM_MEDIA_TYPE)
