"""`muniment evaluate` against a running service: what it reports, what it leaves behind, its exit codes."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from conftest import FixedClock, sqlite_record
from evaluate_world import TOPICS
from evidence_site import body, open_evidence_site
from http_support import Site, listening
from sqlmodel import select

from service.client import Muniment
from service.context.tables import PackageRow
from service.entry.cli import main
from service.wire.packages import BuildPackage

EXPECTED = {
    "profile", "profile_version", "policy_version", "recall", "all_found", "refused", "tokens",
    "prefix_reuse", "cost", "cost_each", "seconds",
}  # fmt: skip


@dataclass
class Served:
    site: Site
    url: str
    token: str
    ids: list[str]


@pytest.fixture
def served(tmp_path: Path, clock: FixedClock) -> Iterator[Served]:
    database = sqlite_record(tmp_path / "record.db")
    with open_evidence_site(database, tmp_path / "data", clock) as site, listening(site) as url:
        token = site.token(subject="evaluation")
        texts = [
            body(f"The {topic} ledger: plot {number} was checked. " * 20, f"doc://{topic}/{number}")
            for topic in TOPICS
            for number in range(3)
        ]
        with Muniment(url, token) as client:
            kept = client.add_evidence_batch(json.dumps(text).encode() for text in texts)
        yield Served(site, url, token, kept.ids)
    database.close()


def questions(folder: Path, *more: Mapping[str, Any]) -> Path:
    own = [
        {"question": f"What does the {topic} ledger say of plot 1?", "expected": [f"doc://{topic}/1"]}
        for topic in TOPICS
    ]
    file = folder / "questions.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in [*own, *more]))
    return file


def evaluate(
    served: Served, file: Path, *arguments: str, capsys: pytest.CaptureFixture[str], token: str | None = None
) -> tuple[int, str, str]:
    capsys.readouterr()
    words = ["evaluate", str(file), "--url", served.url, "--token", token or served.token]
    code = main([*words, "--project", "alpha", *arguments])
    said = capsys.readouterr()
    # The service runs in this process and logs to the same output, a line for each request.
    out = [line for line in said.out.splitlines() if "request_id" not in line]
    return code, "\n".join(out), said.err


def report(
    served: Served, file: Path, *arguments: str, capsys: pytest.CaptureFixture[str]
) -> tuple[int, Any]:
    code, out, err = evaluate(served, file, *arguments, "--json", capsys=capsys)
    assert out, err
    return code, json.loads(out[out.index("{") :])


def kept(served: Served) -> Sequence[PackageRow]:
    with served.site.runtime.database.read(served.site.tenants["acme"]) as session:
        return session.exec(select(PackageRow)).all()


def test_profiles_stand_side_by_side_with_every_measure(
    served: Served, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    prices = ("--price", "2.50", "--cached-price", "0.25")
    profiles = ("--profile", "default", "--profile", "answer")

    code, found = report(served, questions(tmp_path), *profiles, *prices, capsys=capsys)

    assert code == 0
    assert [one["profile"] for one in found["profiles"]] == ["default", "answer"]
    for one in found["profiles"]:
        assert set(one) == EXPECTED
        assert one["recall"] == {"mean": 1.0, "low": 1.0, "high": 1.0, "questions": len(TOPICS)}
        assert 0 < one["prefix_reuse"]["mean"] < 1
        assert float(one["cost"]) < one["tokens"]["mean"] * len(TOPICS) * 2.5 / 1e6
    (differs,) = found["differences"]
    assert set(differs["measures"]) == {"recall", "tokens", "prefix_reuse", "cost", "seconds"}
    assert found["disagreements"] == []


def test_figures_are_those_of_the_packages_that_were_built(
    served: Served, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _, found = report(served, questions(tmp_path), capsys=capsys)

    with Muniment(served.url, served.token) as client:
        for answer in found["answers"]:
            one = answer["profiles"]["default"]
            explained = client.explain_package(one["package_id"])
            assert explained.used_tokens == one["tokens"]
            if one["reused_tokens"] is not None:
                # The scope and the empty sections after it are the same for one key; evidence never is.
                sections = {section.name: section.used_tokens for section in explained.sections}
                prefix = explained.stable_prefix_tokens + sections["scope"]
                assert one["reused_tokens"] == prefix


def test_sources_that_are_missing_say_why_and_profiles_disagree_by_number(
    served: Served, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    everything = [f"doc://{TOPICS[0]}/{number}" for number in range(3)]
    more = [
        {"id": "all", "question": f"{TOPICS[0]} ledger", "expected": everything},
        {"question": f"{TOPICS[0]} ledger", "expected": [served.ids[0], "doc://nowhere"]},
        {"question": "plot 1", "expected": [{"source": everything[1], "contains": "was refused"}]},
    ]
    budget = ("--max-tokens", "900", "--profile", "answer", "--profile", "handoff")

    code, found = report(served, questions(tmp_path, *more), *budget, capsys=capsys)

    by_number = {one["number"]: one["profiles"]["answer"] for one in found["answers"]}
    reasons = {one["reason"] for one in by_number[5]["missing"]}
    assert code == 0
    assert reasons <= {"over_budget", "card"}
    assert by_number[6]["missing"][-1] == {"source": "doc://nowhere", "reason": "not_found"}
    assert by_number[7]["recall"] == 0
    disagree = {one["number"]: one for one in found["disagreements"]}
    assert disagree
    for number, one in disagree.items():
        answers = found["answers"][number - 1]["profiles"]
        assert one["found"]["answer"] != one["found"]["handoff"]
        assert one["package_ids"] == {name: answer["package_id"] for name, answer in answers.items()}
    code, out, _ = evaluate(served, questions(tmp_path, *more), *budget, capsys=capsys)
    assert "questions for which profiles found different sources" in out
    assert "doc://nowhere" in out


def test_exit_codes_are_for_programs(
    served: Served, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = questions(tmp_path)
    (tmp_path / "hard").mkdir()
    hard = questions(tmp_path / "hard", {"question": "moon", "expected": ["doc://nowhere"]})

    def code(*arguments: str, file: Path = file, token: str | None = None) -> int:
        return evaluate(served, file, *arguments, capsys=capsys, token=token)[0]

    assert code("--min-recall", "1") == 0
    assert code("--min-recall", "0.9", file=hard) == 1
    assert code("--min-recall", "0.5", file=hard) == 0
    assert code("--max-tokens", "10") == 1
    assert code(token="mun_no_no") == 1
    assert code(token=served.site.token("reviewer", subject="reviewer-1")) == 1
    assert code("--url", "http://127.0.0.1:9") == 1
    assert code("--project", "beta") == 1
    assert code("--profile", "nothing") == 2
    assert code("--purpose", "nothing") == 2
    assert code("--price", "free") == 2
    assert code("--cached-price", "1") == 2
    assert code("--min-recall", "80") == 2
    assert code("--page", str(tmp_path / "no" / "such.html")) == 2
    assert code(file=tmp_path / "none.jsonl") == 2
    broken = tmp_path / "broken.jsonl"
    broken.write_text("{")
    assert evaluate(served, broken, capsys=capsys)[2].startswith(f"{broken}:1:1: error syntax")


def test_a_question_that_a_profile_cannot_answer_is_counted_against_it_and_named(
    served: Served, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, found = report(served, questions(tmp_path), "--max-tokens", "250", capsys=capsys)

    (one,) = found["profiles"]
    assert code == 1
    assert (one["refused"], one["recall"]["mean"], one["tokens"]) == (len(TOPICS), 0.0, None)
    assert found["answers"][0]["profiles"]["default"]["refused"] == "budget_too_small"
    assert not found["passed"]


def test_what_remains_is_a_manifest_for_each_package_without_a_word_of_the_questions(
    served: Served, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = len(kept(served))

    evaluate(served, questions(tmp_path), "--profile", "default", "--profile", "answer", capsys=capsys)

    rows = kept(served)[before:]
    assert len(rows) == 2 * len(TOPICS)
    assert {row.built_by for row in rows} == {"agent:evaluation"}
    assert "ledger" not in repr([row.manifest for row in rows])
    assert not any(b"ledger" in row.request for row in rows)


def test_the_client_builds_explains_replays_and_compares_packages(served: Served) -> None:
    wanted = BuildPackage(project="alpha", purpose="service", query="rainfall ledger", max_tokens=2_000)

    with Muniment(served.url, served.token) as client:
        package = client.build_package(wanted, idempotency_key="one")
        again = client.build_package(wanted, idempotency_key="one")
        other = client.build_package(wanted.model_copy(update={"max_tokens": 1_000}))
        assert package == again
        assert client.explain_package(package.id).digest == package.digest
        assert client.replay_package(package.id).identical
        assert not client.compare_packages(package.id, other.id).identical
