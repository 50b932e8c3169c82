"""Who may grade, what a check may point at, and when a requirement has failed too often."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from acceptance_world import OTHER_ARTIFACT, fail, standing
from conftest import FixedClock
from executions_world import ALPHA, ARTIFACT, GRADER, SEEN, USER, World, caller, open_world

from service.adapters.chunker import SemanticChunker
from service.core.database import Database
from service.core.hashing import hash_text
from service.core.ids import new_id
from service.evidence.add import add_evidence
from service.evidence.model import NewEvidence, ReferenceNotFound, Source
from service.executions.acceptance.model import CheckStatus, FailureKind
from service.executions.handoff import compose_handoff, pending_action
from service.executions.model import Budgets
from service.executions.refusals import GraderIsAuthor
from service.identity.model import Role
from service.policies.words import Authority


@pytest.fixture
def world(database: Database, tmp_path: Path, clock: FixedClock) -> Iterator[World]:
    with open_world(database, tmp_path, clock) as world:
        yield world


def _add_evidence(world: World, uri: str, *readers: str) -> str:
    new = NewEvidence(
        project=ALPHA.name,
        text="The page after signing in.",
        title="Screenshot",
        source=Source(uri=uri, kind="tool", source_version="1", observed_at=SEEN),
        authority=Authority.TOOL_RESULT,
        readers=readers,
    )
    with world.unit(USER) as unit:
        chunker = SemanticChunker(world.tokens)
        return add_evidence(new, unit=unit, bundle=world.bundle, chunker=chunker).id


@pytest.mark.parametrize("subject", ["user-1", "agent-1"])
def test_nobody_grades_a_run_of_their_own(world: World, subject: str) -> None:
    run = world.open()
    world.submit(run)

    with pytest.raises(GraderIsAuthor):
        world.grade(run, who=caller(subject, role=Role.GRADER))

    assert world.grade(run).id == run.id


def test_nobody_grades_a_candidate_of_their_own(world: World) -> None:
    run = world.open()
    helper = caller("agent-2", on_behalf_of="user-1")
    world.submit(run, who=helper)
    world.submit(run, OTHER_ARTIFACT)

    with pytest.raises(GraderIsAuthor):
        world.grade(run, who=caller("agent-2", role=Role.GRADER), artifact_hash=OTHER_ARTIFACT)


def test_a_check_points_only_at_evidence_that_the_grader_may_read(world: World) -> None:
    run = world.open()
    world.submit(run)
    shown, hidden = _add_evidence(world, "tool://page"), _add_evidence(world, "tool://mine", "user:user-1")

    for missing in (hidden, new_id()):
        with pytest.raises(ReferenceNotFound):
            world.grade(run, output_ref=f"evidence:{missing}")
    world.grade(run, output_ref=f"evidence:{shown}")
    world.grade(run, "orders", output_ref="evidence:of-another-system", artifact_hash=ARTIFACT)

    with world.store(GRADER) as store:
        outputs = [check.output_ref for check in store.checks(run.id)]
    assert outputs == [f"evidence:{shown}", "evidence:of-another-system"]


def test_a_requirement_is_escalated_once_its_failures_are_more_than_its_revisions(world: World) -> None:
    run = world.open(budgets=Budgets(revisions=1))
    world.submit(run)
    fail(world, run)
    fail(world, run, kind=FailureKind.FLAKY)
    within = pending_action(world.facts(run))
    fail(world, run, kind=FailureKind.PERMISSION)

    facts = world.facts(run)
    [blocker] = compose_handoff(facts).blockers
    found = facts.standings[0]

    assert within == "verify:login"
    assert pending_action(facts) == "escalate:login"
    assert (found.failures, found.escalated, found.failure_kind) == (2, True, FailureKind.PERMISSION)
    assert blocker.text == "requirement login failed (permission), more often than its revisions allow"


def test_an_escalation_is_over_when_the_requirement_passes(world: World) -> None:
    run = world.open(budgets=Budgets(revisions=0))
    world.submit(run)
    fail(world, run)
    escalated = standing(world, run).escalated

    world.submit(run, hash_text("mended"))
    still = standing(world, run)
    world.grade(run, artifact_hash=hash_text("mended"))
    passed = standing(world, run)

    assert (escalated, still.status, still.escalated) == (True, CheckStatus.STALE, True)
    assert (passed.status, passed.failures, passed.escalated) == (CheckStatus.PASSED, 1, False)
    assert pending_action(world.facts(run)) == "verify:orders"
