"""How the text of a run rests: as ciphertext under the key of the person whom the run is about."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from service.core.cipher import Cipher, TextErased


@dataclass(frozen=True, slots=True)
class SealedText:
    """Seals and opens the text of one tenant's runs.

    With `redacted`, every text reads as `None`: the caller may know of the run and not what it says.
    """

    cipher: Cipher
    redacted: bool = False

    def seal(self, text: str | None, *, person: str | None, place: str) -> bytes | None:
        """Answer ciphertext under the person's key, or the tenant's when the run is about nobody."""
        if text is None:
            return None
        return self.cipher.seal(text, subjects=() if person is None else (person,), place=place)

    def open(self, sealed: bytes | None, *, place: str) -> str | None:
        """Answer the text, or `None` when there is none, it is not the caller's to read, or it was erased.

        An erased text is not an error here: one erased run must not spoil a list.
        """
        if sealed is None or self.redacted:
            return None
        try:
            return self.cipher.open(sealed, place=place)
        except TextErased:
            return None

    def seal_json(self, value: object, *, person: str | None, place: str) -> bytes | None:
        """Answer the ciphertext of a JSON value; `None` stays `None`."""
        return None if value is None else self.seal(stable_json(value), person=person, place=place)

    def open_object(self, sealed: bytes | None, *, place: str) -> Mapping[str, Any]:
        """Answer the JSON object that was sealed, or an empty one where `open` answers `None`."""
        text = self.open(sealed, place=place)
        value = {} if text is None else json.loads(text)
        assert isinstance(value, dict)
        return value

    def object_in(self, sealed: bytes | None, *, place: str) -> Mapping[str, Any]:
        """Answer what `open_object` does, opened by whoever first looks into it: of many, few are."""
        return _SealedObject(self, sealed, place)

    def open_objects(self, sealed: bytes | None, *, place: str) -> Sequence[Mapping[str, Any]]:
        """Answer the list of JSON objects that was sealed, or an empty one where `open` answers `None`."""
        text = self.open(sealed, place=place)
        value = [] if text is None else json.loads(text)
        assert isinstance(value, list)
        return value


class _SealedObject(Mapping[str, Any]):
    """A JSON object that is still sealed."""

    def __init__(self, text: SealedText, sealed: bytes | None, place: str) -> None:
        self._text, self._sealed, self._place = text, sealed, place

    def __getitem__(self, name: str) -> Any:  # noqa: ANN401 - whatever JSON held
        return self._opened[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._opened)

    def __len__(self) -> int:
        return len(self._opened)

    @cached_property
    def _opened(self) -> Mapping[str, Any]:
        return self._text.open_object(self._sealed, place=self._place)


def stable_json(value: object) -> str:
    """Answer the same text for equal JSON values (mappings and sequences of them are dicts and lists).

    Not RFC 8785, which cannot carry the integers between 2**53 and 2**63 that a state or request may hold.
    """
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
