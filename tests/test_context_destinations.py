"""A memory goes only to the models that its class names, with the words that its class shows beside it."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import FixedClock
from memories_world import MemoryWorld, memory_world

from service.core.database import Database
from service.policies import active

NOTE = "Ask the person before it counts"


@pytest.fixture
def world(
    database: Database, tmp_path: Path, clock: FixedClock, monkeypatch: pytest.MonkeyPatch
) -> Iterator[MemoryWorld]:
    load = active.load_bundle

    def strict(files: Any) -> Any:
        bundle = load(files)
        changes = {"models": ("gpt-4*",), "revalidation_note": NOTE, "advisory_label": "hearsay"}
        changed = bundle.classes["preference"].model_copy(update=changes)
        return bundle.model_copy(update={"classes": {**bundle.classes, "preference": changed}})

    monkeypatch.setattr(active, "_parsed", active.ParsedBundles())
    monkeypatch.setattr(active, "load_bundle", strict)
    with memory_world(database, tmp_path, clock) as world:
        world.consent()
        world.propose(world.turn())
        yield world


def package(world: MemoryWorld, **changes: Any) -> Any:
    body = {
        "project": "alpha",
        "purpose": "personalisation",
        "query": "how should replies be written?",
        "max_tokens": 2_000,
        "render": "markdown",
        **changes,
    }
    return world.call("POST", "/context-packages", world.agent, body, expect=201)


def test_a_model_that_the_class_names_gets_it_with_its_label_and_note(world: MemoryWorld) -> None:
    text = package(world, model="gpt-4o")["rendered"]["text"]

    assert "Prefers concise explanations" in text
    assert NOTE in text
    assert "hearsay" in text


@pytest.mark.parametrize("receiver", [{"model": "gpt-3.5-turbo"}, {"encoding": "o200k_base"}])
def test_another_model_or_one_that_is_not_named_gets_none(
    world: MemoryWorld, receiver: dict[str, str]
) -> None:
    answer = package(world, **receiver)

    assert "Prefers concise explanations" not in answer["rendered"]["text"]
    assert [one["reason"] for one in answer["omissions"] if one["kind"] == "memory"] == ["purpose"]
