"""Summaries that the service writes: what survives, what goes, and what is refused."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from compaction_world import Talk, open_talk, parts
from conftest import FixedClock

from service.core.database import Database
from service.core.hashing import hash_text
from service.executions.conversation.tables import SummaryRow, TurnRow

ARTIFACT = hash_text("build 17")


@pytest.fixture
def talk(database: Database, tmp_path: Path, clock: FixedClock) -> Iterator[Talk]:
    with open_talk(database, tmp_path, clock) as talk:
        yield talk


def test_a_summary_names_its_range_its_version_and_who_wrote_it(talk: Talk) -> None:
    for number in range(3):
        talk.say(f"Plot {number} is near the river.")

    first = talk.compact()
    talk.say("Plot 7 is on the hill.")
    second = talk.compact()

    named = [
        (one["version"], one["from_sequence"], one["to_sequence"], one["model"]) for one in (first, second)
    ]
    assert named == [(1, 1, 3, "builtin-extractive-1"), (2, 1, 4, "builtin-extractive-1")]
    assert (first["supersedes"], second["supersedes"]) == (None, first["id"])
    assert talk.site.count(TurnRow) == 4


def test_what_binds_survives_word_for_word_with_its_source(talk: Talk) -> None:
    constraint = talk.say("Keep every reply under 200 words.\nNo exceptions.", pin="constraint")
    talk.say("We take the northern route.", pin="decision")
    talk.say("Who signs the consent?", pin="question")
    talk.say("The cache may be cold.", "assistant", pin="hypothesis")
    talk.post("pins", {"kind": "blocker", "text": "The register is down.", "turns": []})
    settled = talk.post("pins", {"kind": "question", "text": "Which plot?", "turns": []})
    talk.site.client.patch(
        f"/v1/executions/{talk.run}/pins/{settled['id']}",
        headers=talk.headers,
        json={"resolved": True, "resolution": "18"},
    ).raise_for_status()

    surviving = parts(talk.compact()).surviving

    kinds = [line.partition(" ")[0].strip(",:") for line in surviving]
    assert kinds == ["objective", "constraint", "decision", "question", "hypothesis", "blocker"]
    assert surviving[1] == (
        f"constraint, relayed, turn 1 [pin:{constraint['pin_id']}]:"
        " Keep every reply under 200 words.\nNo exceptions."
    )


def test_a_failed_check_survives_with_all_that_it_says(talk: Talk) -> None:
    talk.open(requirements=[{"id": "login", "text": "Login works"}, {"id": "orders", "text": "Orders work"}])
    talk.say("Build it.")
    run = talk.site.client.get(f"/v1/executions/{talk.run}", headers=talk.headers).json()
    talk.post("candidates", {"artifact_hash": ARTIFACT})
    grader = Talk(talk.site, talk.site.headers("grader", subject="grader-1"), talk.run)
    check = {
        "artifact_hash": ARTIFACT,
        "contract_hash": run["contract_hash"],
        "grader": {"id": "browser", "version": "3"},
        "environment": {},
    }
    failed = grader.post(
        "checks",
        check
        | {"requirement": "login", "passed": False, "output_ref": "file:trace.zip", "expected": "a session"}
        | {"observed": "a 500", "reproduce": "log in", "failure_kind": "wrong_result"},
    )
    grader.post("checks", check | {"requirement": "orders", "passed": True})

    surviving = parts(talk.compact()).surviving

    said = "kind wrong_result; expected a session; observed a 500; reproduce log in"
    label = f"failed check of requirement login [check:{failed['id']}, file:trace.zip]"
    assert surviving[1:] == (f"{label}: {said}",)


def test_an_effect_of_unknown_outcome_survives(talk: Talk) -> None:
    talk.say("Order it.")
    talk.post("effects", {"operation_id": "order-8", "kind": "orders.create", "request": {}})
    talk.site.client.patch(
        f"/v1/executions/{talk.run}/effects/order-8", headers=talk.headers, json={"status": "dispatched"}
    ).raise_for_status()

    surviving = parts(talk.compact()).surviving

    assert surviving[1] == "effect of unknown outcome [effect:order-8]: orders.create (dispatched)"


def test_references_of_what_was_seen_survive_and_stale_payloads_go(talk: Talk) -> None:
    talk.say("What does the register say?")
    old = talk.see("The register says: refused in spring.")
    new = talk.see("The register says: granted in autumn.")
    large = talk.see("Survey point 17. " * 2_000, "tool://survey")

    summary = talk.compact()

    evidence = f"evidence:{large['evidence_id']}"
    assert list(parts(summary).references) == [
        f"observation:{old['id']}",
        f"observation:{new['id']}",
        evidence,
    ]
    assert summary["derived_from"] == list(parts(summary).references)
    said = "\n".join(parts(summary).said)
    assert "granted in autumn" in said
    assert "refused in spring" not in said
    assert "Survey point" not in said


def test_a_tool_turn_is_stale_when_the_same_was_asked_again(talk: Talk) -> None:
    for call, plot, answer in (
        ("a", 18, "outline consent"),
        ("b", 18, "full consent"),
        ("c", 19, "a meadow"),
    ):
        asked = {"name": "read_plot", "arguments": f'{{"plot": {plot}}}'}
        talk.say("", "assistant", tool_calls=[{"id": call, "type": "function", "function": asked}])
        talk.say(f"Plot {plot}: {answer}.", "tool", tool_call_id=call)

    said = parts(talk.compact()).said

    assert list(said) == [
        "turn 4 tool read_plot: Plot 18: full consent.",
        "turn 6 tool read_plot: Plot 19: a meadow.",
    ]


def test_pleasantries_go_and_claims_are_marked(talk: Talk) -> None:
    for text in ("Hello!", "Thank you very much.", "Plot 18 is 3.5 hectares."):
        talk.say(text)
    talk.say("I am happy to help! The consent was granted on 3 March.", "assistant")

    said = parts(talk.compact()).said

    assert list(said) == [
        "turn 3 user, relayed: Plot 18 is 3.5 hectares.",
        "turn 4 assistant, claim: The consent was granted on 3 March.",
    ]


def test_the_sentences_keep_to_their_budget(talk: Talk) -> None:
    for number in range(60):
        talk.say(f"Parcel number {number} belongs to owner {number * 7} since {1900 + number}.")

    small, large = (
        talk.compact(max_tokens=100),
        talk.compact(from_sequence=1, to_sequence=60, max_tokens=1_000),
    )

    count = talk.site.runtime.tokens.count
    for summary, most in ((small, 100), (large, 1_000)):
        tokens = count("".join(f"- {line}\n" for line in parts(summary).said))
        assert most / 2 < tokens <= most
    assert len(parts(small).said) < len(parts(large).said)


def test_a_summary_rests_on_what_the_request_adds(talk: Talk) -> None:
    talk.say("Plot 18 is near the river.")
    seen = talk.see("granted")

    kept = talk.compact(derived_from=[f"observation:{seen['id']}", "file:notes.md"])
    foreign = talk.compact(expect=404, from_sequence=1, to_sequence=1, derived_from=["evidence:nothing"])

    assert kept["derived_from"] == [f"observation:{seen['id']}", "file:notes.md"]
    assert foreign["errors"][0]["pointer"] == "/derived_from/0"


@pytest.mark.parametrize(
    ("fields", "status", "code"),
    [
        ({"from_sequence": 1}, 422, "invalid"),
        ({"from_sequence": 2, "to_sequence": 1}, 422, "invalid"),
        ({"from_sequence": 1, "to_sequence": 9}, 422, "invalid"),
        ({"max_tokens": 49}, 422, "invalid"),
        ({"max_tokens": 4_001}, 422, "invalid"),
        ({"supersedes": "01936d7e-0000-7000-8000-000000000000"}, 422, "summary_unknown"),
        ({"text": "They talked.", "from_sequence": 1, "to_sequence": 1}, 422, "invalid"),
        ({"text": "They talked.", "model": "m"}, 422, "invalid"),
        (
            {"text": "They talked.", "model": "m", "from_sequence": 1, "to_sequence": 1, "max_tokens": 90},
            422,
            "invalid",
        ),
    ],
)
def test_a_summary_that_means_nothing_is_refused_and_leaves_nothing(
    talk: Talk, fields: dict[str, object], status: int, code: str
) -> None:
    talk.say("Plot 18 is near the river.")

    assert talk.compact(expect=status, **fields)["code"] == code
    assert talk.site.count(SummaryRow) == 0


def test_nothing_new_is_no_summary(talk: Talk) -> None:
    assert talk.compact(expect=422)["code"] == "nothing_said"
    talk.say("Plot 18 is near the river.")
    talk.compact()

    assert talk.compact(expect=422)["code"] == "nothing_said"


def test_a_repeat_answers_the_first_summary(talk: Talk) -> None:
    talk.say("Plot 18 is near the river.")

    first, again = talk.compact(key="once"), talk.compact(key="once")
    talk.say("Plot 19 too.")
    third = talk.compact(key="once")

    assert first == again == third
    assert talk.site.count(SummaryRow) == 1
    assert talk.compact(expect=422, key="once", max_tokens=99)["code"] == "idempotency_key_reused"


def test_only_the_acting_user_has_summaries_written(talk: Talk) -> None:
    talk.say("Plot 18 is near the river.")
    colleague = Talk(talk.site, talk.site.headers("user", subject="user-2"), talk.run)
    outsider = Talk(talk.site, talk.site.headers("user", subject="user-3", projects=("beta",)), talk.run)

    assert colleague.compact(expect=403)["code"] == "acting_user_only"
    assert outsider.compact(expect=404)["code"] == "not_found"
    assert talk.site.count(SummaryRow) == 0
