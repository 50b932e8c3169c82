"""The OpenAPI 3.1 document: every operation with its scope, an example and its problems."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from fastapi import FastAPI
from pydantic import BaseModel, ConfigDict

from service.core.errors import (
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
from service.core.idempotency import KeyReused, StillRunning
from service.entry.http.body import FILE_FIELD, META_FIELD
from service.entry.http.idempotency import REPLAYED_HEADER, KeyMalformed
from service.entry.http.problems import PROBLEM_MEDIA_TYPE, status_of
from service.entry.http.route import UPLOAD_MARK, QueryInvalid
from service.entry.http.strict_json import JsonMalformed

_EXAMPLE_MARK: Final = "x-example"
_CREATES_MARK: Final = "x-creates"
_REQUEST_ID: Final = "01936d7e-5d5c-7c3e-9d0a-6c1f0f3f7a11"
_CREATED: Final = 201
_METHODS: Final = frozenset({"get", "put", "post", "patch", "delete"})


class Fault(BaseModel):
    """One thing that is wrong with the request."""

    pointer: str
    message: str


class Problem(BaseModel):
    """An RFC 9457 problem. Some codes add members of their own, named in the documentation of errors."""

    model_config = ConfigDict(extra="allow")

    type: str
    title: str
    status: int
    detail: str
    request_id: str
    code: str
    errors: list[Fault] = []


def operation(
    *,
    summary: str,
    answer: type[BaseModel] | None,
    status: int = 200,
    example: object | None = None,
    problems: Sequence[type[Refusal]] = (),
    upload: bool = False,
    creates: bool | None = None,
    also: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """Answer the keyword arguments of a route's decorator.

    `example` is of the request's body or, where there is none, of the answer. `problems` are the refusals
    beyond those that every operation may give. `upload` lets the call take a file beside its JSON fields,
    `creates` says that it honours `Idempotency-Key` (without it: whether it answers 201), and `also` gives an
    example for each further media type that it can answer in.
    """
    creates = status == _CREATED if creates is None else creates
    # As text: FastAPI would leave out what is null in it.
    written = None if example is None else json.dumps(example)
    marks: dict[str, Any] = {UPLOAD_MARK: upload, _CREATES_MARK: creates, _EXAMPLE_MARK: written}
    documented: dict[int | str, dict[str, Any]] = {
        code: _problem(kinds) for code, kinds in _by_status(problems).items()
    }
    if also:
        content = {media_type: {"example": text} for media_type, text in also.items()}
        documented[status] = {"description": "The answer.", "content": content}
    return {
        "summary": summary,
        "status_code": status,
        "response_model": answer,
        "responses": documented,
        "openapi_extra": marks,
    }


def finish(document: dict[str, Any]) -> dict[str, Any]:
    """Complete what FastAPI wrote: examples, the problems of every operation, uploads, alternative scopes."""
    schemas = document.setdefault("components", {}).setdefault("schemas", {})
    schemas["Fault"] = Fault.model_json_schema()
    problem = Problem.model_json_schema(ref_template="#/components/schemas/{model}")
    problem.pop("$defs")
    schemas["Problem"] = problem
    # Written by FastAPI for its own validation errors, which never leave this service.
    schemas.pop("HTTPValidationError", None)
    schemas.pop("ValidationError", None)
    for path, found in _operations(document):
        _finish_operation(path, found)
    return document


def install(app: FastAPI) -> None:
    """Make the app answer the finished document."""
    written = app.openapi
    finished: dict[str, Any] = {}

    def openapi() -> dict[str, Any]:
        if not finished:
            finished.update(finish(written()))
        return finished

    app.openapi = openapi  # type: ignore[method-assign]  # FastAPI documents this as the way to extend it


def _operations(document: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for path, methods in document.get("paths", {}).items():
        yield from ((path, found) for method, found in methods.items() if method in _METHODS)


def _finish_operation(path: str, found: dict[str, Any]) -> None:
    upload, creates = found.pop(UPLOAD_MARK, False), found.pop(_CREATES_MARK, False)
    written = found.pop(_EXAMPLE_MARK, None)
    kinds: list[type[Refusal]] = [Unauthenticated, Forbidden, QueryInvalid, TooMany, Unavailable]
    if "{" in path:
        kinds.append(NotFound)
    if "requestBody" in found:
        kinds += [TooLarge, Unsupported, JsonMalformed, Invalid]
    if any(parameter["name"] == "If-Match" for parameter in found.get("parameters", [])):
        kinds += [PreconditionNeeded, Stale]
        _require_if_match(found)
    if creates:
        kinds += [KeyMalformed, KeyReused, StillRunning, Gone]
        _describe_idempotency(found)
    _add_problems(found, kinds)
    if written is not None:
        _place_example(found, json.loads(written))
    if upload:
        _describe_upload(found)
    # Scopes of one requirement would all be needed; ours are alternatives.
    found["security"] = [
        {name: [scope]}
        for requirement in found.get("security", [])
        for name, scopes in requirement.items()
        for scope in scopes
    ]


def _by_status(kinds: Sequence[type[Refusal]]) -> dict[str, list[type[Refusal]]]:
    grouped: dict[str, list[type[Refusal]]] = {}
    for kind in kinds:
        grouped.setdefault(str(status_of(kind)), []).append(kind)
    return grouped


def _problem(kinds: Sequence[type[Refusal]]) -> dict[str, Any]:
    first = kinds[0]
    return {
        "description": "; ".join(f"`{kind.code}`: {kind.title}" for kind in kinds),
        "content": {
            PROBLEM_MEDIA_TYPE: {
                "schema": {"$ref": "#/components/schemas/Problem"},
                "example": {
                    "type": f"urn:muniment:problem:{first.code}",
                    "title": first.title,
                    "status": status_of(first),
                    "detail": first.title,
                    "request_id": _REQUEST_ID,
                    "code": first.code,
                },
            }
        },
    }


def _add_problems(found: dict[str, Any], kinds: Sequence[type[Refusal]]) -> None:
    responses = found.setdefault("responses", {})
    for status, grouped in _by_status(kinds).items():
        described = _problem(grouped)
        if status in responses and PROBLEM_MEDIA_TYPE in responses[status].get("content", {}):
            responses[status]["description"] += "; " + described["description"]
        else:
            responses[status] = described


def _place_example(found: dict[str, Any], example: object) -> None:
    if "requestBody" in found:
        found["requestBody"]["content"]["application/json"]["example"] = example
        return
    for status, response in found["responses"].items():
        if status.startswith("2") and "application/json" in response.get("content", {}):
            response["content"]["application/json"]["example"] = example


def _describe_upload(found: dict[str, Any]) -> None:
    content = found["requestBody"]["content"]
    schema = content["application/json"]["schema"]
    content["multipart/form-data"] = {
        "schema": {
            "type": "object",
            "required": [FILE_FIELD, META_FIELD],
            "properties": {
                FILE_FIELD: {"type": "string", "contentMediaType": "application/octet-stream"},
                META_FIELD: {
                    "type": "string",
                    "contentMediaType": "application/json",
                    "contentSchema": schema,
                },
            },
        }
    }


def _require_if_match(found: dict[str, Any]) -> None:
    for parameter in found["parameters"]:
        if parameter["name"] == "If-Match":
            parameter |= {
                "required": True,
                "schema": {"type": "string", "pattern": '^"[1-9][0-9]*"$'},
                "example": '"1"',
                "description": "The ETag of the version that was read.",
            }


def _describe_idempotency(found: dict[str, Any]) -> None:
    found.setdefault("parameters", []).append(
        {
            "name": "Idempotency-Key",
            "in": "header",
            "required": False,
            "schema": {"type": "string", "minLength": 1, "maxLength": 200},
            "description": f"A repeat within 24 hours gets the first answer with `{REPLAYED_HEADER}: true`.",
        }
    )
