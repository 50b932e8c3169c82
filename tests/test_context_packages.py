"""Building a package from evidence: what is in it, what is not, and why."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from context_world import World, open_world, section
from executions_world import AGENT, COLLEAGUE, STRANGER, caller
from tiktoken_reference import count

from service.context.budget import BudgetTooSmall
from service.context.model import OmissionReason, Package, Rendering, Tool
from service.context.request import ProfileUnknown, PurposeUnknown, SectionLimits
from service.core.clock import Clock
from service.core.database import Database
from service.core.errors import Invalid, NotFound, Unavailable
from service.evidence.model import Group
from service.policies.words import SectionName

PLOT = "Plot 18: outline consent granted on 3 March."


@pytest.fixture
def world(database: Database, tmp_path: Path, clock: Clock) -> Iterator[World]:
    with open_world(database, tmp_path, clock) as world:
        yield world


def test_evidence_is_cited_with_id_version_span_and_hash(world: World) -> None:
    kept = world.add(PLOT, "doc://plots/18", title="Planning register")

    package = world.build()

    (item,) = section(package, "evidence").items
    assert (item.citation, item.candidate.id, item.candidate.version) == ("E1", kept.id, 1)
    assert (item.span, item.candidate.sha256, item.text) == ((0, len(PLOT)), kept.sha256, PLOT)
    text = str(package.rendered["text"])
    assert "# evidence: external_tool document unless noted\n" in text
    assert f"## Planning register (2026-11-30)\n[E1] {PLOT}\n" in text


def test_the_package_is_exact_at_every_budget_or_says_what_it_needs(world: World) -> None:
    for number in range(12):
        world.add(f"Plot {number}: consent number {number} was granted.", f"doc://plots/{number}")

    for budget in (0, 50, 120, 160, 200, 260, 400, 4_000):
        try:
            package = world.build(max_tokens=budget)
        except BudgetTooSmall as small:
            needed = small.needed_tokens
            assert needed > budget
            continue
        assert package.used_tokens == count(str(package.rendered["text"])) <= budget
    assert world.build(max_tokens=needed).used_tokens == needed


def test_every_candidate_is_in_or_is_named_among_the_omissions(world: World) -> None:
    kept = {
        world.add(f"Plot 18 file {number}: " + "consent " * 30, f"doc://plots/{number}").id
        for number in range(9)
    }

    package = world.build(sections={SectionName.EVIDENCE: SectionLimits(maximum=150)})

    inside = {item.candidate.id for item in section(package, "evidence").items}
    outside = [one for one in package.omissions if one.section is SectionName.EVIDENCE]
    assert inside | {one.id for one in outside} == kept
    assert all(one.reason is OmissionReason.OVER_BUDGET and one.tokens > 0 for one in outside)


@pytest.mark.parametrize("limits", [{}, {SectionName.EVIDENCE: SectionLimits(minimum=40, maximum=300)}])
def test_the_budget_named_for_an_omission_holds_it_and_one_token_less_does_not(
    world: World, limits: dict[SectionName, SectionLimits]
) -> None:
    for number in range(6):
        text = f"Plot 18 file {number}: " + "consent granted again " * (5 + 7 * number)
        world.add(text, f"doc://plots/{number}")
    small = world.build(max_tokens=400, reply_reserve=100, sections=limits)
    fits = {
        one.id: one.would_fit_with
        for one in small.omissions
        if one.section is SectionName.EVIDENCE and one.would_fit_with is not None
    }

    assert len(fits) > 1
    for evidence_id, fit in fits.items():
        larger, smaller = (
            world.build(max_tokens=tokens, reply_reserve=100, sections=limits) for tokens in (fit, fit - 1)
        )
        assert evidence_id in _evidence(larger)
        assert evidence_id not in _evidence(smaller)


def _evidence(package: Package) -> set[str]:
    return {item.candidate.id for item in section(package, "evidence").items}


def test_near_duplicates_are_merged_and_differing_numbers_are_not(world: World) -> None:
    first = world.add("Plot 18: consent was granted.", "doc://a")
    world.add("plot 18 — Consent was   granted", "doc://b")
    other = world.add("Plot 19: consent was granted.", "doc://c")

    package = world.build()

    assert {item.candidate.id for item in section(package, "evidence").items} >= {other.id}
    (omission,) = [one for one in package.omissions if one.reason is OmissionReason.DUPLICATE]
    assert omission.id != other.id
    assert first.id != other.id


def test_stale_evidence_is_left_out_and_says_so(world: World) -> None:
    stale = world.add(PLOT, "doc://plots/18", fresh_until=world.clock())

    package = world.build()

    assert section(package, "evidence").items == ()
    assert [(one.id, one.reason) for one in package.omissions] == [(stale.id, OmissionReason.STALE)]


def test_what_the_caller_may_not_read_is_not_mentioned(world: World) -> None:
    secret = world.add(PLOT, "doc://plots/18", readers=("user:user-1",))

    mine, theirs = world.build(AGENT), world.build(COLLEAGUE)

    assert secret.id in repr(mine)
    assert secret.id not in repr(theirs)
    assert theirs.omissions == ()


def test_pieces_of_one_group_share_a_header_and_stand_in_their_order(world: World) -> None:
    for number in (3, 1, 2):
        world.add(
            f"Turn {number} about plot 18.",
            f"doc://session/{number}",
            group=Group("session", "Session of March", number),
        )

    text = section(world.build(), "evidence").text

    assert text.count("## Session of March") == 1
    assert [line for line in text.splitlines() if line.startswith("[E")] == [
        "[E1] Turn 1 about plot 18.",
        "[E2] Turn 2 about plot 18.",
        "[E3] Turn 3 about plot 18.",
    ]


def test_a_header_says_the_day_once(world: World) -> None:
    for number, title in enumerate(
        ("1:56 pm on 30 November, 2026", "Call of 2026-11-30", "29 November, 2026")
    ):
        group = Group(id=f"session-{number}", title=title, sequence=0)
        world.add(f"Plot 18 came up in call {number}.", f"chat://{number}", group=group)

    text = str(world.build().rendered["text"])

    assert "## 1:56 pm on 30 November, 2026\n" in text
    assert "## Call of 2026-11-30\n" in text
    assert "## 29 November, 2026 (2026-11-30)\n" in text


def test_a_standing_that_most_share_is_said_once_and_another_is_noted(world: World) -> None:
    for number in range(3):
        world.add(f"Plot 18, paper {number}.", f"doc://plots/{number}", title="Paper")
    world.add("Plot 18, rumour.", "web://plots", title="Rumour")

    text = section(world.build(), "evidence").text

    assert text.count("external_tool document") == 1
    assert "## Rumour (third_party document, 2026-11-30)\n" in text


def test_unknown_names_and_foreign_projects_are_refused(world: World) -> None:
    with pytest.raises(PurposeUnknown):
        world.build(purpose="nothing")
    with pytest.raises(ProfileUnknown):
        world.build(profile="nothing")
    with pytest.raises(Invalid):
        world.build(encoding="p50k_base")
    with pytest.raises(NotFound):
        world.build(project="beta")
    with pytest.raises(NotFound):
        world.build(STRANGER, execution_id="01936d7e-0000-7000-8000-00000000beef")


def test_a_model_chooses_its_encoding(world: World) -> None:
    package = world.build(model="gpt-4")

    assert package.encoding == "cl100k_base"
    assert package.used_tokens == count(str(package.rendered["text"]), "cl100k_base")


def test_tools_without_a_capability_are_left_out(world: World) -> None:
    names = ("orders.read", "launches.start", "nobody.knows")
    tools = tuple(Tool(name, "Does it", {"type": "object"}, writes=name != "orders.read") for name in names)

    package = world.build(tools=tools, rendering=Rendering.OPENAI)

    shown = package.rendered["tools"]
    assert isinstance(shown, list)
    assert [tool["function"]["name"] for tool in shown] == ["orders.read"]
    assert [(one.id, one.reason) for one in package.omissions] == [
        ("launches.start", OmissionReason.NOT_PERMITTED),
        ("nobody.knows", OmissionReason.NOT_PERMITTED),
    ]
    assert any("tool_name" in warning for warning in package.warnings)


def test_two_calls_differ_only_after_the_stable_prefix(world: World) -> None:
    world.add(PLOT, "doc://plots/18")

    first, second = world.build(query="plot 18"), world.build(query="consent of March")

    assert first.prefix_hashes["stable"] == second.prefix_hashes["stable"]
    assert first.stable_prefix_tokens == second.stable_prefix_tokens > 0
    assert first.id != second.id


def test_a_search_that_is_down_degrades_only_where_the_profile_allows_it(world: World) -> None:
    world.index.close()
    with pytest.raises(Unavailable):
        world.build()

    lenient = world.bundle.profiles["default"].model_copy(update={"degraded_allowed": True})
    world.bundle = world.bundle.model_copy(update={"profiles": {"default": lenient}})

    assert world.build().degraded == ("evidence", "memories")


def test_an_empty_query_searches_nothing_and_warns(world: World) -> None:
    world.add(PLOT, "doc://plots/18")

    package = world.build(query=None)

    assert section(package, "evidence").items == ()
    assert package.warnings[0].startswith("query_empty")


def test_another_project_of_the_tenant_stays_closed(world: World) -> None:
    world.add(PLOT, "doc://plots/18")

    with pytest.raises(NotFound):
        world.build(replace(caller("agent-9"), projects=frozenset()))
