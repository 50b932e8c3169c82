"""Two tenants with the same content: neither learns from any call that the other exists."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import FixedClock
from memories_world import MemoryWorld, memory_world

from service.core.database import Database
from service.core.ids import new_id

METHODS = {"get", "put", "post", "patch", "delete"}
UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}")
TEXTS = (
    "Plot 18: outline consent granted on 3 March.",
    "The drainage report for plot 18 is outstanding.",
    "Plot 24 was sold in May.",
)


@pytest.fixture
def world(database: Database, tmp_path: Path, clock: FixedClock) -> Iterator[MemoryWorld]:
    with memory_world(database, tmp_path, clock) as world:
        yield world


class Tenant:
    """One tenant's life: the same calls in each, and every id that they answered."""

    def __init__(self, world: MemoryWorld, name: str) -> None:
        self.world = world
        self.ids: set[str] = set()
        self.kinds: dict[str, str] = {}
        self.user = world.of("user", "user-1", tenant=name)
        self.agent = world.of("agent", "agent-1", for_user="user-1", tenant=name)
        self.reviewer = world.of("reviewer", "reviewer-1", tenant=name)

    def call(
        self, method: str, path: str, body: Any = None, *, who: dict | None = None, expect: int = 200
    ) -> Any:
        answer = self.world.call(method, path, who or self.agent, body, expect=expect)
        self.ids |= set(UUID.findall(json.dumps(answer)))
        return answer

    def live(self) -> None:
        for number, text in enumerate(TEXTS):
            source = {"uri": f"doc://{number}", "kind": "document", "observed_at": "2026-11-30T09:00:00Z"}
            body = {"project": "alpha", "text": text, "source": source}
            self.kinds["evidence_id"] = self.call("POST", "/evidence", body, expect=201)["id"]
        yes = {"subject": "user-1", "granted": True, "text_version": "1"}
        self.call("PUT", "/consents/personalisation", yes, who=self.user)
        opened = {"project": "alpha", "external_ref": "run-1", "objective": "answer", "requirements": []}
        run = self.kinds["execution_id"] = self.call("POST", "/executions", opened, expect=201)["id"]
        turn = self.call(
            "POST",
            f"/executions/{run}/turns",
            {"role": "user", "text": "Please keep it short.", "pin": {"kind": "constraint"}},
            expect=201,
        )
        proposal = self.world.proposal(turn["id"])
        kept = self.call("POST", "/memory-proposals", proposal, expect=201)
        self.kinds["proposal_id"] = kept["id"]
        self.kinds["memory_id"] = kept["memory"]["id"]
        self.kinds["package_id"] = self.package()["id"]

    def package(self) -> Any:
        asked = {
            "project": "alpha",
            "execution_id": self.kinds["execution_id"],
            "purpose": "personalisation",
            "query": "status of plot 18",
            "encoding": "o200k_base",
            "max_tokens": 4_000,
            "reply_reserve": 0,
            "profile": "default",
            "render": "markdown",
        }
        return self.call("POST", "/context-packages", asked, expect=201)

    def scores(self) -> list[Any]:
        asked = {"project": "alpha", "query": "plot 18 consent", "limit": 10}
        evidence = self.call("POST", "/evidence/search", asked)["items"]
        asked = {"query": "short replies", "purpose": "personalisation", "limit": 10}
        memories = self.call("POST", "/memories/search", asked)["items"]
        found = [(item["text"], item["scores"]) for item in evidence]
        return [*found, *((item["memory"]["text"], item["scores"]) for item in memories)]


def test_scores_and_counts_are_those_of_a_tenant_alone(world: MemoryWorld) -> None:
    first = Tenant(world, "acme")
    first.live()
    alone = first.scores()
    assert len(alone) == len(TEXTS) + 1

    second = Tenant(world, "other")
    second.live()

    assert first.scores() == alone
    assert second.scores() == alone
    assert not first.ids & second.ids


def test_no_list_search_or_package_shows_an_id_of_the_other(world: MemoryWorld) -> None:
    first, second = Tenant(world, "acme"), Tenant(world, "other")
    first.live()
    second.live()

    shown = ""
    for path in ("/executions", "/memories", "/memory-proposals"):
        shown += json.dumps(first.call("GET", path))
    shown += json.dumps(first.package()) + json.dumps(first.scores())

    assert set(UUID.findall(shown)) & second.ids == set()
    assert (
        first.call("GET", "/executions?external_ref=run-1")["items"][0]["id"] == first.kinds["execution_id"]
    )


def test_every_call_answers_a_foreign_id_like_one_that_never_existed(world: MemoryWorld) -> None:
    first, second = Tenant(world, "acme"), Tenant(world, "other")
    first.live()
    second.live()
    document = world.site.client.get("/v1/openapi.json", headers=first.agent).json()
    tried = 0
    for path, methods in document["paths"].items():
        name = next(iter(re.findall(r"\{(\w+)\}", path)), None)
        if name not in second.kinds:
            continue
        for method in METHODS & methods.keys():
            for who in (first.agent, first.user, first.reviewer):
                foreign = _ask(world, method, methods[method], path, second.kinds[name], who)
                invented = _ask(world, method, methods[method], path, new_id(), who)
                assert foreign == invented, f"{method} {path}"
                assert foreign[0] in (403, 404, 422), f"{method} {path} answered {foreign[0]}"
                tried += 1

    assert tried > 60
    assert second.scores() == first.scores()


def _ask(  # noqa: PLR0917 - one line for each thing that may differ
    world: MemoryWorld, method: str, operation: dict[str, Any], path: str, item_id: str, who: dict[str, str]
) -> tuple[int, Any]:
    content = operation.get("requestBody", {}).get("content", {})
    media_type = next(iter(content), None)
    example = None if media_type is None else content[media_type].get("example")
    if example is None and media_type is not None:
        example = next(iter(content[media_type].get("examples", {"none": {}}).values())).get("value")
    address = re.sub(r"\{\w+\}", item_id, path, count=1)
    address = re.sub(r"\{\w+\}", "anything", address)
    headers = {**who, "If-Match": '"1"', "X-Request-ID": "same"}
    answer = world.site.client.request(method.upper(), address, headers=headers, json=example)
    body = json.loads(answer.text) if answer.text else None
    kept = {key: value for key, value in answer.headers.items() if key not in ("date", "content-length")}
    return answer.status_code, (body, kept)
