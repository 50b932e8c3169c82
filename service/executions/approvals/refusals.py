"""What is refused around approvals, each with its stable code."""

from collections.abc import Sequence

from service.core.errors import Conflict, Forbidden, Invalid
from service.executions.approvals.model import Moved


class CommandInexact(Invalid):
    """The command has no canonical form (RFC 8785), or a longer one than anybody should have to read."""

    code = "command_inexact"
    title = "The command cannot be approved in this form"


class ApprovalTooLax(Invalid):
    """The request asks for more time, or shows less evidence, than the policy allows."""

    code = "approval_too_lax"
    title = "A request may only be stricter than the policy"


class ApprovalNotYours(Forbidden):
    """The policy names another role for this command, or the caller asked for it or acts in it."""

    code = "approval_not_yours"
    title = "The policy does not let this credential decide this approval"


class ApprovalDecided(Conflict):
    """The request waits for nobody any more; `approval_status` says how it stands."""

    code = "approval_decided"
    title = "This approval has been decided"


class ApprovalNotApproved(Conflict):
    """Nobody has said yes, or not for long; `approval_status` says how it stands."""

    code = "approval_not_approved"
    title = "Only an approved request is redeemed"


class ApprovalNotRedeemed(Conflict):
    """The intent came before the redemption, which writes it."""

    code = "approval_not_redeemed"
    title = "Redeem the approval: that writes the intent"


class ApprovalUsed(Conflict):
    """The approval was redeemed for another operation; `operation_id` names it."""

    code = "approval_used"
    title = "An approval is used for one operation"


class ApprovalStale(Conflict):
    """Something that the approval is bound to is no longer as it was; `moved` has the codes of what."""

    code = "approval_stale"
    title = "The approval no longer holds"

    def __init__(self, moved: Sequence[Moved]) -> None:
        super().__init__("Ask for it again, once that is settled.", moved=[code.value for code in moved])


class AuthorityGone(Forbidden):
    """Whoever wrote the intent down may no longer act in this run."""

    code = "authority_gone"
    title = "Whoever intended this may no longer do it"
