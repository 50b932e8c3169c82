"""The unit of work: one transaction on behalf of one caller, and all that a use case may touch in it."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from sqlmodel import Session

from service.core.cipher import Cipher
from service.core.errors import NotFound
from service.core.ids import IdSource
from service.core.lineage import Node
from service.core.outbox import Outbox
from service.core.tokens import TokenCounter
from service.core.tombstones import KeyLedger, NoLedger, Right
from service.detection.ports import Detector
from service.detection.scan import OwnRules
from service.identity.model import Caller, Project

_NO_LEDGER: Final = NoLedger()
_OWN_RULES: Final = OwnRules()


@dataclass(frozen=True, slots=True)
class Unit:
    """Handed to every verb. The edge opens it, commits or rolls back, and nobody below does either.

    `fencing_token` is the one that came with the request: whoever writes to a run that is leased shows it.
    """

    session: Session
    caller: Caller
    now: datetime
    ids: IdSource
    cipher: Cipher
    tokens: TokenCounter
    request_id: str = ""
    fencing_token: int | None = None
    detector: Detector = _OWN_RULES
    ledger: KeyLedger = _NO_LEDGER

    @property
    def tenant_id(self) -> str:
        """The tenant of the caller's credential."""
        return self.caller.tenant_id

    @property
    def outbox(self) -> Outbox:
        """The tenant's outbox in this transaction."""
        return Outbox(self.session, self.tenant_id)

    def stage(self, topic: str, **payload: str | int | list[str] | None) -> None:
        """Stage a message that is delivered after this transaction commits."""
        self.outbox.stage(topic, dict(payload), ids=self.ids, now=self.now)

    def stage_at(self, topic: str, due_at: datetime, **payload: str | int | list[str] | None) -> None:
        """Stage a message that is delivered once `due_at` has come, and not before this commits."""
        self.outbox.stage_all(topic, [dict(payload)], ids=self.ids, now=self.now, due_at=due_at)

    def stage_all(self, topic: str, payloads: Sequence[dict[str, Any]]) -> None:
        """Stage a message for each payload, as `stage` does for one."""
        self.outbox.stage_all(topic, payloads, ids=self.ids, now=self.now)

    def end_right(self, right: Right, *refs: str) -> None:
        """Write down apart from the record that these rights end, so that no restore brings them back.

        At once, and before this commits: of the two, losing a right that stands is the lesser harm.
        """
        self.ledger.bury_all(self.tenant_id, [Node(right.value, ref) for ref in refs])

    def project(self, name: str) -> Project:
        """Answer the caller's project of that name. Raises `NotFound` for any other, existing or not."""
        for project in self.caller.projects:
            if project.name == name:
                return project
        raise NotFound

    def project_of(self, project_id: str) -> Project:
        """Answer the caller's project of that id. Raises `NotFound` for any other, existing or not."""
        for project in self.caller.projects:
            if project.id == project_id:
                return project
        raise NotFound
