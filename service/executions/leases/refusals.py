"""What is refused around leases, each with its stable code."""

from service.core.errors import Conflict


class FencingTokenStale(Conflict):
    """Another worker holds the run, or the token that was shown is not the newest."""

    code = "fencing_token_stale"
    title = "This worker no longer holds the run: resume it to learn who does"


class LeaseLapsed(Conflict):
    """The lease has lapsed, was given back, or was never this worker's: only a resume gives another."""

    code = "lease_lapsed"
    title = "There is no lease to renew: resume the run"


class RecoveryOnly(Conflict):
    """The lease is for recovery: nothing new may be done outside until a resume finds the run clear."""

    code = "recovery_only"
    title = "Under a recovery lease nothing new is done outside"
