"""Units of work for the service's own jobs: nobody asked, so the caller is the service itself."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final

from sqlmodel import Session

from service.core.cipher import Ciphers
from service.core.clock import Clock
from service.core.database import Database
from service.core.ids import IdSource
from service.core.tokens import TokenCounter
from service.core.tombstones import KeyLedger, NoLedger
from service.identity.matrix import SCOPES_BY_ROLE
from service.identity.model import Caller, Role
from service.identity.store import IdentityStore
from service.identity.unit import Unit

SYSTEM_SUBJECT: Final = "muniment"


@dataclass(frozen=True, slots=True)
class SystemUnits:
    """Opens transactions of one tenant on the service's own behalf: it sees every project, and is nobody.

    What a job does in a person's run it does as `system:muniment`, and the audit trail says so.
    """

    database: Database
    ciphers: Ciphers
    tokens: TokenCounter
    clock: Clock
    ids: IdSource
    ledger: KeyLedger = field(default_factory=NoLedger)

    @contextmanager
    def write(self, tenant_id: str) -> Iterator[Unit]:
        """Open a writing transaction; commit when the block ends well."""
        with self.database.write(tenant_id) as session:
            yield self._unit(session, tenant_id)

    @contextmanager
    def read(self, tenant_id: str) -> Iterator[Unit]:
        """Open a transaction that only reads."""
        with self.database.read(tenant_id) as session:
            yield self._unit(session, tenant_id)

    def _unit(self, session: Session, tenant_id: str) -> Unit:
        projects = IdentityStore(session, tenant_id).projects_of((), project_id=None)
        return Unit(
            session=session,
            caller=Caller(
                tenant_id=tenant_id,
                credential_id="",
                role=Role.SYSTEM,
                subject=SYSTEM_SUBJECT,
                on_behalf_of=None,
                projects=projects,
                scopes=SCOPES_BY_ROLE[Role.SYSTEM],
            ),
            now=self.clock(),
            ids=self.ids,
            cipher=self.ciphers.for_tenant(tenant_id),
            tokens=self.tokens,
            ledger=self.ledger,
        )
