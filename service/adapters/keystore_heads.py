"""What the key store remembers of each tenant's audit chain: the furthest end that it was ever shown."""

from sqlalchemy import select, update

from service.adapters.keystore import KeyStore
from service.adapters.keystore_tables import CHECKPOINTS


class KeyStoreHeads:
    """Remembers as `audit.ports.HeadMemory` promises."""

    def __init__(self, keystore: KeyStore) -> None:
        self._keystore = keystore

    def recall(self, tenant_id: str) -> str | None:
        """Answer the document that was remembered last, `None` when there was none."""
        query = select(CHECKPOINTS.c.document).where(CHECKPOINTS.c.tenant_id == tenant_id)
        found: str | None = self._keystore.database.ask(query, {})
        return found

    def remember(self, tenant_id: str, sequence: int, document: str) -> None:
        """Keep the document in place of one that stands for fewer events; otherwise change nothing."""
        row: dict[str, object] = {"tenant_id": tenant_id, "sequence": sequence, "document": document}
        with self._keystore.database.write(None) as session:
            connection = session.connection()
            self._keystore.insert_once(connection, CHECKPOINTS, row)
            connection.execute(
                update(CHECKPOINTS)
                .where(CHECKPOINTS.c.tenant_id == tenant_id, CHECKPOINTS.c.sequence < sequence)
                .values(sequence=sequence, document=document)
            )

    def replace(self, tenant_id: str, sequence: int, document: str) -> None:
        """Keep the document in place of any other: the record was put back to an earlier moment."""
        row: dict[str, object] = {"tenant_id": tenant_id, "sequence": sequence, "document": document}
        with self._keystore.database.write(None) as session:
            connection = session.connection()
            self._keystore.insert_once(connection, CHECKPOINTS, row)
            connection.execute(
                update(CHECKPOINTS)
                .where(CHECKPOINTS.c.tenant_id == tenant_id)
                .values(sequence=sequence, document=document)
            )
