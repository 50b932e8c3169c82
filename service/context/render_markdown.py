"""Renders a package as one text, sections one after the other."""

import json
from collections.abc import Mapping, Sequence

from service.context.messages import Pieces
from service.context.model import Tool
from service.policies.words import SectionName


def tool_text(tool: Tool) -> str:
    """Answer a tool's definition as one line of JSON, which no content can leave."""
    definition = {
        "name": tool.name,
        "description": tool.description,
        "effect": "write" if tool.writes else "read",
        "schema": tool.schema,
    }
    text = json.dumps(definition, ensure_ascii=False, separators=(",", ":"))
    # JSON escapes every line break but these three, and they stand in strings only.
    return text.replace("\x85", "\\u0085").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def tools_section(texts: Sequence[str]) -> str:
    """Answer the tools' section: one definition a line."""
    return "".join(["# tools\n", *(f"{text}\n" for text in texts)]) if texts else ""


def render(preamble: str, pieces: Pieces) -> Mapping[str, object]:
    """Answer `{"text"}`: what is counted is this text."""
    return {"text": preamble + "".join(piece for name in SectionName for piece in pieces.get(name, ()))}
