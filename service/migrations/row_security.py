"""Row-level security on PostgreSQL: behind the stores, the database itself keeps tenants apart.

It is forced, since a table's owner is otherwise exempt. Superusers always are: the service must not use one.
"""

from sqlalchemy import Connection, text

from service.core.database import CREDENTIAL_SETTING, TENANT_SETTING

_CREDENTIAL_TABLE = "api_keys"


def protect(connection: Connection, tables: list[str]) -> None:
    """Let rows of `tables` be seen and written only in a transaction that names their tenant.

    A credential's own row may also be read by its id: its tenant is not known before.
    """
    if connection.dialect.name != "postgresql":
        return
    for table in tables:
        connection.execute(text(f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY"))
        connection.execute(text(f"ALTER TABLE {table} FORCE ROW LEVEL SECURITY"))
        same = f"tenant_id = current_setting('{TENANT_SETTING}', true)"
        connection.execute(text(f"CREATE POLICY same_tenant ON {table} USING ({same}) WITH CHECK ({same})"))
        if table == _CREDENTIAL_TABLE:
            own = f"id = current_setting('{CREDENTIAL_SETTING}', true)"
            connection.execute(text(f"CREATE POLICY own_credential ON {table} FOR SELECT USING ({own})"))
