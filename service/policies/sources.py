"""Where something comes from decides how far it is believed and how much it counts."""

from collections.abc import Collection, Iterable
from typing import Final

from service.policies.model import Bundle, SourceRule
from service.policies.verdict import Placement, Speaker
from service.policies.words import Authority, Submission, Trust

TURN_URI: Final = "turn://"
"""The scheme of what was said in an execution."""
UNCLAIMED_TRUST: Final = Trust.THIRD_PARTY
UNCLAIMED_CEILING: Final = Authority.DOCUMENT
"""What is kept of evidence whose source nobody vouches for."""


def find_source(uri: str, kind: str, bundle: Bundle) -> SourceRule | None:
    """Answer the most specific rule for an address and kind; `None` where no rule covers them."""
    address = uri.casefold()
    for rule in bundle.sources:  # longest prefix first
        if address.startswith(rule.uri_prefix.casefold()) and (not rule.kinds or kind in rule.kinds):
            return rule
    return None


def place_source(
    uri: str, kind: str, claimed_authority: Authority | None, grants: Collection[str], bundle: Bundle
) -> Placement:
    """Decide the trust and authority of a piece of evidence.

    `grants` are the sources that the credential may submit (`Caller.source_grants`). Claiming nothing gets
    the source's ceiling. What may not be claimed is kept as `third_party`, at most `document`.
    """
    rule = find_source(uri, kind, bundle)
    vouched = rule is not None and (rule.submission is Submission.ANYONE or rule.name in grants)
    if rule is not None and vouched:
        trust, ceiling = rule.trust, rule.ceiling
    else:
        # Who is not granted a source gets no more out of it than who is.
        of_source = UNCLAIMED_CEILING if rule is None else rule.ceiling
        trust, ceiling = UNCLAIMED_TRUST, lowest_authority([UNCLAIMED_CEILING, of_source])
    authority = lowest_authority([ceiling, claimed_authority or ceiling])
    claims_too_much = claimed_authority is not None and claimed_authority is not authority
    unvouched = rule is not None and not vouched
    return Placement(trust, authority, claims_too_much or unvouched, rule.name if rule else None)


def trust_of_turn(speaker: Speaker, *, relayed: bool) -> Trust:
    """Answer how far a turn is believed: by who said it, and whether the speaker sent it in person.

    An assistant's turn is a claim: believed no further than a stranger's.
    """
    if speaker == "user":
        return Trust.INTERNAL_TOOL if relayed else Trust.FIRST_PARTY
    return Trust.EXTERNAL_TOOL if speaker == "tool" else Trust.THIRD_PARTY


def lowest_trust(levels: Iterable[Trust]) -> Trust:
    """Answer the lowest trust of a lineage; of nothing: the lowest there is."""
    return max(levels, key=lambda level: level.rank, default=Trust.THIRD_PARTY)


def lowest_authority(levels: Iterable[Authority]) -> Authority:
    """Answer the lowest authority; of nothing: the lowest there is."""
    return max(levels, key=lambda level: level.rank, default=Authority.MODEL_SUMMARY)
