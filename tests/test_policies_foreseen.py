"""What tests of a bundle foresee is what the service does: both are held against each other."""

from dataclasses import dataclass
from datetime import timedelta
from itertools import product
from typing import Any

import pytest
from policies_bundle import NOW, default_bundle

from service.context.plan import plan_sections
from service.context.request import PackageRequest, SectionLimits
from service.executions.commands import check_command
from service.executions.refusals import CapabilityMissing, EffectNotAllowed
from service.identity.model import Caller, Role
from service.memories.rules import expires_at_of, readable_classes
from service.policies.foreseen import Hindrance, foresee_command, foresee_memory, foresee_package
from service.policies.given import GivenCommand, GivenMemory, GivenPackage, GivenShare
from service.policies.model import Bundle
from service.policies.words import SectionName

ROLES = [role for role in Role if role is not Role.SYSTEM]
PURPOSES = ["service", "personalisation", "contact"]
BUNDLE = default_bundle()
FOR_ONE = BUNDLE.model_copy(
    update={
        "classes": {
            name: rule.model_copy(update={"agents": ("agent-1",)}) for name, rule in BUNDLE.classes.items()
        }
    }
)


def caller(role: Role, agent: str = "agent-1") -> Caller:
    is_agent = role is Role.AGENT
    return Caller(
        tenant_id="t",
        credential_id="c",
        role=role,
        subject=agent if is_agent else "user-1",
        on_behalf_of="user-1" if is_agent else None,
        projects=frozenset(),
        scopes=frozenset(),
    )


def memory(name: str, **more: Any) -> GivenMemory:
    return GivenMemory.model_validate({"class": name, "created_at": NOW, "consent_given": True, **more})


@pytest.mark.parametrize("bundle", [BUNDLE, FOR_ONE], ids=["for any agent", "for one agent"])
@pytest.mark.parametrize("role", ROLES)
def test_who_reads_a_memory_is_whom_queries_let_read_it(role: Role, bundle: Bundle) -> None:
    for name, purpose, agent in product(bundle.classes, PURPOSES, ["agent-1", "agent-2"]):
        asked = memory(name, purpose=purpose, reader=role, agent=agent)
        readable = readable_classes(bundle, caller(role, agent), purpose=purpose)

        found = foresee_memory(asked, bundle, NOW + timedelta(days=1))

        assert found.readable is (name in readable.own + readable.shared), (name, purpose, agent)


@pytest.mark.parametrize("role", ROLES)
def test_who_lists_somebody_else_s_is_whom_queries_let_list_it(role: Role) -> None:
    for name in BUNDLE.classes:
        readable = readable_classes(BUNDLE, caller(role), purpose=None)

        found = foresee_memory(memory(name, purpose="service", reader=role, own=False), BUNDLE, NOW)

        assert found.listed is (name in readable.others + readable.shared), name


def test_a_memory_without_consent_is_out_exactly_where_consent_is_asked_for() -> None:
    needed = readable_classes(BUNDLE, caller(Role.AGENT), purpose=None).consented

    for name in BUNDLE.classes:
        found = foresee_memory(memory(name, purpose="service", consent_given=False), BUNDLE, NOW)

        assert (Hindrance.CONSENT in found.why_not) is (name in needed), name


def test_a_memory_ends_when_the_service_ends_it() -> None:
    later, last = NOW + timedelta(days=10), NOW + timedelta(days=20)
    idle = BUNDLE.classes["preference"]
    assert idle.expiry is not None
    expiry = idle.expiry.model_copy(update={"idle_days": 30})
    bundle = BUNDLE.model_copy(update={"classes": {"preference": idle.model_copy(update={"expiry": expiry})}})

    for confirmed_at, used_at in product([NOW, later], [None, NOW, last]):
        asked = memory("preference", purpose="contact", confirmed_at=confirmed_at, used_at=used_at)
        wanted = expires_at_of(
            "preference", bundle, created_at=NOW, confirmed_at=confirmed_at, used_at=used_at
        )

        assert foresee_memory(asked, bundle, NOW).expires_at == wanted


@pytest.mark.parametrize("profile", ["default", "handoff", "answer"])
@pytest.mark.parametrize("max_tokens", [0, 1_000, 3_999, 128_000])
def test_a_package_s_shares_are_those_that_it_is_built_with(profile: str, max_tokens: int) -> None:
    shares = {SectionName.MEMORIES: (5, 50), SectionName.EVIDENCE: (None, 10), SectionName.STATE: (9, None)}
    given = GivenPackage(
        profile=profile,
        purpose="service",
        max_tokens=max_tokens,
        reply_reserve=100,
        sections={name: GivenShare(min=low, max=high) for name, (low, high) in shares.items()},
    )
    asked = PackageRequest(
        project="alpha",
        purpose="service",
        max_tokens=max_tokens,
        reply_reserve=100,
        profile=profile,
        sections={name: SectionLimits(low, high) for name, (low, high) in shares.items()},
    )

    found = foresee_package(given, BUNDLE)

    plans = plan_sections(asked, BUNDLE.profiles[profile], {})
    assert found.minima == {plan.name: plan.minimum for plan in plans}
    assert found.maxima == {plan.name: plan.maximum for plan in plans}


@dataclass(frozen=True, slots=True)
class Asking:
    """As much of a unit of work as the check of a command looks at."""

    caller: Caller


@pytest.mark.parametrize("kind", ["payments.pay", "Payments.pay", "orders.create", "payments"])
@pytest.mark.parametrize("role", ROLES)
def test_a_command_is_allowed_to_whom_the_service_allows_it(role: Role, kind: str) -> None:
    only_payments = BUNDLE.model_copy(update={"commands": {"payments.*": BUNDLE.commands["payments.*"]}})
    for bundle in (BUNDLE, only_payments):
        found = foresee_command(GivenCommand(kind=kind, role=role), bundle)

        refused: str | None = None
        try:
            check_command(kind, unit=Asking(caller(role)), bundle=bundle)  # type: ignore[arg-type]  # it looks at the caller alone
        except (EffectNotAllowed, CapabilityMissing) as refusal:
            refused = refusal.code
        assert (found.refused, found.allowed) == (refused, refused is None)
