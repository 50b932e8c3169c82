"""Which checks count for a candidate: the pure rules, without a record."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest

from service.executions.acceptance.inputs import hash_inputs, newest_outputs
from service.executions.acceptance.model import (
    Candidate,
    Check,
    CheckStatus,
    FailureKind,
    FoundEnvironment,
    RequirementStanding,
)
from service.executions.acceptance.rules import environment_matches, stand
from service.executions.model import Budgets, ContractOrigin, Execution, MemoryMode, Requirement, Status
from service.executions.work.model import ExitStatus, Output, Step
from service.policies.model import Stopping
from service.policies.words import Revalidation

NOW = datetime(2026, 11, 30, 10, 0, tzinfo=UTC)
LOGIN = Requirement("login", "Login works", depends_on=("src/login",))
RUN = Execution(
    id="run",
    project_id="alpha",
    external_ref=None,
    version=1,
    status=Status.RUNNING,
    step=0,
    cost_used=Decimal(0),
    budgets=Budgets(),
    deadline=None,
    retention_class="operational",
    memory_mode=MemoryMode.OFF,
    schema_version=1,
    acting_user="user-1",
    agent=None,
    person=None,
    opened_by="user:user-1",
    contract_hash="contract",
    contract_origin=ContractOrigin.PERSON,
    contract_confirmed_by="user-1",
    finish_asked=False,
    ended_reason=None,
    objective="Login",
    requirements=(LOGIN,),
    requirement_ids=("login",),
    created_at=NOW,
    updated_at=NOW,
)


def _candidates(*made: tuple[str, Mapping[str, str]]) -> list[Candidate]:
    return [
        Candidate(f"c{number}", "run", number, artifact, hash_inputs([LOGIN], known), "agent-1", NOW)
        for number, (artifact, known) in enumerate(made, start=1)
    ]


def _checks(*written: tuple[str, bool] | Check) -> list[Check]:
    """Checks in order, each by its artifact and whether it passed."""
    return [
        one
        if isinstance(one, Check)
        else Check(
            id=f"k{number}",
            execution_id="run",
            sequence=number,
            requirement="login",
            passed=one[1],
            artifact_hash=one[0],
            contract_hash="contract",
            grader_id="browser",
            grader_version="3",
            environment={},
            output_ref=None,
            expected=None,
            observed=None,
            reproduce=None,
            failure_kind=None if one[1] else FailureKind.WRONG_RESULT,
            by="grader-1",
            at=NOW,
        )
        for number, one in enumerate(written, start=1)
    ]


def _stand(
    candidates: list[Candidate], checks: list[Check], run: Execution = RUN, **facts: Any
) -> RequirementStanding:
    chosen = {"environment": None, "stopping": Stopping()} | facts
    [standing] = stand(run, candidates=candidates, checks=checks, **chosen)
    return standing


def test_an_unchanged_folder_carries_a_passing_check_over() -> None:
    made = {"src/login/form.py": "1", "src/login/page.py": "2"}
    candidates = _candidates(("A", made), ("B", made | {"src/orders.py": "9"}))

    found = _stand(candidates, _checks(("A", True)))

    assert (found.status, found.check_id, found.carried_from) == (CheckStatus.PASSED, "k1", "A")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({"src/login": "1"}, {"src/login": "2"}),
        ({"src/login": "1"}, {}),
        ({}, {"src/login": "1"}),
        ({}, {}),
        ({"src/login/form.py": "1"}, {"src/login/form.py": "1", "src/login/new.py": "2"}),
        ({"src/login/form.py": "1", "src/login/old.py": "2"}, {"src/login/form.py": "1"}),
        ({"src/logins/form.py": "1"}, {"src/logins/form.py": "1"}),
        ({"src": "1"}, {"src": "1"}),
    ],
    ids=["changed", "unknown now", "unknown then", "unknown", "one more", "one less", "beside", "above"],
)
def test_whatever_changed_or_is_unknown_is_checked_anew(
    before: dict[str, str], after: dict[str, str]
) -> None:
    found = _stand(_candidates(("A", before), ("B", after)), _checks(("A", True)))

    assert (found.status, found.check_id, found.carried_from) == (CheckStatus.STALE, "k1", None)


def test_a_requirement_has_a_hash_of_its_inputs_only_where_it_declares_some_and_all_are_known() -> None:
    known = {"src/login": "1"}

    assert hash_inputs([LOGIN], known).keys() == {"login"}
    assert hash_inputs([replace(LOGIN, depends_on=("src/login/",))], known).keys() == {"login"}
    assert hash_inputs([replace(LOGIN, depends_on=())], known) == {}
    assert hash_inputs([replace(LOGIN, depends_on=("src/login", "docs"))], known) == {}


def test_a_folder_of_very_many_entries_counts_as_unknown() -> None:
    known = {f"src/login/{number}.py": "1" for number in range(2_000)}

    assert hash_inputs([LOGIN], known).keys() == {"login"}
    assert hash_inputs([LOGIN], known | {"src/login/one-more.py": "1"}) == {}


def test_the_policy_may_forbid_it() -> None:
    same = _candidates(("A", {"src/login": "1"}), ("B", {"src/login": "1"}))

    found = _stand(same, _checks(("A", True)), stopping=Stopping(revalidation=Revalidation.FULL))

    assert found.status is CheckStatus.STALE


@pytest.mark.parametrize(
    ("middle", "written", "expected"),
    [
        ({"src/login": "1"}, [("A", False)], CheckStatus.STALE),
        ({"src/login": "1"}, [("A", True), ("A", False)], CheckStatus.STALE),
        ({"src/login": "1"}, [("A", True), ("B", False)], CheckStatus.STALE),
        ({}, [("A", True), ("B", False)], CheckStatus.STALE),
        ({"src/login": "2"}, [("A", True), ("B", False)], CheckStatus.PASSED),
        ({"src/login": "1"}, [("A", False), ("B", True)], CheckStatus.PASSED),
    ],
    ids=["failed", "failed since", "failed on equal inputs", "failed on unknown", "other inputs", "mended"],
)
def test_a_failed_check_is_never_carried_and_stands_in_the_way(
    middle: dict[str, str], written: list[tuple[str, bool]], expected: CheckStatus
) -> None:
    candidates = _candidates(("A", {"src/login": "1"}), ("B", middle), ("C", {"src/login": "1"}))

    assert _stand(candidates, _checks(*written)).status is expected


def test_an_artifact_that_claims_different_inputs_speaks_for_none_of_them() -> None:
    candidates = _candidates(("A", {"src/login": "1"}), ("A", {"src/login": "2"}), ("B", {"src/login": "1"}))

    assert _stand(candidates, _checks(("A", True))).status is CheckStatus.STALE


def test_a_check_of_the_present_candidate_goes_before_any_that_is_carried() -> None:
    candidates = _candidates(("A", {"src/login": "1"}), ("B", {"src/login": "1"}))

    found = _stand(candidates, _checks(("B", False), ("A", True)))

    assert (found.status, found.failure_kind) == (CheckStatus.FAILED, FailureKind.WRONG_RESULT)


@pytest.mark.parametrize(
    ("checks", "status", "check_id"),
    [
        ([], CheckStatus.MISSING, None),
        ([("A", True)], CheckStatus.STALE, "k1"),
        ([("B", False), ("B", True)], CheckStatus.PASSED, "k2"),
        ([("B", True), ("B", False)], CheckStatus.FAILED, "k2"),
        ([("B", True), ("A", False)], CheckStatus.PASSED, "k1"),
    ],
)
def test_a_requirement_stands_by_the_newest_check_of_the_present_candidate(
    checks: list[tuple[str, bool]], status: CheckStatus, check_id: str | None
) -> None:
    found = _stand(_candidates(("A", {}), ("B", {})), _checks(*checks))

    assert (found.status, found.check_id) == (status, check_id)


def test_a_check_of_another_contract_counts_for_nothing() -> None:
    [check] = _checks(("A", True))

    found = _stand(_candidates(("A", {})), [replace(check, contract_hash="another")])

    assert (found.status, found.check_id) == (CheckStatus.MISSING, None)


def test_checks_from_before_the_last_resume_count_in_the_environment_that_it_found() -> None:
    candidates = _candidates(("A", {"src/login": "1"}), ("B", {"src/login": "1"}))
    [old] = [replace(check, environment={"commit": "1", "os": "x"}) for check in _checks(("A", True))]
    new = replace(old, id="k2", sequence=2, artifact_hash="B")
    same, other = {"commit": "1", "os": "x", "cpu": 8}, {"commit": "2", "os": "x"}

    found = [
        _stand(on, checks, environment=FoundEnvironment(values, 1)).status
        for on, checks, values in (
            (candidates[:1], [old], same),
            (candidates[:1], [old], other),
            (candidates[:1], [old], {"commit": "1"}),
            (candidates, [old], other),
            (candidates, [old, new], other),
        )
    ]

    passed, stale = CheckStatus.PASSED, CheckStatus.STALE
    assert found == [passed, stale, stale, stale, passed]


def test_environments_are_equal_value_by_value() -> None:
    assert environment_matches({}, {"commit": "1"})
    assert environment_matches({"a": {"x": 1, "y": 2}}, {"a": {"y": 2, "x": 1}, "b": 0})
    assert not environment_matches({"a": 1}, {"a": True})
    assert not environment_matches({"a": None}, {})


def test_a_requirement_that_failed_too_often_is_escalated_until_it_passes() -> None:
    candidates = _candidates(*((artifact, {}) for artifact in "ABCD"))
    failed = [("A", False), ("B", False), ("C", False)]
    asks_for_one = replace(RUN, budgets=Budgets(revisions=1))
    asks_for_nine = replace(RUN, budgets=Budgets(revisions=9))

    within = _stand(candidates, _checks(*failed))
    beyond = _stand(candidates, _checks(*failed, ("D", False)))

    assert (within.failures, within.escalated, beyond.failures, beyond.escalated) == (3, False, 4, True)
    assert _stand(candidates, _checks(*failed[:2]), asks_for_one).escalated
    assert _stand(candidates, _checks(*failed, ("D", False)), asks_for_nine).escalated
    assert not _stand(candidates, _checks(*failed, ("D", False), ("D", True))).escalated


def test_failures_that_no_revision_could_mend_use_up_none() -> None:
    candidates = _candidates(("A", {}))
    checks = [
        replace(check, failure_kind=kind)
        for check, kind in zip(_checks(*[("A", False)] * 7), FailureKind, strict=True)
    ]

    assert _stand(candidates, checks).failures == 5


def test_the_newest_output_of_the_log_counts_by_name_and_by_reference() -> None:
    def step(sequence: int, status: ExitStatus, sha256: str) -> Step:
        made = (Output("form", "src/login/form.py", sha256),)
        return Step(f"s{sequence}", "run", sequence, "login", status, (), made, None, NOW)

    log = [step(1, ExitStatus.COMPLETED, "1"), step(2, ExitStatus.FAILED, "2")]

    assert newest_outputs(log) == {"form": "2", "src/login/form.py": "2"}
