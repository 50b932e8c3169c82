"""`muniment data-map`: where everything is kept, as a page or as JSON."""

import typer

from service.entry.cli.output import AsJson, answer_list


def data_map(*, as_json: AsJson = False) -> None:
    """Print every field of every store: what it holds, why, for how long, and what erases it."""
    # The index's engine and numpy are loaded for this command alone.
    from service.entry.data_map import data_map as whole  # noqa: PLC0415
    from service.entry.data_map_page import render_page  # noqa: PLC0415
    from service.entry.http.data_map_shapes import field_answer  # noqa: PLC0415

    fields = whole()
    if as_json:
        answer_list([field_answer(field).model_dump() for field in fields], as_json=True)
        return
    typer.echo(render_page(fields), nl=False)
