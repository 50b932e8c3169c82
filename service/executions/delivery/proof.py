"""What evidence proves about an effect whose outcome nobody knows. Pure."""

from collections.abc import Collection

from service.evidence.model import Evidence
from service.executions.delivery.model import Outcome
from service.executions.ledger.model import Effect
from service.policies.model import Bundle
from service.policies.sources import find_source
from service.policies.words import Submission, Trust


def fault_of(shown: Evidence, outcome: Outcome, effect: Effect) -> str | None:
    """Answer why a piece of evidence does not prove an outcome, or `None`."""
    observed_at = shown.source.observed_at
    if shown.standing.trust.rank > Trust.INTERNAL_TOOL.rank:
        return "Evidence that settles an outcome comes from an internal tool, or from what is trusted more."
    if shown.stale or shown.superseded_by is not None:
        return "This evidence is no longer current."
    if outcome is Outcome.COMMITTED and observed_at < effect.created_at:
        return "It was observed before anybody intended the effect, and so does not show that it happened."
    if outcome is Outcome.ABSENT and observed_at < (effect.dispatched_at or effect.updated_at):
        return "It was observed before the dispatch, and so says nothing about what came after."
    return None


def is_own_word(
    shown: Evidence, workers: Collection[str | None], *, holder: str, grants: Collection[str], bundle: Bundle
) -> bool:
    """Say whether a piece of evidence is no more than the word of those who work on the run.

    `workers` are the subjects who do, `holder` the one who shows it, with the sources that are granted to
    their credential. What somebody else handed in is not their word. What they handed in themselves counts
    where the bundle trusts them with that source: by a grant, or since it says so for all (`settles_own`).
    """
    submitter = submitter_of(shown.source.retrieved_by)
    if submitter not in workers:
        return False
    rule = find_source(shown.source.uri, shown.source.kind, bundle)
    if rule is None:
        return True
    # Without a grant it would have been kept as a third party's, which proves nothing.
    is_granted = rule.submission is Submission.GRANTED or (submitter == holder and rule.name in grants)
    return not (is_granted or rule.settles_own)


def submitter_of(principal: str) -> str:
    """Answer the subject of `role:subject` or `role:subject:for:user`, as `Caller.principal` writes them."""
    return principal.partition(":")[2].partition(":for:")[0]
