"""Holds one file's content against its model, and says in an author's words what does not fit."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, Generic, TypeVar
from unicodedata import name as letter_name

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from service.policies.file_model import NAMED_SECTIONS
from service.policies.findings import Finding, Place, nearest, shorten
from service.policies.read_yaml import FINDINGS_MAX, Document, Path, Value, path_text
from service.policies.schema import file_schema, properties_at

Model = TypeVar("Model", bound=BaseModel)

_UNKNOWN_KEY: Final = "unknown_key"


@dataclass(frozen=True, slots=True)
class Checked(Generic[Model]):
    """A file's content as its model has it, or what is wrong with it."""

    model: Model | None
    findings: tuple[Finding, ...]


def check_file(document: Document, model: type[Model]) -> Checked[Model]:
    """Validate a document. Nothing is converted: a quoted number is text, and text is no number."""
    if not isinstance(document.content, dict):
        known = ", ".join(properties_at(file_schema(model), ()))
        message = f"a file begins with one of these keys: {known}"
        return Checked(None, (Finding(document.file, document.place_of(()), "not_a_mapping", message),))
    content, named_twice = _with_names(document, document.content)
    if named_twice:
        return Checked(None, named_twice)
    try:
        return Checked(model.model_validate_json(json.dumps(content), strict=True), ())
    except ValidationError as fault:
        errors = _without_echoes(fault.errors(include_url=False))[:FINDINGS_MAX]
        return Checked(None, tuple(_with_path(error, document, model) for error in errors))


def _without_echoes(errors: list[ErrorDetails]) -> list[ErrorDetails]:
    """Leave out that a list is too short where it is so only because what stands in it has faults."""
    faulty = {error["loc"][:length] for error in errors for length in range(len(error["loc"]))}
    return [error for error in errors if error["type"] != "too_short" or error["loc"] not in faulty]


def _with_names(
    document: Document, content: Mapping[str, Value]
) -> tuple[dict[str, Value], tuple[Finding, ...]]:
    """Give the entries of named sections their name: the key that they stand under."""
    named = dict(content)
    findings: list[Finding] = []
    for section in NAMED_SECTIONS:
        entries = content.get(section)
        if not isinstance(entries, dict):
            continue
        completed: dict[str, Value] = {}
        for name, entry in entries.items():
            if isinstance(entry, dict) and "name" in entry:
                place = document.place_of((section, name, "name"), of_key=True)
                message = "`name` is not written: the name is the key above"
                path = path_text((section, name, "name"))
                findings.append(Finding(document.file, place, _UNKNOWN_KEY, message, path=path))
            completed[name] = {**entry, "name": name} if isinstance(entry, dict) else entry
        named[section] = completed
    return named, tuple(findings)


def _with_path(error: ErrorDetails, document: Document, model: type[BaseModel]) -> Finding:
    path = path_text(document.path_of(error["loc"]))
    return replace(_finding(error, document, model), path=path)


def _finding(error: ErrorDetails, document: Document, model: type[BaseModel]) -> Finding:
    location = tuple(error["loc"])
    path = document.path_of(location)
    match error["type"]:
        case "missing":
            return _missing(document, path, str(location[-1]), model)
        case "extra_forbidden":
            known = properties_at(file_schema(model), path[:-1])
            word = str(path[-1])
            message = f"`{shorten(word)}` is not known here: {nearest(word, known)}{_look_alikes(word)}"
            return Finding(document.file, document.place_of(path, of_key=True), _UNKNOWN_KEY, message)
        case "condition":
            inside = error["ctx"]["line"], error["ctx"]["column"]
            place = place_inside(document, path, str(error["input"]), *inside)
            return Finding(document.file, place, "condition", error["msg"])
        case "value_error":
            place = document.place_of(path)
            return Finding(document.file, place, "contradiction", str(error["ctx"]["error"]))
    of_key = bool(location) and location[-1] == "[key]"
    place = document.place_of(path, of_key=of_key)
    return Finding(document.file, place, "bad_key" if of_key else "bad_value", _wrong_value(error))


def _look_alikes(word: str) -> str:
    """Name letters that no key has: some look like one that it has."""
    foreign = [letter for letter in word if not letter.isascii()][:3]
    named = ", ".join(f"U+{ord(letter):04X} {letter_name(letter, 'without a name')}" for letter in foreign)
    return f" It holds {named}." if named else ""


def place_inside(document: Document, path: Path, text: str, line: int, column: int) -> Place:
    """Answer where in the file a place inside the text at `path` stands, as near as its layout tells."""
    start = document.place_of(path)
    inner = text.split("\n")
    wanted = inner[min(line, len(inner)) - 1].strip()
    lines = document.text.split("\n")
    for number in range(start.line, min(len(lines), start.line + len(inner) + 1) + 1):
        # A folded text has no line of its own in the file: then the place of the whole has to do.
        found = lines[number - 1].find(wanted) if wanted else -1
        if found >= 0:
            return Place(number, found + column)
    return start


def _missing(document: Document, path: Path, key: str, model: type[BaseModel]) -> Finding:
    about = properties_at(file_schema(model), path).get(key, "")
    message = f"`{key}` is missing" + (f": {about}" if about else "")
    place: Place = document.place_of(path, of_key=True)
    return Finding(document.file, place, "missing_key", message)


def _wrong_value(error: ErrorDetails) -> str:
    message = error["msg"].replace("Input should be", "this should be").replace("String should", "it should")
    context: Mapping[str, Any] = error.get("ctx", {})
    found = error.get("input")
    if error["type"] in ("enum", "literal_error") and isinstance(found, str):
        choices = [choice.strip(" '") for choice in str(context["expected"]).replace(" or ", ", ").split(",")]
        hint = nearest(found, choices)
        return f"{message}; {hint}" if hint.startswith("did") else message
    return message
