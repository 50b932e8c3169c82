"""The calls of context packages."""

from service.client.connection import JSON, Connection, as_json, idempotent
from service.wire.packages import BuildPackage, PackageAnswer, PackageExplained
from service.wire.packages_compare import PackageDiff, ReplayAnswer


class PackageCalls(Connection):
    """Build packages and look back at them."""

    def build_package(self, wanted: BuildPackage, *, idempotency_key: str | None = None) -> PackageAnswer:
        """Build a package for one call to a model."""
        headers = JSON | idempotent(idempotency_key)
        return self._call(
            "POST", "/context-packages", PackageAnswer, content=as_json(wanted), headers=headers
        )

    def explain_package(self, package_id: str) -> PackageExplained:
        """Read a package's manifest, each choice in words."""
        return self._call("GET", f"/context-packages/{package_id}", PackageExplained)

    def replay_package(self, package_id: str) -> ReplayAnswer:
        """Build a package again as of now, and learn what differs and why."""
        return self._call("POST", f"/context-packages/{package_id}/replay", ReplayAnswer)

    def compare_packages(self, first_id: str, second_id: str) -> PackageDiff:
        """Learn how the second package differs from the first."""
        return self._call("GET", f"/context-packages/{first_id}/diff/{second_id}", PackageDiff)
