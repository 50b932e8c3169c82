"""What a provider's prompt cache can reuse: the same bytes at the start of one call after another."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import FixedClock
from context_world import World, open_world
from executions_world import AGENT
from tiktoken_reference import count

from service.context.model import Package, Rendering, Segment, Tool
from service.context.render_anthropic import BREAKPOINTS_MAX
from service.core.database import Database
from service.executions.conversation.model import TurnRole
from service.executions.model import Execution

TOOLS = (
    Tool("orders_find", "Finds orders.", {"type": "object", "properties": {}}, writes=False),
    Tool("orders_list", "Lists orders.", {"type": "object"}, writes=False),
)


@pytest.fixture
def world(database: Database, tmp_path: Path, clock: FixedClock) -> Iterator[World]:
    with open_world(database, tmp_path, clock) as world:
        yield world


def _build(world: World, run: Execution, rendering: Rendering, **fields: Any) -> Package:
    return world.build(execution_id=run.id, rendering=rendering, tools=TOOLS, **fields)


def _stable(package: Package) -> str:
    """Answer all that the package says of its stable segment, as it would be sent."""
    rendered: Any = package.rendered
    if "text" in rendered:
        text = str(rendered["text"])
        return text[: text.index("# scope\n")]
    tools = json.dumps(rendered["tools"], ensure_ascii=False, separators=(",", ":"))
    first = rendered.get("system") or rendered["messages"][0]
    return tools + json.dumps(first, ensure_ascii=False)


@pytest.mark.parametrize("rendering", list(Rendering))
def test_runs_of_one_profile_with_the_same_tools_share_the_bytes_of_their_stable_segment(
    world: World, clock: FixedClock, rendering: Rendering
) -> None:
    world.add("Plot 18: outline consent granted on 3 March.", "doc://plots/18")
    first_run = world.runs.open()
    first = _build(world, first_run, rendering, query="plot 18")
    clock.advance(days=3, seconds=7)
    second_run = world.runs.open(objective="Something else altogether")
    world.runs.say(second_run, "What of plot 18?")
    second = _build(world, second_run, rendering, query="consent of March", max_tokens=3_000)

    assert first.fence_marker != second.fence_marker
    assert _stable(first) == _stable(second)
    assert first.prefix_hashes["stable"] == second.prefix_hashes["stable"]
    assert first.prefix_hashes["session"] != second.prefix_hashes["session"]
    for chance in (first.fence_marker, first_run.id, first.id, "2026"):
        assert chance not in _stable(first)


def test_the_stable_tokens_are_those_of_the_bytes_that_two_calls_in_a_row_share(world: World) -> None:
    world.add("Plot 18: outline consent granted on 3 March.", "doc://plots/18")
    run = world.runs.open()
    first = _build(world, run, Rendering.MARKDOWN, query="plot 18")
    world.runs.say(run, "What of plot 18?")
    second = _build(world, run, Rendering.MARKDOWN, query="consent of March")

    shared = _shared(first, second)

    stable = _stable(first)
    assert shared.startswith(stable)
    assert first.stable_prefix_tokens == second.stable_prefix_tokens == count(stable, first.encoding)
    # Beyond it they share scope and goal, and part where one has a history and the other none.
    assert shared.endswith(f"</data {first.fence_marker}>\n# ")


def test_a_turn_more_is_added_behind_all_that_the_call_before_held(world: World) -> None:
    run = world.runs.open()
    world.runs.say(run, "What of plot 18?")
    first = _build(world, run, Rendering.MARKDOWN)
    world.runs.say(run, "Consent was granted on 3 March.", TurnRole.ASSISTANT)
    second = _build(world, run, Rendering.MARKDOWN)

    session = "".join(one.text for one in first.sections if one.segment is Segment.SESSION)
    foot = f"</data {first.fence_marker}>\n"
    assert _shared(first, second).startswith((_stable(first) + session).removesuffix(foot))


def _shared(first: Package, second: Package) -> str:
    one, other = str(first.rendered["text"]), str(second.rendered["text"])
    length = next(
        (place for place, pair in enumerate(zip(one, other, strict=False)) if pair[0] != pair[1]),
        min(len(one), len(other)),
    )
    return one[:length]


def test_breakpoints_stand_where_stable_and_session_segments_end(world: World) -> None:
    world.add("Plot 18: outline consent granted on 3 March.", "doc://plots/18")
    run = world.runs.open()
    for text in ("What of plot 18?", "And of plot 19?"):
        world.runs.say(run, text)

    rendered: Any = _build(world, run, Rendering.ANTHROPIC).rendered

    session, volatile = (message["content"] for message in rendered["messages"])
    assert [message["role"] for message in rendered["messages"]] == ["user", "user"]
    assert _marked(rendered["system"]) == [0]
    # Behind the goal and behind the newest turn; what closes the history moves on with each turn.
    assert _marked(session) == [0, 2]
    assert session[2]["text"].startswith("[turn 2 user")
    assert session[3]["text"].startswith("</data ")
    assert _marked(volatile) == []
    assert len([*_marked(rendered["system"]), *_marked(session)]) < BREAKPOINTS_MAX


def test_every_block_is_one_that_the_messages_api_takes(world: World) -> None:
    run = world.runs.open()

    for rendered in (
        _build(world, run, Rendering.ANTHROPIC).rendered,
        world.build(AGENT, max_tokens=150, rendering=Rendering.ANTHROPIC).rendered,
    ):
        blocks: list[Any] = list(rendered["system"])  # type: ignore[call-overload]  # JSON
        for message in rendered["messages"]:  # type: ignore[attr-defined]  # JSON
            assert message["content"]
            blocks += message["content"]
        for block in blocks:
            assert block["text"].strip()
            assert block["type"] == "text"
            assert block.keys() <= {"type", "text", "cache_control"}
            assert block.get("cache_control", {"type": "ephemeral"}) == {"type": "ephemeral"}


def test_the_blocks_of_a_call_are_found_again_at_the_start_of_the_next(world: World) -> None:
    run = world.runs.open()
    world.runs.say(run, "What of plot 18?")
    first: Any = _build(world, run, Rendering.ANTHROPIC).rendered
    for number in range(3):
        world.runs.say(run, f"And of plot {19 + number}?")
    second: Any = _build(world, run, Rendering.ANTHROPIC).rendered

    before, after = (_texts(one["system"]) + _texts(one["messages"][0]["content"]) for one in (first, second))
    last_marked = max(_marked(first["messages"][0]["content"])) + len(first["system"])
    assert after[: last_marked + 1] == before[: last_marked + 1]


def _marked(blocks: list[dict[str, Any]]) -> list[int]:
    return [place for place, block in enumerate(blocks) if "cache_control" in block]


def _texts(blocks: list[dict[str, Any]]) -> list[str]:
    return [block["text"] for block in blocks]
