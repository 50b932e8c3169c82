"""The name of one retrievable piece of text, shared by those who keep it and those who find it."""

from typing import NamedTuple


class PassageKey(NamedTuple):
    """One chunk of one version of one item (evidence or memory).

    A tuple, because it is the key of every dictionary in a search: thousands of times it is hashed there.
    """

    item_id: str
    version: int
    ordinal: int
