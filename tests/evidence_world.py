"""Two tenants, their projects and people, over a real record: what tests of evidence stand on."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from founding import found
from sqlmodel import select

from service.adapters.chunker import SemanticChunker
from service.adapters.keystore import KeyStore
from service.adapters.subject_cipher import SubjectCiphers
from service.adapters.tokens import TiktokenCounter
from service.core.clock import Clock
from service.core.database import Database
from service.core.ids import new_id
from service.core.outbox import OutboxRow
from service.core.passages import PassageKey
from service.evidence.add import add_evidence, add_evidence_batch
from service.evidence.model import EvidencePassage, Kept, NewEvidence, Source
from service.evidence.store import EvidenceStore
from service.governance.forget import forget_evidence
from service.identity.model import Caller, Project, Role
from service.identity.unit import Unit
from service.policies.model import Bundle, SourceRule
from service.policies.words import Authority, Submission, Trust

ACME: Final = "01936d7e-0000-7000-8000-00000000acee"
OTHER: Final = "01936d7e-0000-7000-8000-0000000077e2"
ALPHA: Final = Project("01936d7e-0000-7000-8000-000000000a1f", "alpha")
BETA: Final = Project("01936d7e-0000-7000-8000-000000000be7", "beta")
SEEN: Final = datetime(2026, 11, 30, 9, 0, tzinfo=UTC)

BUNDLE: Final = Bundle(
    version="sha256:7e577e577e577e577e577e577e577e577e577e577e577e577e577e577e577e57",
    sources=(
        SourceRule(
            name="register",
            uri_prefix="register://",
            trust=Trust.FIRST_PARTY,
            ceiling=Authority.SYSTEM_OF_RECORD,
            submission=Submission.GRANTED,
        ),
        SourceRule(
            name="tool",
            uri_prefix="tool://",
            trust=Trust.INTERNAL_TOOL,
            ceiling=Authority.TOOL_RESULT,
        ),
        SourceRule(
            name="document", uri_prefix="doc://", trust=Trust.EXTERNAL_TOOL, ceiling=Authority.DOCUMENT
        ),
    ),
)


def caller(
    subject: str = "agent-1",
    *,
    role: Role = Role.AGENT,
    tenant_id: str = ACME,
    on_behalf_of: str | None = None,
    projects: Sequence[Project] = (ALPHA,),
    grants: Sequence[str] = (),
) -> Caller:
    """Make a caller as authentication would."""
    return Caller(
        tenant_id=tenant_id,
        credential_id=f"key-of-{subject}",
        role=role,
        subject=subject,
        on_behalf_of=on_behalf_of,
        projects=frozenset(projects),
        scopes=frozenset(),
        source_grants=frozenset(grants),
    )


AGENT: Final = caller()
REGISTRAR: Final = caller("registrar", grants=["register"])
USER: Final = caller("user-1", role=Role.USER)
REVIEWER: Final = caller("reviewer-1", role=Role.REVIEWER)
STRANGER: Final = caller("agent-1", tenant_id=OTHER)


def new(text: str, uri: str = "doc://plots/18", *, seen: datetime = SEEN, **fields: Any) -> NewEvidence:
    """Make something to keep. `kind` and `source_version` go to its source."""
    kind, version = fields.pop("kind", "document"), fields.pop("source_version", None)
    made = NewEvidence(project="alpha", text=text, source=Source(uri, kind, version, seen))
    return replace(made, **fields)


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
    def unit(self, who: Caller = AGENT) -> Iterator[Unit]:
        """Open a writing unit of work."""
        with self.database.write(who.tenant_id) as session:
            cipher = self.ciphers.for_tenant(who.tenant_id)
            yield Unit(session, who, self.clock(), new_id, cipher, self.tokens)

    def messages(self, tenant_id: str = ACME) -> list[tuple[str, dict[str, Any]]]:
        """Answer what waits in the outbox, in order."""
        with self.database.read(tenant_id) as session:
            rows = session.exec(select(OutboxRow).order_by(OutboxRow.id)).all()
            return [(row.topic, row.payload) for row in rows if row.tenant_id == tenant_id]

    @property
    def chunker(self) -> SemanticChunker:
        """The real chunker."""
        return SemanticChunker(self.tokens)

    def add(self, what: NewEvidence, who: Caller = AGENT) -> Kept:
        """Keep one text."""
        with self.unit(who) as unit:
            return add_evidence(what, unit=unit, bundle=self.bundle, chunker=self.chunker)

    def add_all(self, what: Sequence[NewEvidence], who: Caller = AGENT) -> Sequence[Any]:
        """Keep many texts in one transaction."""
        with self.unit(who) as unit:
            return add_evidence_batch(what, unit=unit, bundle=self.bundle, chunker=self.chunker)

    def forget(self, evidence_id: str, who: Caller = AGENT) -> None:
        """Delete one item."""
        with self.unit(who) as unit:
            forget_evidence(evidence_id, derived=False, unit=unit)

    def passages(self, kept: Kept, who: Caller = AGENT) -> list[EvidencePassage]:
        """Answer what the caller gets of all passages of an item's version, in order."""
        keys = [PassageKey(kept.id, kept.version, ordinal) for ordinal in range(kept.chunks)]
        with self.unit(who) as unit:
            found = EvidenceStore.of(unit).passages(keys, caller=who, now=unit.now)
        return [found[key] for key in keys if key in found]


@contextmanager
def open_world(database: Database, folder: Path, clock: Clock) -> Iterator[World]:
    """Open a world of two tenants over a database, with its key store in `folder`."""
    found(database, (ACME, OTHER), (ALPHA, BETA), clock())
    keys = KeyStore(f"sqlite:///{folder / 'keys.db'}", bytes(32), clock=clock)
    yield World(database, SubjectCiphers(keys), keys, TiktokenCounter(folder / "tiktoken"), clock)
    keys.close()
