"""The names of tenants by id and back, remembered: neither ever changes once a tenant is there."""

from collections.abc import Iterable

from service.core.database import Database
from service.core.paging import PAGE_ITEMS_MAX, page_request
from service.identity.store import RegistryStore


class TenantDirectory:
    """What settings that name tenants are compared with. One that is not there yet is asked for again."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._names: dict[str, str] = {}
        self._ids: dict[str, str] = {}

    def name_of(self, tenant_id: str) -> str | None:
        """Answer the name of a tenant, `None` when there is none of that id."""
        if tenant_id not in self._names:
            with self._database.read(None) as session:
                name = RegistryStore(session).find_tenant_name(tenant_id)
            if name is None:
                return None
            self._names[tenant_id] = name
        return self._names[tenant_id]

    def ids_of(self, names: Iterable[str]) -> list[str]:
        """Answer the ids of those of the named tenants that exist, in the order of their names."""
        wanted = sorted(set(names))
        unknown = [name for name in wanted if name not in self._ids]
        if unknown:
            with self._database.read(None) as session:
                registry = RegistryStore(session)
                found = [registry.find_tenant(name) for name in unknown]
            self._ids.update({tenant.name: tenant.id for tenant in found if tenant is not None})
        return [self._ids[name] for name in wanted if name in self._ids]

    def list_ids(self) -> list[str]:
        """Answer the ids of all tenants, read anew page by page."""
        found: list[str] = []
        cursor: str | None = None
        while True:
            request = page_request(PAGE_ITEMS_MAX, cursor, tenant_id="", filters=())
            with self._database.read(None) as session:
                page = RegistryStore(session).list_tenants(request)
            found += [tenant.id for tenant in page.items]
            if page.next_cursor is None:
                return found
            cursor = page.next_cursor
