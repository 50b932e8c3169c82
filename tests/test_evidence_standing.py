"""How far evidence is believed: by its source, by the credential, and by the lowest of its lineage."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import FixedClock
from evidence_world import REGISTRAR, STRANGER, USER, World, caller, new, open_world

from service.core.database import Database
from service.evidence.get import get_evidence
from service.evidence.model import Limitation, Reference, ReferenceNotFound, Standing
from service.identity.model import Caller
from service.policies.model import NO_BUNDLE
from service.policies.words import Authority, Trust

AGENT = caller()


@pytest.fixture
def world(database: Database, tmp_path: Path, clock: FixedClock) -> Iterator[World]:
    with open_world(database, tmp_path, clock) as opened:
        yield opened


@pytest.mark.parametrize(
    ("who", "uri", "claimed", "expected"),
    [
        (REGISTRAR, "register://a", None, Standing(Trust.FIRST_PARTY, Authority.SYSTEM_OF_RECORD)),
        (REGISTRAR, "register://a", Authority.DOCUMENT, Standing(Trust.FIRST_PARTY, Authority.DOCUMENT)),
        (
            AGENT,
            "register://a",
            Authority.SYSTEM_OF_RECORD,
            Standing(Trust.THIRD_PARTY, Authority.DOCUMENT, Limitation.SOURCE_NOT_GRANTED),
        ),
        (AGENT, "tool://t", None, Standing(Trust.INTERNAL_TOOL, Authority.TOOL_RESULT)),
        (
            AGENT,
            "doc://d",
            Authority.APPROVED_RECORD,
            Standing(Trust.EXTERNAL_TOOL, Authority.DOCUMENT, Limitation.AUTHORITY_ABOVE_CEILING),
        ),
        (REGISTRAR, "https://example.org/", None, Standing(Trust.THIRD_PARTY, Authority.DOCUMENT)),
        (
            REGISTRAR,
            "https://example.org/",
            Authority.TOOL_RESULT,
            Standing(Trust.THIRD_PARTY, Authority.DOCUMENT, Limitation.AUTHORITY_ABOVE_CEILING),
        ),
    ],
)
def test_the_source_sets_trust_and_the_ceiling_and_the_answer_says_what_was_not_granted(
    world: World, who: Caller, uri: str, claimed: Authority | None, expected: Standing
) -> None:
    kept = world.add(new("text", uri, authority=claimed), who)

    assert kept.standing == expected
    with world.unit(who) as unit:
        assert get_evidence(kept.id, unit=unit).standing == expected
    (passage,) = world.passages(kept, who)
    assert (passage.trust, passage.authority) == (expected.trust, expected.authority)


def test_without_a_policy_everything_is_a_third_party_s_document(world: World) -> None:
    world.bundle = NO_BUNDLE

    kept = world.add(new("text", "register://a"), REGISTRAR)

    assert (kept.standing.trust, kept.standing.authority) == (Trust.THIRD_PARTY, Authority.DOCUMENT)


def test_what_is_derived_takes_the_lowest_trust_of_its_lineage(world: World) -> None:
    tool = world.add(new("a", "tool://a"))
    web = world.add(new("b", "https://example.org/b"))
    first = Reference("evidence", tool.id, 1)

    summary = world.add(new("c", "register://c", derived_from=(first,)), REGISTRAR)
    mixed = world.add(
        new("d", "register://d", derived_from=(first, Reference("evidence", web.id))), REGISTRAR
    )
    again = world.add(new("e", "register://e", derived_from=(Reference("evidence", mixed.id),)), REGISTRAR)

    assert [each.standing.trust for each in (summary, mixed, again)] == [
        Trust.INTERNAL_TOOL,
        Trust.THIRD_PARTY,
        Trust.THIRD_PARTY,
    ]
    with world.unit() as unit:
        assert get_evidence(summary.id, unit=unit).derived_from == (first,)


@pytest.mark.parametrize("kind", ["turn", "observation", "memory", "package"])
def test_a_lineage_that_cannot_be_checked_here_is_untrusted(world: World, kind: str) -> None:
    kept = world.add(new("text", "tool://t", derived_from=(Reference(kind, "01936d7e"),)))

    assert kept.standing.trust is Trust.THIRD_PARTY


def test_a_lineage_of_what_the_caller_may_not_read_is_not_found(world: World) -> None:
    foreign = world.add(new("x"), STRANGER)
    private = world.add(new("x", readers=("user:user-1",)), USER)

    for target in (foreign.id, private.id, "01936d7e"):
        references = (Reference("turn", "1"), Reference("evidence", target))
        with pytest.raises(ReferenceNotFound) as refused:
            world.add(new("y", "doc://y", derived_from=references))
        assert refused.value.extra["errors"] == [
            {"pointer": "/derived_from/1", "message": "names nothing that you may read"}
        ]
