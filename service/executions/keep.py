"""Whether a run's retention class keeps what was said."""

from service.executions.model import Execution
from service.policies.model import Bundle
from service.policies.words import RetainedText


def keeps_text(execution: Execution, bundle: Bundle) -> bool:
    """Say whether turns, pins, summaries and tool results of the run keep their text.

    A class that the active policy no longer names keeps none: what nobody allows is not kept.
    """
    found = bundle.retention.get(execution.retention_class)
    return found is not None and found.text is RetainedText.FULL
