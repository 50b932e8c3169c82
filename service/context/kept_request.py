"""What was asked of a package, as it is kept beside its manifest and read again to build it anew."""

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from service.context.model import Rendering, Tool
from service.context.request import PackageRequest, SectionLimits
from service.memories.valid import Moment
from service.policies.words import SectionName


def request_to_json(asked: PackageRequest) -> str:
    """Answer what the manifest does not say: it may hold words, so it is kept sealed."""
    return json.dumps(
        {
            "query": asked.query,
            "model": asked.model,
            "sections": {name.value: [one.minimum, one.maximum] for name, one in asked.sections.items()},
            "tools": [
                {
                    "name": tool.name,
                    "description": tool.description,
                    "schema": tool.schema,
                    "writes": tool.writes,
                }
                for tool in asked.tools
            ],
            "as_of": _written(asked.moment.as_of),
            "known_at": _written(asked.moment.known_at),
        },
        ensure_ascii=False,
    )


def request_from_json(
    text: str, manifest: Mapping[str, Any], *, project: str, execution_id: str | None
) -> PackageRequest:
    """Answer the request again, of its kept part, the manifest, and where it was made."""
    kept = json.loads(text)
    return PackageRequest(
        project=project,
        purpose=manifest["purpose"],
        max_tokens=manifest["max_tokens"],
        reply_reserve=manifest["reply_reserve"],
        execution_id=execution_id,
        task_id=manifest["task_id"],
        query=kept["query"],
        encoding=manifest["encoding"],
        model=kept["model"],
        profile=manifest["profile"],
        sections={
            SectionName(name): SectionLimits(minimum=limits[0], maximum=limits[1])
            for name, limits in kept["sections"].items()
        },
        tools=tuple(
            Tool(tool["name"], tool["description"], tool["schema"], writes=tool["writes"])
            for tool in kept["tools"]
        ),
        rendering=Rendering(manifest["render"]),
        moment=Moment(_read(kept.get("as_of")), _read(kept.get("known_at"))),
    )


def _written(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat()


def _read(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text)
