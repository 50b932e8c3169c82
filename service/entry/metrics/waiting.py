"""What waits in the record, as gauges: read when asked for, and absent while the record is silent."""

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Final

import structlog
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector
from sqlalchemy.exc import SQLAlchemyError

from service.core.clock import Clock
from service.governance.backlog import BacklogReader
from service.governance.model_backlog import Backlog

_log: Final = structlog.get_logger("muniment.metrics")

_READABLE: Final = (
    "muniment_record_readable",
    "Whether the record answered when these numbers were asked for: 1 or 0.",
)


class WaitingCollector(Collector):
    """All tenants' backlog together. A record that does not answer costs its own gauges and no others."""

    def __init__(self, reader: BacklogReader, clock: Clock) -> None:
        self._reader = reader
        self._clock = clock

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """Answer the gauges, at most some seconds old."""
        try:
            backlog = self._reader.read()
        except SQLAlchemyError as failure:
            _log.warning("backlog_unread", failure=type(failure).__name__)
            yield GaugeMetricFamily(*_READABLE, value=0)
            return
        yield GaugeMetricFamily(*_READABLE, value=1)
        yield from _gauges(backlog, self._clock())

    def describe(self) -> Iterator[GaugeMetricFamily]:
        """Answer the gauges' names without asking the record."""
        yield GaugeMetricFamily(*_READABLE)
        yield from _gauges(Backlog(), self._clock())


def _gauges(backlog: Backlog, now: datetime) -> Iterator[GaugeMetricFamily]:
    yield _by(
        "muniment_outbox_messages",
        "Messages that wait for delivery: due now, failing (tried again later), dead (given up).",
        "state",
        {"due": backlog.outbox_due, "failing": backlog.outbox_failing, "dead": backlog.outbox_dead},
    )
    yield _age("muniment_outbox_oldest_due_seconds", "message that is due", backlog.outbox_oldest, now)
    yield GaugeMetricFamily(
        "muniment_proposals_waiting",
        "Proposals that wait for a person's decision.",
        value=backlog.proposals_waiting,
    )
    yield _age(
        "muniment_proposals_oldest_waiting_seconds",
        "proposal that waits",
        backlog.proposals_oldest,
        now,
    )
    yield _by(
        "muniment_erasures",
        "Erasures that are not complete: all of them (open), and those past their due date (overdue).",
        "state",
        {"open": backlog.erasures_open, "overdue": backlog.erasures_overdue},
    )
    yield GaugeMetricFamily(
        "muniment_approvals_pending",
        "Approvals that wait for a decision and have not run out.",
        value=backlog.approvals_pending,
    )
    yield _by(
        "muniment_effects",
        "Operations without a known end: under way (dispatched), unknown, escalated.",
        "status",
        {
            "dispatched": backlog.effects_dispatched,
            "unknown": backlog.effects_unknown,
            "escalated": backlog.effects_escalated,
        },
    )


def _by(name: str, meaning: str, label: str, values: Mapping[str, int]) -> GaugeMetricFamily:
    family = GaugeMetricFamily(name, meaning, labels=(label,))
    for value, count in values.items():
        family.add_metric((value,), count)
    return family


def _age(name: str, what: str, since: datetime | None, now: datetime) -> GaugeMetricFamily:
    seconds = 0.0 if since is None else max(0.0, (now - since).total_seconds())
    return GaugeMetricFamily(name, f"Age of the oldest {what}; 0 where there is none.", value=seconds)
