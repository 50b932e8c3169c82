"""The queries of one tenant's packages."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Self

from sqlalchemy import insert
from sqlmodel import Session

from service.context.tables import PackageItemRow, PackageRow
from service.core.cipher import Cipher, TextErased
from service.identity.unit import Unit


@dataclass(frozen=True, slots=True)
class ItemKey:
    """One item as packages name it."""

    kind: str
    id: str
    version: int


@dataclass(frozen=True, slots=True)
class KeptPackage:
    """A package as it is kept: its manifest, and where and for whom it was built."""

    id: str
    project_id: str
    execution_id: str | None
    acting_user: str
    built_by: str
    purpose: str
    digest: str
    manifest: Mapping[str, Any]
    created_at: datetime
    quarantined: bool = False
    """Whether something that it showed is under quarantine now."""


class PackageStore:
    """Keeps and reads packages, inside one transaction."""

    def __init__(self, session: Session, tenant_id: str, cipher: Cipher) -> None:
        self._session = session
        self._tenant_id = tenant_id
        self._cipher = cipher

    @classmethod
    def of(cls, unit: Unit) -> Self:
        """Answer the store of the unit's tenant and transaction."""
        return cls(unit.session, unit.tenant_id, unit.cipher)

    def add(
        self, package: KeptPackage, request: str, items: frozenset[ItemKey], *, person: str | None
    ) -> None:
        """Keep a package, its request sealed under the person it was asked for, if there is one.

        An empty request is one whose run's retention class keeps no text.
        """
        connection = self._session.connection()
        connection.execute(
            insert(PackageRow),
            {
                "tenant_id": self._tenant_id,
                "id": package.id,
                "project_id": package.project_id,
                "execution_id": package.execution_id,
                "acting_user": package.acting_user,
                "built_by": package.built_by,
                "purpose": package.purpose,
                "digest": package.digest,
                "request": self._sealed(request, package.id, person),
                "manifest": dict(package.manifest),
                "created_at": package.created_at,
            },
        )
        if items:
            connection.execute(
                insert(PackageItemRow),
                [
                    {
                        "tenant_id": self._tenant_id,
                        "package_id": package.id,
                        "kind": item.kind,
                        "item_id": item.id,
                        "version": item.version,
                    }
                    for item in sorted(items, key=lambda item: (item.kind, item.id, item.version))
                ],
            )

    def find(self, package_id: str) -> KeptPackage | None:
        """Answer a package, or `None`: no caller is asked about."""
        row = self._session.get(PackageRow, (self._tenant_id, package_id))
        if row is None:
            return None
        return KeptPackage(
            id=row.id,
            project_id=row.project_id,
            execution_id=row.execution_id,
            acting_user=row.acting_user,
            built_by=row.built_by,
            purpose=row.purpose,
            digest=row.digest,
            manifest=row.manifest,
            created_at=row.created_at,
            quarantined=row.quarantine_id is not None,
        )

    def _sealed(self, request: str, package_id: str, person: str | None) -> bytes:
        if not request:
            return b""
        subjects = (person,) if person else ()
        return self._cipher.seal(request, subjects=subjects, place=_request_place(package_id))

    def request_of(self, package_id: str) -> str:
        """Answer what was asked, as kept. Raises `TextErased` when the person's key has been destroyed."""
        row = self._session.get_one(PackageRow, (self._tenant_id, package_id))
        if not row.request:
            # Its run keeps no text, or its content was erased; the manifest stays.
            raise TextErased
        return self._cipher.open(row.request, place=_request_place(package_id))


def _request_place(package_id: str) -> str:
    return f"packages/{package_id}/request"
