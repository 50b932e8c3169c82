"""The three renderings side by side: each is three pure functions on texts."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from service.context import render_anthropic, render_markdown, render_openai
from service.context.messages import Pieces
from service.context.model import Rendering, Tool


@dataclass(frozen=True, slots=True)
class Renderer:
    """How one form is made. `is_joined` says that the tools' texts are lines whose counts add up."""

    tool_text: Callable[[Tool], str]
    tools_section: Callable[[Sequence[str]], str]
    render: Callable[[str, Pieces], Mapping[str, object]]
    is_joined: bool


RENDERERS: Final[Mapping[Rendering, Renderer]] = MappingProxyType(
    {
        Rendering.MARKDOWN: Renderer(
            render_markdown.tool_text, render_markdown.tools_section, render_markdown.render, is_joined=True
        ),
        Rendering.OPENAI: Renderer(
            render_openai.tool_text, render_openai.tools_section, render_openai.render, is_joined=False
        ),
        Rendering.ANTHROPIC: Renderer(
            render_anthropic.tool_text,
            render_anthropic.tools_section,
            render_anthropic.render,
            is_joined=False,
        ),
    }
)
assert RENDERERS.keys() == set(Rendering)
