"""Renders a package as the system prompt, messages and tools of Anthropic's messages API."""

import json
from collections.abc import Mapping, Sequence

from service.context.messages import contents_of
from service.context.model import Tool
from service.policies.words import SectionName


def tool_text(tool: Tool) -> str:
    """Answer a tool's definition in the API's shape, as compact JSON."""
    definition = {"name": tool.name, "description": tool.description, "input_schema": tool.schema}
    return json.dumps(definition, ensure_ascii=False, separators=(",", ":"))


def tools_section(texts: Sequence[str]) -> str:
    """Answer the JSON of the tools' array, compact: what is counted for the tools is this text."""
    return f"[{','.join(texts)}]" if texts else ""


def render(preamble: str, texts: Mapping[SectionName, str]) -> Mapping[str, object]:
    """Answer `{"system", "messages", "tools"}`.

    The API takes messages of one role that follow each other as one turn: so what lasts through the session
    and what changes with each call stand apart, for the prompt cache.
    """
    contents = contents_of(preamble, texts)
    messages = [{"role": "user", "content": content} for content in contents.changing]
    return {
        "system": contents.stable,
        "messages": messages,
        "tools": json.loads(texts.get(SectionName.TOOLS) or "[]"),
    }
