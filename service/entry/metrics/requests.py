"""Counts and durations of requests. Every label is one of a fixed, small set of the service's own words."""

from typing import Final

from prometheus_client import CollectorRegistry, Counter, Histogram

_METHODS: Final = frozenset({"GET", "PUT", "POST", "PATCH", "DELETE", "HEAD", "OPTIONS"})
_STATUSES: Final = {1: "1xx", 2: "2xx", 3: "3xx", 4: "4xx", 5: "5xx"}
_SECONDS: Final = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)


class RequestMetrics:
    """Told of each request once it has been answered."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._requests = Counter(
            "muniment_http_requests_total",
            "Requests answered, by method, route and kind of status.",
            ("method", "route", "status"),
            registry=registry,
        )
        self._seconds = Histogram(
            "muniment_http_request_duration_seconds",
            "Seconds from a request's arrival to the end of its answer, by method and route.",
            ("method", "route"),
            buckets=_SECONDS,
            registry=registry,
        )

    def saw(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count a request. `route` is the template that matched, `unmatched` where none did."""
        # A client may call its method what it likes; a label of its own for each would grow without end.
        known = method if method in _METHODS else "other"
        self._requests.labels(known, route, _STATUSES.get(status // 100, "none")).inc()
        self._seconds.labels(known, route).observe(seconds)
