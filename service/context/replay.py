"""`replay`: build a kept package again, and say what differs and why."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final

from service.context.assemble import Sources, build_package
from service.context.budget import BudgetTooSmall
from service.context.causes import Cause, Causes, Reason
from service.context.kept_request import request_from_json
from service.context.request import ProfileUnknown, PurposeUnknown, RequestInconsistent
from service.context.store import KeptPackage, PackageStore
from service.core.cipher import TextErased
from service.core.errors import Forbidden, NotFound
from service.core.ids import is_id
from service.core.tokens import EncodingUnknown, ModelUnknown
from service.executions.keep import keeps_text
from service.executions.store import ExecutionStore
from service.identity.unit import Unit
from service.policies.model import Bundle

DIFFERENCES_MAX: Final = 1_000
"""So many are told; a package has no more items than its profile looks at."""


@dataclass(frozen=True, slots=True)
class Replayed:
    """Whether the package came out byte for byte again; else each difference with its cause."""

    digest: str | None
    """Of what came out now, `None` where nothing could be built."""
    differences: Sequence[Reason]

    @property
    def identical(self) -> bool:
        """Whether nothing differs."""
        return not self.differences


class NotYourPackage(Forbidden):
    """A package holds what its own user may read: nobody else can build it again."""

    code = "package_of_another"
    title = "Only whom a package was built for can have it built again"


def replay_package(package_id: str, *, unit: Unit, bundle: Bundle, sources: Sources) -> Replayed:
    """Build a kept package again under the policy and on the data of now, and compare. Only reads.

    It is ranked as at the moment when it was built, so that age alone makes no difference; rights, consent
    and expiry are those of now. Raises `NotFound`, `NotYourPackage`, `ExecutionHeld`, and `Unavailable` where
    search is down.
    """
    kept = PackageStore.of(unit).find(package_id) if is_id(package_id) else None
    if kept is None or kept.project_id not in unit.caller.project_ids:
        raise NotFound
    if kept.acting_user != unit.caller.sub:
        raise NotYourPackage("Ask as the user whom it was built for.")
    try:
        text = PackageStore.of(unit).request_of(kept.id)
        asked = request_from_json(
            text,
            kept.manifest,
            project=unit.project_of(kept.project_id).name,
            execution_id=kept.execution_id,
        )
        built = build_package(asked, unit=unit, bundle=bundle, sources=sources, again=kept)
    except (
        TextErased,
        PurposeUnknown,
        ProfileUnknown,
        RequestInconsistent,
        BudgetTooSmall,
        EncodingUnknown,
        ModelUnknown,
    ) as refusal:
        return Replayed(None, (_obstacle(refusal, kept, unit, bundle),))
    if built.kept.digest == kept.digest:
        return Replayed(kept.digest, ())
    causes = Causes(kept, built.kept.manifest, unit=unit, bundle=bundle)
    return Replayed(built.kept.digest, tuple(islice(causes.all(), DIFFERENCES_MAX)))


def _obstacle(refusal: Exception, kept: KeptPackage, unit: Unit, bundle: Bundle) -> Reason:
    """Say why nothing could be built at all."""
    match refusal:
        case TextErased():
            run = None if kept.execution_id is None else ExecutionStore.of(unit).get(kept.execution_id)
            is_unkept = run is not None and not keeps_text(run, bundle)
            return Reason("request", Cause.POLICY if is_unkept else Cause.ERASURE, "not kept")
        case PurposeUnknown():
            return Reason("purpose", Cause.POLICY, "no longer there")
        case ProfileUnknown():
            return Reason("profile", Cause.POLICY, "no longer there")
        case BudgetTooSmall():
            is_moved = kept.manifest["policy_version"] != bundle.version
            return Reason(f"section:{refusal.section}", Cause.POLICY if is_moved else Cause.DATA, "too large")
        case EncodingUnknown() | ModelUnknown():
            return Reason("encoding", Cause.CODE, "no longer counted")
    return Reason("request", Cause.DATA, "no longer fits its run")
