"""The ledger of what has been erased, beside the keys: what a copy of the record is compared with."""

import json
from collections.abc import Collection, Iterable, Mapping
from datetime import datetime
from typing import Final

from sqlalchemy import func, select
from sqlalchemy.dialects import postgresql, sqlite

from service.adapters.keystore import KeyStore
from service.adapters.keystore_tables import BACKUPS, POLICIES, TOMBSTONES
from service.core.clock import Clock, system_clock
from service.core.lineage import Node
from service.core.tombstones import RememberedPolicy

_REFS_AT_ONCE: Final = 500


class KeyStoreLedger:
    """`core.tombstones.KeyLedger` over the key store. It names things by keyed hash alone."""

    def __init__(self, keystore: KeyStore, *, clock: Clock = system_clock) -> None:
        self._keystore = keystore
        self._clock = clock

    def destroy(self, tenant_id: str, subject: str) -> int:
        """Destroy the person's key beyond recovery; answer how many there were (0 or 1)."""
        return self._keystore.destroy(tenant_id, subject)

    def bury_all(self, tenant_id: str, nodes: Iterable[Node]) -> None:
        """Write into the ledger that these have been erased now. Repeating moves the time."""
        named = sorted(set(nodes))
        if not named:
            return
        hashes = self._keystore.lookup_hashes(tenant_id, [f"{node.kind}/{node.id}" for node in named])
        now = self._clock()
        rows = [
            {"tenant_id": tenant_id, "kind": node.kind, "ref_hash": ref_hash, "at": now}
            for node, ref_hash in zip(named, hashes, strict=True)
        ]
        database = self._keystore.database
        new = (sqlite if database.is_sqlite else postgresql).insert(TOMBSTONES)
        # A person may come back and be erased again: what counts is the last time.
        keep = new.on_conflict_do_update(
            index_elements=list(TOMBSTONES.primary_key), set_={"at": new.excluded.at}
        )
        with database.write(None) as session:
            session.connection().execute(keep, rows)

    def buried(self, tenant_id: str, kind: str, refs: Collection[str]) -> Mapping[str, datetime]:
        """Answer those that were erased, each with the time: what is older must not come back."""
        wanted = sorted(set(refs))
        hashes = self._keystore.lookup_hashes(tenant_id, [f"{kind}/{ref}" for ref in wanted])
        names = dict(zip(hashes, wanted, strict=True))
        found = {}
        with self._keystore.database.read(None) as session:
            for first in range(0, len(hashes), _REFS_AT_ONCE):
                query = select(TOMBSTONES.c.ref_hash, TOMBSTONES.c.at).where(
                    TOMBSTONES.c.tenant_id == tenant_id,
                    TOMBSTONES.c.kind == kind,
                    TOMBSTONES.c.ref_hash.in_(hashes[first : first + _REFS_AT_ONCE]),
                )
                found.update({names[row.ref_hash]: row.at for row in session.connection().execute(query)})
        return found

    def backups_expire_at(self, now: datetime) -> datetime | None:
        """Answer when the last backup that was made until now expires, `None` when there is none."""
        query = select(func.max(BACKUPS.c.expires_at)).where(BACKUPS.c.expires_at > now)
        with self._keystore.database.read(None) as session:
            found: datetime | None = session.connection().execute(query).scalar()
        return found

    def remember_policy(self, tenant_id: str, policy: RememberedPolicy) -> None:
        """Remember what counts in a tenant. One that is older than what is known changes nothing."""
        database = self._keystore.database
        new = (sqlite if database.is_sqlite else postgresql).insert(POLICIES)
        names = ("revision", "version", "files")
        keep = new.on_conflict_do_update(
            index_elements=list(POLICIES.primary_key),
            set_={name: new.excluded[name] for name in names},
            where=new.excluded.revision > POLICIES.c.revision,
        )
        row = {
            "tenant_id": tenant_id,
            "revision": policy.revision,
            "version": policy.version,
            "files": json.dumps(dict(policy.files)),
        }
        with database.write(None) as session:
            session.connection().execute(keep, [row])

    def find_policy(self, tenant_id: str) -> RememberedPolicy | None:
        """Answer what counted last in a tenant; `None` while nothing but its first version did."""
        query = select(POLICIES).where(POLICIES.c.tenant_id == tenant_id)
        with self._keystore.database.read(None) as session:
            row = session.connection().execute(query).first()
        return None if row is None else RememberedPolicy(row.version, row.revision, json.loads(row.files))
