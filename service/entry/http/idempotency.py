"""`Idempotency-Key`: one attempt at a creating request, and whether it is the first."""

import re
from dataclasses import dataclass
from typing import Final

from starlette.requests import Request

from service.core.errors import Gone, Invalid
from service.core.idempotency import IdempotencyStore, Kept
from service.entry.http.reply import Answered, Reply
from service.entry.http.state import RequestState
from service.identity.unit import Unit
from service.memories.store import MemoryStore
from service.policies.active import active_bundle

REPLAYED_HEADER: Final = "Idempotent-Replayed"
_KEY: Final = re.compile(r"[\x21-\x7e]{1,200}")


class KeyMalformed(Invalid):
    """The key is empty, too long, given twice, or holds more than printable ASCII."""

    code = "invalid_idempotency_key"
    title = "An Idempotency-Key is 1 to 200 printable ASCII characters without spaces"


@dataclass(frozen=True, slots=True)
class Attempt:
    """A creating request with its key."""

    key: str
    request: str

    def claim(self, unit: Unit) -> Answered | None:
        """Answer the kept answer if the caller may still see it, or `None` when the work is to be done.

        Raises what `IdempotencyStore.claim` raises, `NotFound` when the answer's project is no longer the
        caller's, and `Gone` when it shows a memory that has run out or may not be shown any more.
        """
        return self._again(_store(unit).claim(key=self.key, request=self.request, now=unit.now), unit)

    def find(self, unit: Unit) -> Answered | None:
        """Answer the kept answer as `claim` does, or `None` when there is none; claims nothing."""
        return self._again(_store(unit).find(key=self.key, request=self.request, now=unit.now), unit)

    def keep(self, unit: Unit, answered: Answered, reply: Reply) -> None:
        """Keep the answer in the transaction that did the work."""
        kept = Kept(answered.status, answered.headers, answered.text, reply.project_id)
        _store(unit).keep(key=self.key, answer=kept, refs=reply.refs, subjects=reply.subjects)

    def release(self, unit: Unit) -> None:
        """Let the key go: what was refused keeps no answer, although something else was written."""
        _store(unit).release(key=self.key)

    def _again(self, kept: Kept | None, unit: Unit) -> Answered | None:
        if kept is None:
            return None
        if kept.project_id is not None:
            unit.project_of(kept.project_id)
        refs = _store(unit).refs_of(key=self.key)
        # What somebody does to a memory empties the answers that show it. Time, a policy and a hold do not.
        if refs and MemoryStore.of(unit, active_bundle(unit)).hides_any(
            refs, caller=unit.caller, now=unit.now
        ):
            raise Gone
        return Answered(kept.status, {**kept.headers, REPLAYED_HEADER: "true"}, kept.body)


def attempt_of(request: Request, state: RequestState) -> Attempt | None:
    """Answer the request's attempt, `None` without a key. Raises `KeyMalformed`.

    Of what is only read nothing is kept, whatever key it comes with: a repeat reads again.
    """
    if request.method == "GET":
        return None
    keys = request.headers.getlist("idempotency-key")
    if not keys:
        return None
    if len(keys) > 1 or not _KEY.fullmatch(keys[0]):
        raise KeyMalformed
    # No part but the last can hold a line break, so that different parts never join to the same text.
    key = "\n".join((state.caller.principal, request.method, request.url.path, keys[0]))
    return Attempt(key, f"{request.url.query}\n{state.body_digest}")


def _store(unit: Unit) -> IdempotencyStore:
    return IdempotencyStore(unit.session, unit.tenant_id, unit.cipher)
