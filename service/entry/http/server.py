"""`serve`: one process that listens until it is told to stop, and says where it listens."""

import logging
import signal
import socket
import sys
from contextlib import ExitStack
from types import FrameType
from typing import Final, NoReturn

import structlog
import uvicorn

from service.entry.http.app import create_app
from service.entry.http.shell import Saw
from service.entry.policies_folder import warn_of_broken_policies
from service.settings import Settings
from service.wiring import Runtime, build

_STOP_SECONDS_MAX: Final = 20
"""How long requests under way may take to end once the process is told to stop."""
_BACKLOG: Final = 512


def serve(settings: Settings) -> None:
    """Serve HTTP until SIGINT or SIGTERM; end the requests under way, then release everything.

    Prints one line with the address once it listens. Raises `Unavailable` when another process holds the data
    folder and `OSError` when the address is taken, each before anything is served.
    """
    configure_logs()
    with ExitStack() as opened:
        listening = _listen(settings.host, settings.port)
        opened.callback(listening.close)
        runtime = build(settings)
        opened.callback(runtime.close)
        runtime.warm_up()
        warn_of_broken_policies(settings.policies_dir)
        config = uvicorn.Config(
            create_app(runtime, saw=_measure(settings, runtime, opened)),
            timeout_graceful_shutdown=_STOP_SECONDS_MAX,
            access_log=False,
            log_config=None,
            server_header=False,
            # Our own layer writes one line for each request, without its query string.
            proxy_headers=False,
        )
        signal.signal(signal.SIGINT, _end)
        signal.signal(signal.SIGTERM, _end)
        print(f"Muniment listens on {_address(listening)}", flush=True)  # noqa: T201 - what `serve` promises
        uvicorn.Server(config).run(sockets=[listening])


def _measure(settings: Settings, runtime: Runtime, opened: ExitStack) -> Saw | None:
    """Serve metrics until `opened` ends, where a port is set; answer what is to be told of requests."""
    if settings.metrics_port is None:
        return None
    # The vendor's package is loaded only where somebody looks.
    from service.entry.metrics.listen import build_metrics, listen  # noqa: PLC0415

    metrics = build_metrics(runtime)
    listening = listen(metrics, host=settings.host, port=settings.metrics_port)
    opened.callback(listening.close)
    structlog.get_logger("muniment.metrics").info("metrics_listen", port=listening.port)
    return metrics.requests.saw


def _end(_signal: int, _frame: FrameType | None) -> NoReturn:
    # uvicorn repeats the signal once the requests have ended: as an exit it still passes through `finally`,
    # and the index is closed in order.
    raise SystemExit(0)


def configure_logs() -> None:
    """Write logs as JSON lines to standard error, with levels and UTC times."""
    structlog.configure(
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.JSONRenderer(),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(logging.INFO),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
        cache_logger_on_first_use=True,
    )


def _listen(host: str, port: int) -> socket.socket:
    family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    listening = socket.socket(family, kind, protocol)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind(address)
        listening.listen(_BACKLOG)
    except OSError:
        listening.close()
        raise
    return listening


def _address(listening: socket.socket) -> str:
    host, port = listening.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
