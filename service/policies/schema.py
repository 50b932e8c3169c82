"""The published JSON Schema of policy files, and what of it serves messages."""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, Final

from pydantic import BaseModel

from service.policies.cases import CaseFile
from service.policies.file_model import BundleFile

DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"

Schema = Mapping[str, Any]


@cache
def file_schema(model: type[BaseModel]) -> Schema:
    """Answer the JSON Schema of a kind of file."""
    return {"$schema": DIALECT, **model.model_json_schema()}


def bundle_schema() -> Schema:
    """Answer the JSON Schema of a bundle's YAML files."""
    return file_schema(BundleFile)


def case_schema() -> Schema:
    """Answer the JSON Schema of the files under `tests/`."""
    return file_schema(CaseFile)


def properties_at(schema: Schema, path: Sequence[str | int]) -> Mapping[str, str]:
    """Answer the keys that are known at `path` with their descriptions; none where the path leads nowhere."""
    found: dict[str, str] = {}
    for node in _nodes_at(schema, path):
        for name, rule in node.get("properties", {}).items():
            found[name] = rule.get("description", "")
    return found


def _nodes_at(schema: Schema, path: Sequence[str | int]) -> Sequence[Schema]:
    nodes = _resolve(schema, schema)
    for step in path:
        below: list[Schema] = []
        for node in nodes:
            if isinstance(step, int):
                below.extend(_resolve(schema, node.get("items", {})))
            elif step in node.get("properties", {}):
                below.extend(_resolve(schema, node["properties"][step]))
            else:
                rules = [node.get("additionalProperties"), *node.get("patternProperties", {}).values()]
                for rule in rules:
                    if isinstance(rule, dict):
                        below.extend(_resolve(schema, rule))
        nodes = below
    return nodes


def _resolve(schema: Schema, node: Schema) -> list[Schema]:
    """Follow a reference and open alternatives; the schemas of this package never refer in circles here."""
    if "$ref" in node:
        return _resolve(schema, schema["$defs"][node["$ref"].rpartition("/")[2]])
    if "anyOf" in node:
        return [found for option in node["anyOf"] for found in _resolve(schema, option)]
    return [node]
