"""`muniment policy schema`: the schema of a bundle's files, for editors."""

import json
from typing import Annotated

import typer

from service.entry.cli.output import AsJson
from service.policies.schema import bundle_schema, case_schema


def schema(
    *,
    tests: Annotated[bool, typer.Option("--tests", help="Of the files under tests/ instead.")] = False,
    as_json: AsJson = False,
) -> None:
    """Print the JSON Schema of policy files, for editors."""
    del as_json  # it is JSON in any case
    document = case_schema() if tests else bundle_schema()
    typer.echo(json.dumps(document, ensure_ascii=False, indent=2))
