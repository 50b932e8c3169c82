"""What is refused around deliveries and their outcomes, each with its stable code."""

from service.core.errors import Conflict, Forbidden


class ConnectorUnknown(Conflict):
    """The policy names a connector that the settings do not register for this tenant."""

    code = "connector_unknown"
    title = "The connector of this command is not registered for the tenant"


class ConnectorChanged(Conflict):
    """The active policy delivers effects of this kind in another way than when this one was intended."""

    code = "connector_changed"
    title = "The policy delivers this kind of effect in another way now"


class DeliveryUnderWay(Conflict):
    """The service may be sending this command right now, so nobody can say yet that it is not there."""

    code = "delivery_under_way"
    title = "This command is being delivered at this moment"


class ReconciliationNotNeeded(Conflict):
    """The effect's outcome is not unknown, or is settled otherwise; `status` is the present one."""

    code = "reconciliation_not_needed"
    title = "This effect's outcome is not unknown"


class ReconciliationNeedsProof(Forbidden):
    """The run's own user or agent settles an unknown outcome with evidence, never on a bare word."""

    code = "reconciliation_needs_proof"
    title = "Settling an unknown outcome needs evidence that counts"
