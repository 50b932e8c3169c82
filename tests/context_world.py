"""A tenant with projects, evidence, runs, a policy and an index: what tests of packages stand on."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from executions_world import ACME, AGENT, ALPHA, BETA, OTHER, SEEN, caller
from executions_world import World as Runs
from founding import found
from tiny_models import TinyEmbedder, TinyEncoder

from service.adapters.keystore import KeyStore
from service.adapters.qdrant_edge import EdgeIndex
from service.adapters.subject_cipher import SubjectCiphers
from service.adapters.tokens import TiktokenCounter
from service.context.assemble import Sources, build_package, keep_package
from service.context.model import Package
from service.context.request import PackageRequest
from service.core.clock import Clock
from service.core.database import Database
from service.core.ids import new_id
from service.evidence.add import add_evidence
from service.evidence.model import Kept, NewEvidence, Source
from service.evidence.ports import Span
from service.identity.model import Caller, Role
from service.identity.unit import Unit
from service.jobs.index_evidence import EvidenceSource
from service.jobs.indexer import Indexer
from service.policies.model import (
    Bundle,
    Command,
    Purpose,
    Retention,
    RoleRule,
    SourceRule,
    Stopping,
    ToolRule,
)
from service.policies.profiles import Amount, Profile, RetrievalRule, SectionRule, Weights
from service.policies.words import (
    ApprovalNeed,
    Authority,
    ContractConfirmation,
    Overflow,
    RetainedText,
    SectionName,
    Trust,
)
from service.retrieval.search import Retriever

INSTRUCTIONS: Final = "instructions/default.md"
AUDITOR: Final = caller("auditor-1", role=Role.AUDITOR)

_RULES: Final[Mapping[SectionName, tuple[int, int, Overflow]]] = {
    SectionName.INSTRUCTIONS: (30, 100, Overflow.ERROR),
    SectionName.TOOLS: (30, 60, Overflow.DROP),
    SectionName.SCOPE: (20, 90, Overflow.ERROR),
    SectionName.GOAL: (40, 95, Overflow.TRUNCATE),
    SectionName.HISTORY: (40, 50, Overflow.SUMMARY),
    SectionName.MEMORIES: (20, 40, Overflow.DROP),
    SectionName.EVIDENCE: (70, 70, Overflow.CARDS),
    SectionName.OBSERVATIONS: (30, 45, Overflow.TRUNCATE),
    SectionName.STATE: (30, 80, Overflow.DROP),
    SectionName.LIMITS: (10, 20, Overflow.DROP),
}
PROFILE: Final = Profile(
    name="default",
    description="For tests.",
    instructions=(INSTRUCTIONS,),
    degraded_allowed=False,
    retrieval=RetrievalRule(evidence_depth=40, memories_depth=20, turns_depth=100, card_tokens=16),
    weights=Weights(relevance=0.8, authority=0.1, freshness=0.1, freshness_half_life_days=180),
    sections={
        name: SectionRule(
            max=Amount(percent=percent), priority=priority, overflow=rule, required=rule is Overflow.ERROR
        )
        for name, (percent, priority, rule) in _RULES.items()
    },
)
BUNDLE: Final = Bundle(
    version="sha256:7e577e577e577e577e577e577e577e577e577e577e577e577e577e577e577e57",
    purposes={"service": Purpose(description="Doing what was asked.")},
    profiles={"default": PROFILE},
    instructions={INSTRUCTIONS: "Answer from the evidence.\nCite what you use.\n"},
    sources=(
        SourceRule(
            name="tool", uri_prefix="tool://", trust=Trust.INTERNAL_TOOL, ceiling=Authority.TOOL_RESULT
        ),
        SourceRule(
            name="document", uri_prefix="doc://", trust=Trust.EXTERNAL_TOOL, ceiling=Authority.DOCUMENT
        ),
    ),
    commands={
        "*": Command(
            capability="effects",
            approval=ApprovalNeed.NOT_NEEDED,
            approver=Role.REVIEWER,
            longest_expiry_hours=24,
        )
    },
    retention={"operational": Retention(description="Runs.", text=RetainedText.FULL, days=90)},
    roles={
        Role.AGENT: RoleRule(capabilities=("effects", "reading", "launching")),
        Role.USER: RoleRule(capabilities=("effects", "reading")),
    },
    tools={
        "orders.*": ToolRule(read="reading", write="effects"),
        "launches.*": ToolRule(read="reading", write="launching"),
    },
    stopping=Stopping(
        contract_confirmation=ContractConfirmation.NEVER, rules=("Stop when a source is missing.",)
    ),
)


class WholeChunker:
    """Keeps every text as one chunk."""

    def split(self, text: str, *, media_type: str, tokens_max: int) -> Sequence[Span]:
        del media_type, tokens_max
        return [Span(0, len(text))] if text.strip() else []


@dataclass
class World:
    """A record with its ciphers and index; each method is one transaction of one caller."""

    database: Database
    ciphers: SubjectCiphers
    tokens: TiktokenCounter
    clock: Clock
    index: EdgeIndex
    retriever: Retriever
    indexer: Indexer
    runs: Runs
    bundle: Bundle = BUNDLE

    @contextmanager
    def unit(self, who: Caller = AGENT) -> Iterator[Unit]:
        """Open a writing unit of work."""
        with self.database.write(who.tenant_id) as session:
            cipher = self.ciphers.for_tenant(who.tenant_id)
            yield Unit(session, who, self.clock(), new_id, cipher, self.tokens)

    def add(self, text: str, uri: str, *, who: Caller = AGENT, **fields: Any) -> Kept:
        """Keep one text as evidence and index it."""
        new = NewEvidence(project="alpha", text=text, source=Source(uri, "document", None, SEEN))
        with self.unit(who) as unit:
            kept = add_evidence(replace(new, **fields), unit=unit, bundle=self.bundle, chunker=WholeChunker())
        self.indexer.reconcile(who.tenant_id, [kept.id])
        return kept

    def build(self, who: Caller = AGENT, **fields: Any) -> Package:
        """Build a package."""
        asked = PackageRequest(
            project="alpha", purpose="service", max_tokens=4_000, query="status of plot 18"
        )
        with self.unit(who) as unit:
            built = build_package(
                replace(asked, **fields),
                unit=unit,
                bundle=self.bundle,
                sources=Sources(self.retriever, {"index": self.index.name}),
            )
            keep_package(built, unit=unit)
        return built.package


@contextmanager
def open_world(database: Database, folder: Path, clock: Clock) -> Iterator[World]:
    """Open a world of two tenants over a database, with its key store and index in `folder`."""
    found(database, (ACME, OTHER), (ALPHA, BETA), clock())
    with ExitStack() as stack:
        keys = KeyStore(f"sqlite:///{folder / 'keys.db'}", bytes(32), clock=clock)
        stack.callback(keys.close)
        embedder, encoder, ciphers = TinyEmbedder(), TinyEncoder(), SubjectCiphers(keys)
        index = EdgeIndex(folder / "index", embedder=embedder, sparse=encoder)
        stack.callback(index.close)
        indexer = Indexer(
            EvidenceSource(),
            database=database,
            ciphers=ciphers,
            embedder=embedder,
            sparse=encoder,
            index=index,
        )
        tokens = TiktokenCounter(folder / "tiktoken")
        runs = Runs(database, ciphers, keys, tokens, clock, BUNDLE)
        retriever = Retriever(embedder, encoder, index)
        yield World(database, ciphers, tokens, clock, index, retriever, indexer, runs)


def section(package: Package, name: str) -> Any:
    """Answer one section of a package."""
    return next(part for part in package.sections if part.name == name)
