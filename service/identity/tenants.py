"""Founding tenants and finding them."""

from sqlmodel import Session

from service.core.errors import NotFound
from service.core.paging import Page, PageRequest
from service.identity.model import Tenant
from service.identity.ports import Trail
from service.identity.rules import check_name
from service.identity.store import RegistryStore
from service.identity.unit import Unit


def create_tenant(name: str, *, unit: Unit, trail: Trail) -> Tenant:
    """Found a tenant. The unit's caller already names its id, since a transaction names its tenant.

    Raises `TenantExists`, and `Invalid` for what is no name.
    """
    tenant = Tenant(unit.tenant_id, check_name(name, pointer="/name"), unit.now)
    store = RegistryStore(unit.session)
    store.add_tenant(tenant)
    trail(unit, "tenant.created", kind="tenant", ref=tenant.id)
    return tenant


def get_tenant(name: str, *, session: Session) -> Tenant:
    """Answer the tenant of that name, before any unit of work can be opened in it. Raises `NotFound`."""
    tenant = RegistryStore(session).find_tenant(name)
    if tenant is None:
        raise NotFound("There is no tenant of that name.")
    return tenant


def list_tenants(request: PageRequest, *, session: Session) -> Page[Tenant]:
    """Answer tenants in the order of their names."""
    return RegistryStore(session).list_tenants(request)
