"""Who a pseudonym stands for: names under their own keys, in the key store, so that they die with them."""

from collections.abc import Collection, Mapping

from sqlalchemy import select

from service.adapters.keystore import KeyStore
from service.adapters.keystore_tables import NAMES


def keep_name(keystore: KeyStore, tenant_id: str, key_id: str, sealed: bytes) -> None:
    """Keep the sealed name of a key's subject. Repeating is fine and changes nothing."""
    if find_names(keystore, tenant_id, [key_id]):
        return
    row: dict[str, object] = {"tenant_id": tenant_id, "key_id": key_id, "sealed": sealed}
    with keystore.database.write(None) as session:
        keystore.insert_once(session.connection(), NAMES, row)


def find_names(keystore: KeyStore, tenant_id: str, key_ids: Collection[str]) -> Mapping[str, bytes]:
    """Answer the sealed names of those of the keys whose subject has been named."""
    if not key_ids:
        return {}
    query = select(NAMES.c.key_id, NAMES.c.sealed).where(
        NAMES.c.tenant_id == tenant_id, NAMES.c.key_id.in_(sorted(key_ids))
    )
    with keystore.database.read(None) as session:
        return {row.key_id: row.sealed for row in session.connection().execute(query)}
