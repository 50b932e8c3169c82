"""The data map and the record of processing are read by those who answer for them, and by nobody else."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import FixedClock
from memories_world import POLICIES, MemoryWorld, memory_world

from service.core.database import Database
from service.governance.records_of_processing import in_words, records_of_processing
from service.policies.classes import Expiry
from service.policies.load import load_bundle
from service.policies.model import NO_BUNDLE
from service.policies.read_folder import read_folder

READERS = ("policy_author", "policy_admin", "auditor", "admin")
OTHERS = ("user", "reviewer", "grader", "operator")
PATHS = ("/data-map", "/records-of-processing")


@pytest.fixture
def world(database: Database, tmp_path: Path, clock: FixedClock) -> Iterator[MemoryWorld]:
    with memory_world(database, tmp_path / "data", clock) as world:
        yield world


def test_those_who_answer_for_it_read_both_and_others_neither(world: MemoryWorld) -> None:
    for path in PATHS:
        for role in READERS:
            world.call("GET", path, world.of(role, f"{role}-1"))
        for role in OTHERS:
            world.call("GET", path, world.of(role, f"{role}-1"), expect=403)
        world.call("GET", path, world.agent, expect=403)


def test_the_map_says_of_a_field_what_why_how_long_and_what_erases_it(world: MemoryWorld) -> None:
    items = world.call("GET", "/data-map", world.of("auditor", "auditor-1"))["items"]

    text = next(item for item in items if (item["table"], item["field"]) == ("memory_versions", "content"))
    assert text == {
        "store": "record",
        "table": "memory_versions",
        "field": "content",
        "what": "words, as ciphertext",
        "personal": "personal",
        "purpose": "by class",
        "lawful_basis": "by class",
        "retention_class": "memory_class",
        "kept": "until it expires, as its memory class says, or is deleted",
        "sealed_under": "subject",
        "erased_by": ["memories"],
    }


def test_the_record_of_processing_follows_the_active_policy(world: MemoryWorld) -> None:
    author = world.of("policy_author", "author-1")
    records = world.call("GET", "/records-of-processing", author)

    assert records["policy_version"] == world.call("GET", "/policies", author)["version"]
    contact = next(one for one in records["memory_classes"] if one["name"] == "contact_detail")
    assert contact["purposes"] == [
        {"name": "contact", "description": "Reaching you about work that you asked for."}
    ]
    assert (contact["lawful_basis"], contact["consent_needed"]) == ("consent", True)
    assert contact["retention"] == "180 days after last confirmation"
    assert contact["data"] == ["text of up to 300 characters", "email", "phone", "postal_address"]
    assert contact["recipients"] == ["the person whom it is about", "agent", "user"]
    refused = next(one for one in records["memory_classes"] if one["name"] == "business_fact")
    assert (refused["refuses"], refused["retention"]) == ("business_fact", "nothing is kept")
    kept = {one["name"]: one["retention"] for one in records["retention_classes"]}
    assert kept["short"] == "7 days after the end of the run"
    assert len(records["security_measures"]) >= 5


def test_every_class_of_a_policy_is_recorded_with_purpose_basis_and_end() -> None:
    bundle = load_bundle(read_folder(POLICIES))

    records = records_of_processing(bundle)

    assert [one.rule.name for one in records.memories] == list(bundle.classes)
    assert [one.name for one in records.runs] == list(bundle.retention)
    assert all(
        one.purposes and one.retention and one.approval for one in records.memories if not one.rule.refuses
    )


def test_a_policy_without_classes_allows_nothing_to_be_processed() -> None:
    records = records_of_processing(NO_BUNDLE)

    assert (records.memories, records.runs) == ([], [])


def test_an_expiry_is_said_as_a_person_would_say_it() -> None:
    one = Expiry(days=1)
    three = Expiry.model_validate(
        {"days": 30, "counted_from": "creation", "idle_days": 7, "last_day": "2027-01-31"}, strict=False
    )

    assert in_words(one) == "1 day after last confirmation"
    assert in_words(three) == (
        "whichever comes first: 30 days after creation, or 7 days after it was last used, or with 2027-01-31"
    )
