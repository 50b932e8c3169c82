"""The port that all personal text passes on its way to rest. The real cipher stands in `adapters`."""

from collections.abc import Collection, Mapping, Sequence
from typing import Protocol

from service.core.errors import Gone


class TextErased(Gone):
    """The key that this text was sealed under has been destroyed: nobody can read it again."""

    code = "text_erased"
    title = "This text has been erased"


class Cipher(Protocol):
    """Seals text for one tenant, under its subjects' keys or, about nobody, under the tenant's."""

    def seal(self, text: str, *, subjects: Sequence[str], place: str) -> bytes:
        """Answer ciphertext that opens only at `place` and only while every subject's key lives.

        `subjects` names the persons whom the text is about. `place` says where it rests
        (`"turns/<id>/text"`), so that a row's ciphertext cannot be moved to another row.
        """
        ...

    def open(self, sealed: bytes, *, place: str) -> str:
        """Answer the text. Raises `TextErased` when a key is destroyed, `ValueError` when it was altered."""
        ...

    def can_open(self, sealed: bytes) -> bool:
        """Say whether every key that the text needs still lives, without opening it.

        Raises `ValueError` for what is no sealed text; whether it was altered only `open` can tell.
        """
        ...

    def keyed_hash(self, text: str) -> str:
        """Answer a hex digest that equals for equal texts of this tenant and tells outsiders nothing."""
        ...

    def pseudonym(self, subject: str) -> str:
        """Answer the id that stands for the subject where nothing is ever removed.

        It is the same as long as the subject's key lives. `names_of` tells whose it is; once the key is
        destroyed nobody can, and who comes back gets another.
        """
        ...

    def find_pseudonym(self, subject: str) -> str | None:
        """Answer the pseudonym of a subject that has a key, and give nobody one."""
        ...

    def names_of(self, pseudonyms: Collection[str]) -> Mapping[str, str]:
        """Answer whose these are, without those whose key has been destroyed."""
        ...


class Ciphers(Protocol):
    """Answers the cipher of a tenant; ask anew in each unit of work, since keys may have died since."""

    def for_tenant(self, tenant_id: str) -> Cipher:
        """Answer the tenant's cipher, making its first key if there is none."""
        ...
