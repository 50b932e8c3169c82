"""What a folder remembers between two calls: how far it has read, and what it has sent."""

import json
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Final, Self

from service.core.ids import is_id
from service.entry.handoff.folder import LOG, STATE, Folder, FolderUnfit

_FORM: Final = 1


@dataclass(frozen=True, slots=True)
class FolderState:
    """The memory of one folder.

    `cursor` is the last line of the service's that was taken, `size` the log's size in bytes then. `sent` are
    keys of own lines that the service has, `unseen` the ids that it gave them and that were not read back
    yet. `unsure` says that more may have been sent than is written here: a sender did not live to write it
    down.
    """

    execution_id: str
    cursor: str | None = None
    size: int = 0
    sent: AbstractSet[str] = frozenset()
    unseen: AbstractSet[str] = frozenset()
    unsure: bool = False

    @classmethod
    def of(cls, folder: Folder, execution_id: str | None) -> Self:
        """Answer what the folder remembers, for one run or for the one that it holds.

        Raises `FolderUnfit` when it holds another run, when it holds none and none is named, when what is
        named is no id, and when its memory cannot be read.
        """
        raw = folder.read(STATE)
        if execution_id is not None and not is_id(execution_id):
            # It becomes a part of addresses: anything else could lead a call somewhere else.
            raise FolderUnfit("That is no id of a run.")
        if raw is not None:
            kept = cls._read(raw)
            if execution_id not in (None, kept.execution_id):
                raise FolderUnfit(f"The folder holds another run: {kept.execution_id}.")
            return kept
        if execution_id is None:
            raise FolderUnfit("The folder holds no run yet: name one.")
        # A log without a memory: what of it was sent before, nobody knows.
        return cls(execution_id, unsure=folder.size(LOG) > 0)

    def save(self, folder: Folder) -> None:
        """Write it down, whole or not at all."""
        fields = {
            "form": _FORM,
            "execution_id": self.execution_id,
            "cursor": self.cursor,
            "size": self.size,
            "sent": sorted(self.sent),
            "unseen": sorted(self.unseen),
            "unsure": self.unsure,
        }
        folder.replace(STATE, json.dumps(fields, separators=(",", ":")).encode() + b"\n")

    @classmethod
    def _read(cls, raw: bytes) -> Self:
        unfit = FolderUnfit(f"{STATE} was not written by this version: take it away to begin anew.")
        try:
            fields = json.loads(raw)
            form = fields["form"]
            state = cls(
                execution_id=str(fields["execution_id"]),
                cursor=None if fields["cursor"] is None else str(fields["cursor"]),
                size=int(fields["size"]),
                sent=frozenset(map(str, fields["sent"])),
                unseen=frozenset(map(str, fields["unseen"])),
                unsure=bool(fields["unsure"]),
            )
        except (ValueError, KeyError, TypeError, OverflowError, RecursionError):
            raise unfit from None
        # Ids become parts of addresses, and others may have written here.
        has_ids = is_id(state.execution_id) and (state.cursor is None or is_id(state.cursor))
        if form != _FORM or not has_ids or state.size < 0:
            raise unfit
        return state
