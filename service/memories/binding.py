"""What a decision is bound to: exactly what was proposed, and exactly what it would replace."""

import json
from dataclasses import dataclass

from service.core.cipher import Cipher
from service.core.errors import Conflict
from service.core.hashing import hash_text
from service.memories.model import Proposal
from service.memories.valid import Validity


class ProposalChanged(Conflict):
    """What the proposal would replace is not what the decision was made about."""

    code = "proposal_changed"
    title = "What this would replace has changed: look at the proposal again"

    def __init__(self, proposal_id: str) -> None:
        super().__init__("Read it again, and decide with its present hash.", review=proposal_id)


@dataclass(frozen=True, slots=True)
class Replaced:
    """The version of a memory that an approval would end."""

    memory_id: str
    version: int


def hash_review(proposal: Proposal, replaced: Replaced | None, *, cipher: Cipher) -> str | None:
    """Answer the hash of all that a person looks at before they decide; `None` once there are no words.

    It is keyed: short texts could be guessed from one that is not.
    """
    content = proposal.content
    if content is None:
        return None
    parts = {
        "proposal": proposal.id,
        "class": proposal.class_name,
        "subject": content.subject,
        "key": content.key,
        "text": content.text,
        "value": content.value,
        "citations": [[citation.kind, citation.id, citation.quote] for citation in content.citations],
        "purpose": proposal.purpose,
        "confidence": proposal.confidence,
        "validity": _times(proposal.validity),
        "replaces": None if replaced is None else [replaced.memory_id, replaced.version],
    }
    return hash_text(cipher.keyed_hash(json.dumps(parts, ensure_ascii=False, sort_keys=True)))


def _times(validity: Validity) -> list[str | None]:
    return [None if moment is None else moment.isoformat() for moment in (validity.since, validity.until)]
