"""Policy files to edit, laid out in every way that people lay them out, and their content."""

from collections.abc import Iterator
from copy import deepcopy
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

from policies_bundle import FOLDER

from service.policies.read_folder import read_folder
from service.policies.read_yaml import Document, Value, read_yaml

EXAMPLES: Final = Path(__file__).parents[1] / "docs" / "examples" / "policies"
FILES: Final = {
    f"{folder.name}/{path}": text
    for folder in [FOLDER, *sorted(EXAMPLES.iterdir())]
    for path, text in read_folder(folder).items()
    if path.endswith(".yaml")
}
WINDOWS: Final = {f"crlf/{path}": text.replace("\n", "\r\n") for path, text in FILES.items()}

LAID_OUT: Final = """# Of the whole.
purposes:   # of purposes
  # Above the first.
  service: {description: "Doing the work."}   # behind the first

  # Above the second.
  other:
    description: 'it''s: quoted'
guards: {max_affected: 10, # ten
  tolerance_percent: 5}
classes:
  note:
    because: >-
      a long sentence that
      is folded
    scope: project
    purposes: # all of them
      - service   # first
      # between
      - other
    refuses: business_fact
    rules:
      one:
        effect: deny
        because: |
          it is so.
          Really.
        when: |-
          agent == "a" ||
          agent == "b"
# At the end.
"""


def content_of(text: str) -> Value:
    return document_of(text).content


@lru_cache(maxsize=500)
def document_of(text: str) -> Document:
    document, faults = read_yaml("a.yaml", text)
    assert faults == ()
    return document


def places(content: Value, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the path of every value."""
    if path:
        yield path
    inner = (
        content.items()
        if isinstance(content, dict)
        else enumerate(content)
        if isinstance(content, list)
        else ()
    )
    for step, part in inner:
        yield from places(part, (*path, step))


def with_value(content: Value, path: tuple[Any, ...], value: Value) -> Value:
    changed: Any = deepcopy(content)
    parent = changed
    for step in path[:-1]:
        parent = parent[step]
    parent[path[-1]] = value
    return changed  # type: ignore[no-any-return]


def at(content: Any, path: tuple[Any, ...]) -> Any:
    for step in path:
        content = content[step]
    return content
