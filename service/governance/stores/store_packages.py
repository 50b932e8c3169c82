"""Packages: what was asked, and the manifests that name what was shown."""

from typing import Final

from service.context.tables import PackageItemRow, PackageRow
from service.governance.model import Kind
from service.governance.stores.store_rows import Rows, RowStore, among, emptied

_SUBJECT: Final = frozenset({Kind.SUBJECT})

PACKAGES: Final = RowStore(
    "packages",
    (
        Rows(PackageItemRow, among(PackageItemRow.package_id, "package"), kinds=_SUBJECT),
        Rows(PackageRow, among(PackageRow.id, "package"), kinds=_SUBJECT),
        Rows(
            PackageRow,
            among(PackageRow.id, "package"),
            emptied(request=b""),
            kinds=frozenset({Kind.EXECUTION, Kind.RESTORE, Kind.RETENTION}),
        ),
    ),
    note="Others' packages name what was erased by its id and hash alone; they hold no text.",
)
