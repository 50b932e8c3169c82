"""The name of one retrievable piece of text, shared by those who keep it and those who find it."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, order=True)
class PassageKey:
    """One chunk of one version of one item (evidence or memory)."""

    item_id: str
    version: int
    ordinal: int
