"""Renders a package as the messages and tools of OpenAI's chat completions API."""

import json
from collections.abc import Mapping, Sequence

from service.context.messages import Pieces, contents_of
from service.context.model import Tool
from service.policies.words import SectionName


def tool_text(tool: Tool) -> str:
    """Answer a tool's definition in the API's shape, as compact JSON."""
    function = {"name": tool.name, "description": tool.description, "parameters": tool.schema}
    return json.dumps({"type": "function", "function": function}, ensure_ascii=False, separators=(",", ":"))


def tools_section(texts: Sequence[str]) -> str:
    """Answer the JSON of the tools' array, compact: what is counted for the tools is this text."""
    return f"[{','.join(texts)}]" if texts else ""


def render(preamble: str, pieces: Pieces) -> Mapping[str, object]:
    """Answer `{"messages", "tools"}`.

    The instructions are the system's message; one message follows for what lasts through the session and one
    for what changes with each call. Empty messages are left out.
    """
    contents = contents_of(preamble, pieces)
    messages = [{"role": "system", "content": contents.stable}] if contents.stable else []
    messages += [{"role": "user", "content": content} for content in contents.changing]
    return {"messages": messages, "tools": json.loads("".join(pieces.get(SectionName.TOOLS, ())) or "[]")}
