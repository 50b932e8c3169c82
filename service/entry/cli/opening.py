"""What the commands of the registry work on: the record, without index, model or vocabulary."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Final, TypeVar

from sqlmodel import Session

from service.core.clock import Clock, system_clock
from service.core.errors import Forbidden, Unauthenticated
from service.core.ids import IdSource, new_id
from service.core.paging import PAGE_ITEMS_MAX, Page, PageRequest, page_request
from service.core.tokens import NoTokens
from service.identity.authenticate import authenticate
from service.identity.matrix import SCOPES_BY_ROLE
from service.identity.model import Caller, Role, Tenant
from service.identity.tenants import get_tenant
from service.identity.unit import Unit
from service.settings import Settings
from service.wiring import Record, build_record

_PRINCIPAL: Final = "command-line"

Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class Registry:
    """The record, and units of work in it on behalf of whoever may use this machine's command line."""

    record: Record
    clock: Clock = system_clock
    ids: IdSource = new_id
    caller: Caller | None = None
    """Who asks; without one, whoever may use this machine's command line."""

    def signed_in(self, token: str, tenant_name: str, scope: str) -> "Registry":
        """Answer the registry as the holder of a key sees it.

        Raises `Unauthenticated`, for a key of another tenant too, and `Forbidden` without the scope.
        """
        caller = authenticate(self.record.database, token, self.clock())
        if self.tenant(tenant_name).id != caller.tenant_id:
            raise Unauthenticated
        if scope not in caller.scopes:
            raise Forbidden("This key may not do that.")
        return replace(self, caller=caller)

    def tenant(self, name: str) -> Tenant:
        """Answer the tenant of that name. Raises `NotFound`."""
        with self.record.database.read(None) as session:
            return get_tenant(name, session=session)

    @contextmanager
    def read(self, tenant_id: str) -> Iterator[Unit]:
        """Open a unit of work that only reads, beside whoever writes."""
        with self.record.database.read(tenant_id) as session:
            yield self._unit(session, tenant_id)

    @contextmanager
    def write(self, tenant_id: str) -> Iterator[Unit]:
        """Open a unit of work that commits when the block ends well."""
        with self.record.database.write(tenant_id) as session:
            yield self._unit(session, tenant_id)

    def _unit(self, session: Session, tenant_id: str) -> Unit:
        return Unit(
            session=session,
            caller=self.caller or _caller(tenant_id),
            now=self.clock(),
            ids=self.ids,
            cipher=self.record.ciphers.for_tenant(tenant_id),
            tokens=NoTokens(),
            ledger=self.record.ledger,
        )


@contextmanager
def open_registry() -> Iterator[Registry]:
    """Open the record that the settings name, at its newest schema."""
    record = build_record(Settings())
    try:
        yield Registry(record)
    finally:
        record.close()


def every(list_page: Callable[[PageRequest], Page[Item]]) -> list[Item]:
    """Answer all items of a list, page by page."""
    items: list[Item] = []
    cursor: str | None = None
    while True:
        page = list_page(page_request(PAGE_ITEMS_MAX, cursor, tenant_id=_PRINCIPAL, filters=()))
        items += page.items
        cursor = page.next_cursor
        if cursor is None:
            return items


def _caller(tenant_id: str) -> Caller:
    return Caller(
        tenant_id=tenant_id,
        credential_id=_PRINCIPAL,
        role=Role.ADMIN,
        subject=_PRINCIPAL,
        on_behalf_of=None,
        projects=frozenset(),
        scopes=SCOPES_BY_ROLE[Role.ADMIN],
    )
