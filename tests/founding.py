"""Rows that everything else refers to: the tenants and projects of tests that need no keys."""

from collections.abc import Sequence
from datetime import datetime

from service.core.database import Database
from service.identity.model import Project
from service.identity.tables import ProjectRow, TenantRow


def found(database: Database, tenant_ids: Sequence[str], projects: Sequence[Project], now: datetime) -> None:
    """Found the tenants, each with all of the projects."""
    for tenant_id in tenant_ids:
        with database.write(None) as session:
            session.add(TenantRow(id=tenant_id, name=tenant_id, created_at=now))
        with database.write(tenant_id) as session:
            for project in projects:
                session.add(ProjectRow(tenant_id=tenant_id, id=project.id, name=project.name, created_at=now))
