"""How the words of a proposal or memory are sealed: together, under the subject's key."""

import json

from service.core.cipher import Cipher
from service.memories.model import Citation, Content
from service.policies.words import ProvenanceKind


def seal_content(content: Content, *, cipher: Cipher, place: str) -> bytes:
    """Answer the content as ciphertext that opens at `place` only, while its subject's key lives."""
    parts = [
        content.subject,
        content.key,
        content.text,
        content.value,
        [[citation.kind, citation.id, citation.quote] for citation in content.citations],
    ]
    subjects = () if content.subject is None else (content.subject,)
    return cipher.seal(json.dumps(parts, ensure_ascii=False), subjects=subjects, place=place)


def open_content(sealed: bytes, *, cipher: Cipher, place: str) -> Content:
    """Answer the content. Raises `TextErased` once the subject's key is gone."""
    subject, key, text, value, citations = json.loads(cipher.open(sealed, place=place))
    return Content(
        subject,
        key,
        text,
        value,
        tuple(Citation(ProvenanceKind(kind), ref, quote) for kind, ref, quote in citations),
    )


def hash_content(content: Content, *, cipher: Cipher) -> str:
    """Answer a keyed hash that is equal for equal words in the same slot."""
    parts = [content.subject, content.key, content.text, content.value]
    return cipher.keyed_hash(json.dumps(parts, ensure_ascii=False, sort_keys=True))


def memory_place(memory_id: str, version: int) -> str:
    """Answer where a version's words rest, for its seal."""
    return f"memory_versions/{memory_id}/{version}/content"


def reason_place(memory_id: str, version: int) -> str:
    """Answer where the reason for a version rests, for its seal."""
    return f"memory_versions/{memory_id}/{version}/reason"


def facts_place(proposal_id: str) -> str:
    """Answer where what a proposal was judged by rests, for its seal."""
    return f"memory_proposals/{proposal_id}/facts"
