"""Two tenants with their projects, people and a policy, over a real record: what tests of runs stand on."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from founding import found

from service.adapters.keystore import KeyStore
from service.adapters.subject_cipher import SubjectCiphers
from service.adapters.tokens import TiktokenCounter
from service.context.references import RecordReferences
from service.core.clock import Clock
from service.core.database import Database
from service.core.hashing import hash_text
from service.core.ids import new_id
from service.executions.acceptance.model import NewCheck
from service.executions.act import intend, settle
from service.executions.checkpoint import checkpoint
from service.executions.confirm import confirm_contract
from service.executions.conversation.model import NewTurn, Pin, Turn, TurnRole
from service.executions.facts import Facts, gather
from service.executions.grade import grade
from service.executions.ledger.model import Effect, EffectStatus, NewEffect
from service.executions.log_step import log_step
from service.executions.model import Execution, NewCheckpoint, NewExecution, Requirement, Transition
from service.executions.open import open_execution
from service.executions.plan import set_manifest
from service.executions.say import say
from service.executions.store import ExecutionStore
from service.executions.submit import submit
from service.executions.work.model import DeclaredTask, ExitStatus, Input, NewStep, Output, Step
from service.identity.matrix import scopes_of
from service.identity.model import Caller, Project, Role
from service.identity.store import IdentityStore
from service.identity.unit import Unit
from service.policies.model import Bundle, Command, Retention, RoleRule, SourceRule, Stopping
from service.policies.words import ApprovalNeed, Authority, ContractConfirmation, RetainedText, Trust

ACME: Final = "01936d7e-0000-7000-8000-00000000acee"
OTHER: Final = "01936d7e-0000-7000-8000-0000000077e2"
ALPHA: Final = Project("01936d7e-0000-7000-8000-000000000a1f", "alpha")
BETA: Final = Project("01936d7e-0000-7000-8000-000000000be7", "beta")
SEEN: Final = datetime(2026, 11, 30, 9, 0, tzinfo=UTC)
ARTIFACT: Final = hash_text("build 17")


def _command(capability: str, approval: ApprovalNeed) -> Command:
    return Command(capability=capability, approval=approval, approver=Role.REVIEWER, longest_expiry_hours=24)


BUNDLE: Final = Bundle(
    version="sha256:7e577e577e577e577e577e577e577e577e577e577e577e577e577e577e577e57",
    sources=(
        SourceRule(
            name="tool", uri_prefix="tool://", trust=Trust.INTERNAL_TOOL, ceiling=Authority.TOOL_RESULT
        ),
    ),
    commands={
        "*": _command("effects", ApprovalNeed.NOT_NEEDED),
        "payments.*": _command("effects", ApprovalNeed.NEEDED),
        "launches.*": _command("launching", ApprovalNeed.NOT_NEEDED),
    },
    retention={
        "operational": Retention(description="Ordinary runs.", text=RetainedText.FULL, days=90),
        "textless": Retention(description="Runs that keep no text.", text=RetainedText.NONE, days=90),
    },
    roles={
        Role.AGENT: RoleRule(capabilities=("effects", "launching")),
        Role.USER: RoleRule(capabilities=("effects",)),
    },
    stopping=Stopping(contract_confirmation=ContractConfirmation.NEVER),
)


def caller(
    subject: str = "agent-1",
    *,
    role: Role = Role.AGENT,
    tenant_id: str = ACME,
    on_behalf_of: str | None = None,
    projects: Sequence[Project] = (ALPHA,),
) -> Caller:
    """Make a caller as authentication would."""
    return Caller(
        tenant_id=tenant_id,
        credential_id=f"key-of-{subject}",
        role=role,
        subject=subject,
        on_behalf_of=on_behalf_of,
        projects=frozenset(projects),
        scopes=scopes_of(role, delegated=on_behalf_of is not None),
    )


AGENT: Final = caller(on_behalf_of="user-1")
LONE_AGENT: Final = caller()
USER: Final = caller("user-1", role=Role.USER)
COLLEAGUE: Final = caller("user-2", role=Role.USER)
OUTSIDER: Final = caller("user-1", role=Role.USER, projects=[BETA])
GRADER: Final = caller("grader-1", role=Role.GRADER)
OPERATOR: Final = caller("operator-1", role=Role.OPERATOR)
STRANGER: Final = caller("user-1", role=Role.USER, tenant_id=OTHER)


@dataclass
class World:
    """A record with its ciphers; each method is one transaction of one caller."""

    database: Database
    ciphers: SubjectCiphers
    keys: KeyStore
    tokens: TiktokenCounter
    clock: Clock
    bundle: Bundle = BUNDLE

    @contextmanager
    def unit(self, who: Caller = AGENT, *, token: int | None = None) -> Iterator[Unit]:
        """Open a writing unit of work, under a fencing token where one is given."""
        with self.database.write(who.tenant_id) as session:
            cipher = self.ciphers.for_tenant(who.tenant_id)
            yield Unit(session, who, self.clock(), new_id, cipher, self.tokens, fencing_token=token)

    @contextmanager
    def store(self, who: Caller = AGENT) -> Iterator[ExecutionStore]:
        """Open the store of one caller."""
        with self.unit(who) as unit:
            yield ExecutionStore.of(unit)

    def open(self, who: Caller = AGENT, **fields: Any) -> Execution:
        """Open a run."""
        new = NewExecution(
            project="alpha",
            objective="Build the order application",
            requirements=(
                Requirement("login", "Login works"),
                Requirement("orders", "Orders can be filtered"),
            ),
        )
        with self.unit(who) as unit:
            return open_execution(replace(new, **fields), unit=unit, bundle=self.bundle)

    def get(self, run: Execution, who: Caller = AGENT) -> Execution:
        """Read a run."""
        with self.store(who) as store:
            return store.get(run.id)

    def move(
        self,
        run: Execution,
        transition: Transition,
        *,
        version: int,
        who: Caller = AGENT,
        **fields: Any,
    ) -> Execution:
        """Move a run."""
        with self.unit(who) as unit:
            asked = NewCheckpoint(transition, **fields)
            return checkpoint(
                run.id,
                asked,
                expected_version=version,
                unit=unit,
                bundle=self.bundle,
                references=RecordReferences,
            )

    def plan(self, run: Execution, *tasks: DeclaredTask, version: int, who: Caller = AGENT) -> Execution:
        """Set the manifest."""
        with self.unit(who) as unit:
            return set_manifest(run.id, tasks, expected_version=version, unit=unit, bundle=self.bundle)

    def step(
        self,
        run: Execution,
        task: str,
        status: ExitStatus = ExitStatus.COMPLETED,
        *,
        who: Caller = AGENT,
        reads: dict[str, str] | None = None,
        makes: dict[str, str] | None = None,
        summary: str | None = None,
    ) -> tuple[Step, bool]:
        """Log a step; `reads` and `makes` map references and names to what they hold."""
        new = NewStep(
            task_id=task,
            exit_status=status,
            inputs=tuple(Input(ref, hash_text(text)) for ref, text in (reads or {}).items()),
            outputs=tuple(
                Output(name, f"file:{name}", hash_text(text)) for name, text in (makes or {}).items()
            ),
            summary=summary,
        )
        with self.unit(who) as unit:
            return log_step(run.id, new, unit=unit, bundle=self.bundle, references=RecordReferences)

    def say(
        self,
        run: Execution,
        text: str,
        role: TurnRole = TurnRole.USER,
        *,
        who: Caller = AGENT,
        **fields: Any,
    ) -> tuple[Turn, Pin | None]:
        """Add a turn."""
        with self.unit(who) as unit:
            return say(run.id, NewTurn(role, text, **fields), unit=unit, bundle=self.bundle)

    def intend(
        self,
        run: Execution,
        operation: str = "order-8",
        *,
        kind: str = "orders.create",
        who: Caller = AGENT,
        approval_id: str | None = None,
        token: int | None = None,
        **request: Any,
    ) -> tuple[Effect, bool]:
        """Write down an intent."""
        with self.unit(who, token=token) as unit:
            new = NewEffect(operation, kind, request, approval_id)
            return intend(run.id, new, unit=unit, bundle=self.bundle)

    def settle(
        self,
        run: Execution,
        *statuses: EffectStatus,
        operation: str = "order-8",
        who: Caller = AGENT,
        token: int | None = None,
    ) -> Effect:
        """Report each status in turn."""
        for status in statuses:
            with self.unit(who, token=token) as unit:
                effect = settle(
                    run.id, operation, status=status, downstream_ref=None, unit=unit, bundle=self.bundle
                )
        return effect

    def submit(self, run: Execution, artifact: str = ARTIFACT, *, who: Caller = AGENT) -> bool:
        """Submit a candidate; say whether it is a new one."""
        with self.unit(who) as unit:
            return submit(run.id, artifact, unit=unit)[1]

    def grade(
        self,
        run: Execution,
        requirement: str = "login",
        *,
        who: Caller = GRADER,
        **fields: Any,
    ) -> Execution:
        """Write a passing check, unless `fields` say otherwise; answer the run."""
        new = NewCheck(
            requirement=requirement,
            passed=True,
            artifact_hash=ARTIFACT,
            contract_hash=run.contract_hash,
            grader_id="browser",
            grader_version="3",
            environment={"commit": "4be1c07"},
        )
        with self.unit(who) as unit:
            asked = replace(new, **fields)
            return grade(run.id, asked, unit=unit, bundle=self.bundle, references=RecordReferences)[1]

    def confirm(self, run: Execution, who: Caller) -> Execution:
        """Confirm the contract."""
        with self.unit(who) as unit:
            return confirm_contract(run.id, unit=unit, bundle=self.bundle, references=RecordReferences)

    def facts(self, run: Execution, who: Caller = AGENT) -> Facts:
        """Gather all facts of a run."""
        with self.unit(who) as unit:
            return gather(run.id, unit=unit, bundle=self.bundle)


@contextmanager
def open_world(database: Database, folder: Path, clock: Clock) -> Iterator[World]:
    """Open a world of two tenants over a database, with its key store in `folder`."""
    found(database, (ACME, OTHER), (ALPHA, BETA), clock())
    with database.write(ACME) as session:
        for subject in ("agent-1", "user-1", "user-2"):
            IdentityStore(session, ACME).add_member(ALPHA.id, subject, now=clock())
    keys = KeyStore(f"sqlite:///{folder / 'keys.db'}", bytes(32), clock=clock)
    yield World(database, SubjectCiphers(keys), keys, TiktokenCounter(folder / "tiktoken"), clock)
    keys.close()
