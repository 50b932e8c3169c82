"""`muniment serve`: the service in this process."""

from typing import Annotated

import typer

from service.settings import Settings


def serve(
    *,
    host: Annotated[str | None, typer.Option("--host", help="Address to listen on.")] = None,
    port: Annotated[
        int | None, typer.Option("--port", min=0, max=65_535, help="Port to listen on; 0 picks a free one.")
    ] = None,
) -> None:
    """Serve HTTP until told to stop. Options come before the settings."""
    chosen = {name: value for name, value in (("host", host), ("port", port)) if value is not None}
    settings = Settings().model_copy(update=chosen)
    # The web framework is needed by this command alone.
    from service.entry.http.server import serve as serve_http  # noqa: PLC0415

    serve_http(settings)
