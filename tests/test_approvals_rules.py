"""What an approval is bound to, purely: hashes, moves, who decides, what needs attention."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from executions_world import caller

from service.core.hashing import hash_text
from service.executions.approvals.model import (
    Approval,
    ApprovalStatus,
    EvidenceNow,
    Moved,
    PinnedEvidence,
    Standing,
)
from service.executions.approvals.rules import (
    APPROVAL_NEXT,
    LIVE,
    command_fault,
    hash_command,
    may_decide,
    may_read_command,
    may_withdraw,
    needs_attention,
    status_at,
    what_moved,
)
from service.identity.model import Role

NOW = datetime(2026, 11, 30, 10, tzinfo=UTC)
PIN = PinnedEvidence("e-1", 3, "sha256:a")
AS_IT_WAS = EvidenceNow(3, "sha256:a", superseded=False, expired=False)


def _approval(number: int = 1, **fields: Any) -> Approval:
    approval = Approval(
        id=f"a-{number}",
        execution_id="run-1",
        kind="orders.create",
        command=None,
        command_hash="sha256:c",
        status=ApprovalStatus.APPROVED,
        approver_role=Role.REVIEWER,
        requested_by="agent:agent-1:for:user-1",
        acting_user="user-1",
        agent="agent-1",
        evidence=(PIN,),
        policy_version="sha256:p",
        expires_at=NOW + timedelta(hours=1),
        created_at=NOW,
        updated_at=NOW,
    )
    return replace(approval, **fields)


def _standing(**fields: Any) -> Standing:
    standing = Standing(
        now=NOW,
        policy_version="sha256:p",
        execution_ended=False,
        acting_user_stands=True,
        approver_stands=True,
        evidence={"e-1": AS_IT_WAS},
    )
    return replace(standing, **fields)


@pytest.mark.parametrize(
    ("fields", "moved"),
    [
        ({}, []),
        ({"now": NOW + timedelta(minutes=59)}, []),
        ({"now": NOW + timedelta(hours=1)}, [Moved.EXPIRED]),
        ({"policy_version": "sha256:q"}, [Moved.POLICY_VERSION]),
        ({"execution_ended": True}, [Moved.EXECUTION_ENDED]),
        ({"acting_user_stands": False}, [Moved.ACTING_USER]),
        ({"approver_stands": False}, [Moved.APPROVER]),
        ({"evidence": {}}, [Moved.EVIDENCE_ERASED]),
        ({"evidence": {"e-1": replace(AS_IT_WAS, version=4)}}, [Moved.EVIDENCE_CHANGED]),
        ({"evidence": {"e-1": replace(AS_IT_WAS, sha256="sha256:b")}}, [Moved.EVIDENCE_CHANGED]),
        ({"evidence": {"e-1": replace(AS_IT_WAS, superseded=True)}}, [Moved.EVIDENCE_SUPERSEDED]),
        ({"evidence": {"e-1": replace(AS_IT_WAS, expired=True)}}, [Moved.EVIDENCE_EXPIRED]),
        ({"approver_stands": False, "evidence": {}}, [Moved.APPROVER, Moved.EVIDENCE_ERASED]),
    ],
)
def test_each_binding_is_named_when_it_moves(fields: dict[str, Any], moved: list[Moved]) -> None:
    assert what_moved(_approval(), _standing(**fields)) == moved


def test_what_moved_twice_is_named_once() -> None:
    approval = _approval(evidence=(PIN, replace(PIN, id="e-2")))

    assert what_moved(approval, _standing(evidence={})) == [Moved.EVIDENCE_ERASED]


def test_the_hash_is_of_the_canonical_form() -> None:
    expected = hash_text('{"amount":1,"kind":"a","to":"x"}')

    assert hash_command("a", {"to": "x", "amount": 1.0}) == hash_command("a", {"amount": 1, "to": "x"})
    assert hash_command("a", {"to": "x", "amount": 1}) == expected
    assert hash_command("a", {"to": "x", "amount": True}) != expected


@pytest.mark.parametrize("request_", [{"kind": "b"}, {"n": 2**53}, {"n": [{"m": -(2**53)}]}])
def test_what_two_commands_could_share_has_no_hash(request_: dict[str, Any]) -> None:
    assert hash_command("a", request_) is None


def test_a_fault_is_shown_without_the_clients_own_keys() -> None:
    assert command_fault({"kind": "a", "secret": [1, {"other": 2**60}]}) == (
        "/*/1/*",
        "is an integer beyond 2**53, which the canonical form (RFC 8785) cannot carry exactly",
    )
    assert command_fault({"kind": "a", "n": 2**53 - 1, "yes": True}) is None


def test_only_what_can_still_lead_to_an_act_expires() -> None:
    for status in ApprovalStatus:
        assert status_at(status, NOW + timedelta(seconds=1), NOW) is status
        assert status_at(status, NOW, NOW) is (ApprovalStatus.EXPIRED if status in LIVE else status)


def test_nothing_leads_back_to_a_yes() -> None:
    for status, following in APPROVAL_NEXT.items():
        assert ApprovalStatus.PENDING not in following
        assert (ApprovalStatus.APPROVED in following) == (status is ApprovalStatus.PENDING)
        assert (ApprovalStatus.REDEEMED in following) == (status is ApprovalStatus.APPROVED)


@pytest.mark.parametrize(
    ("approver", "role", "subject", "on_behalf_of", "may"),
    [
        (Role.REVIEWER, Role.REVIEWER, "reviewer-1", None, True),
        (Role.REVIEWER, Role.REVIEWER, "user-1", None, False),
        (Role.REVIEWER, Role.REVIEWER, "agent-1", None, False),
        (Role.REVIEWER, Role.USER, "user-1", None, False),
        (Role.USER, Role.USER, "user-1", None, True),
        (Role.USER, Role.USER, "user-2", None, False),
        (Role.USER, Role.AGENT, "agent-1", "user-1", False),
        (Role.USER, Role.REVIEWER, "reviewer-1", None, False),
        (Role.OPERATOR, Role.OPERATOR, "operator-1", None, True),
        (Role.AGENT, Role.AGENT, "agent-2", None, False),
        (Role.AUDITOR, Role.AUDITOR, "auditor-1", None, False),
    ],
)
def test_who_decides(
    approver: Role, role: Role, subject: str, on_behalf_of: str | None, *, may: bool
) -> None:
    who = caller(subject, role=role, on_behalf_of=on_behalf_of)

    assert may_decide(_approval(approver_role=approver), who) is may


def test_an_operator_reads_only_what_they_decide_and_withdraws_anything() -> None:
    operator = caller("operator-1", role=Role.OPERATOR)

    assert not may_read_command(Role.REVIEWER, operator)
    assert may_read_command(Role.OPERATOR, operator)
    assert may_withdraw(_approval(), operator)
    assert not may_withdraw(_approval(), caller("user-2", role=Role.USER))
    assert not may_read_command(Role.REVIEWER, caller("system", role=Role.SYSTEM))


def test_the_newest_request_for_a_command_is_what_needs_attention() -> None:
    stale = _approval(1, status=ApprovalStatus.STALE)
    moved = _approval(2, command_hash="sha256:d")
    holding = _approval(3, command_hash="sha256:e")
    cancelled = _approval(4, command_hash="sha256:f", status=ApprovalStatus.CANCELLED)
    used = _approval(5, command_hash="sha256:g", status=ApprovalStatus.REDEEMED)
    all_of_them = [stale, moved, holding, cancelled, used]
    found = {"a-2": [Moved.APPROVER], "a-3": [], "a-5": [Moved.POLICY_VERSION]}

    assert needs_attention(all_of_them, found) == [stale, moved, used]
    for status in ApprovalStatus:
        newer = _approval(6, status=status)
        left = needs_attention([*all_of_them, newer], found)
        assert stale not in left
        assert (newer in left) == (status in (ApprovalStatus.STALE, ApprovalStatus.EXPIRED))
