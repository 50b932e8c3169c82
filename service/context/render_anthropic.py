"""Renders a package as the system prompt, messages and tools of Anthropic's messages API."""

import json
from collections.abc import Mapping, Sequence
from typing import Final

from service.context.messages import Pieces, contents_of
from service.context.model import Tool
from service.policies.words import SectionName

BREAKPOINTS_MAX: Final = 4
"""So many the API takes in one request; here are three at most, so that one is left for the caller's own."""


def tool_text(tool: Tool) -> str:
    """Answer a tool's definition in the API's shape, as compact JSON."""
    definition = {"name": tool.name, "description": tool.description, "input_schema": tool.schema}
    return json.dumps(definition, ensure_ascii=False, separators=(",", ":"))


def tools_section(texts: Sequence[str]) -> str:
    """Answer the JSON of the tools' array, compact: what is counted for the tools is this text."""
    return f"[{','.join(texts)}]" if texts else ""


def render(preamble: str, pieces: Pieces) -> Mapping[str, object]:
    """Answer `{"system", "messages", "tools"}`, in content blocks with breakpoints for the prompt cache.

    The first stands behind the instructions and covers the tools too, which the API puts before them; the
    second behind what stays until something is pinned; the third behind the newest turn. Each turn is a block
    of its own: the API finds what a call before this one left in its cache only at the end of a block, and up
    to twenty blocks before a breakpoint.
    """
    contents = contents_of(preamble, pieces)
    growing = [_block(text) for text in contents.growing]
    session = [*_lasting(contents.lasting), *growing[:-1], *map(_with_breakpoint, growing[-1:])]
    session += [_block(contents.foot)] if contents.foot else []
    volatile = [_block(contents.volatile)] if contents.volatile else []
    return {
        "system": _lasting(contents.stable),
        "messages": [{"role": "user", "content": content} for content in (session, volatile) if content],
        "tools": json.loads("".join(pieces.get(SectionName.TOOLS, ())) or "[]"),
    }


def _lasting(text: str) -> list[dict[str, object]]:
    return [_with_breakpoint(_block(text))] if text else []


def _block(text: str) -> dict[str, object]:
    return {"type": "text", "text": text}


def _with_breakpoint(block: dict[str, object]) -> dict[str, object]:
    return {**block, "cache_control": {"type": "ephemeral"}}
