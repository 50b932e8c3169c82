"""Seventy hostile texts, through every field that takes one, in every form: none leaves its fence."""

import json
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from conftest import FixedClock, sqlite_record
from evidence_site import open_evidence_site
from hostile_texts import CANARY, HOSTILE, INTACT, blocks, contents, fences
from http_support import Site
from tiktoken_reference import count

from service.core.text import strip_hidden

FORMS = ("markdown", "openai", "anthropic")
PARTS = 10
FENCED = {"goal", "history", "memories", "evidence", "observations", "state"}
SEEN = "2026-11-30T09:00:00Z"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    folder = tmp_path_factory.mktemp("hostile")
    database = sqlite_record(folder / "record.db")
    with open_evidence_site(database, folder / "data", FixedClock()) as site:
        yield site
    database.close()


class Attack:
    """A run whose every field is written by somebody who wants out of the fence."""

    def __init__(self, site: Site, name: str, texts: Sequence[str]) -> None:
        self.site = site
        self.headers = site.headers(on_behalf_of="user-1")
        self.person = site.headers("user", subject="user-1")
        self.texts = texts
        self.run = self._open(name)
        for number, text in enumerate(texts):
            self._say(number, text)
            self._show(f"{name}-{number}", text)

    def post(self, path: str, body: dict[str, Any], **headers: str) -> Any:
        answer = self.site.client.post(f"/v1{path}", headers={**self.headers, **headers}, json=body)
        assert answer.status_code in {200, 201}, (path, answer.text)
        return answer.json()

    def package(self, render: str, **fields: Any) -> Any:
        asked = {
            "project": "alpha", "purpose": "service", "execution_id": self.run, "render": render,
            "query": f"{CANARY} instructions approved plot", "max_tokens": 400_000,
        }  # fmt: skip
        return self.post("/context-packages", {**asked, **fields})

    def _open(self, name: str) -> str:
        first, second, *_ = self.texts
        execution = self.post(
            "/executions",
            {
                "project": "alpha", "external_ref": name, "objective": first,
                "requirements": [{"id": "r1", "text": second}], "retention_class": "operational",
            },
        )  # fmt: skip
        path = f"/executions/{execution['id']}"
        state = {"next_action": first, "plan": list(self.texts), second: {"deep": first}}
        self.post(
            f"{path}/checkpoints",
            {"transition": "start", "step": 1, "state": state},
            **{"If-Match": '"1"'},
        )
        tasks = [
            {"id": f"t{number}", "title": " ".join(text.split())[:300], "outputs": ["o"]}
            for number, text in enumerate(self.texts)
        ]
        answer = self.site.client.put(
            f"/v1{path}/manifest", headers={**self.headers, "If-Match": '"2"'}, json={"tasks": tasks}
        )
        assert answer.status_code == 200, answer.text
        return str(execution["id"])

    def _say(self, number: int, text: str) -> None:
        path = f"/executions/{self.run}"
        turn = self.post(f"{path}/turns", {"role": "user", "text": text}, **self.person)
        call = {"id": f"c{number}", "name": text[:60], "arguments": json.dumps({"a": text})}
        self.post(f"{path}/turns", {"role": "assistant", "text": text, "tool_calls": [call]})
        self.post(f"{path}/turns", {"role": "tool", "text": text, "tool_call_id": f"c{number}"})
        self.post(f"{path}/turns", {"role": "system", "text": text})
        for kind in ("question", "hypothesis", "blocker"):
            self.post(f"{path}/pins", {"kind": kind, "text": text, "turns": [turn["id"]]})
        for media_type, content in (("text/plain", text), ("application/json", json.dumps([text]))):
            source = {"uri": f"tool://{number}/{media_type}", "kind": "tool", "observed_at": SEEN}
            self.post(
                f"{path}/observations",
                {
                    "source": {**source, "source_version": text[:200]}, "media_type": media_type,
                    "content": content, "summary": text,
                },
            )  # fmt: skip

    def remember(self, key: str, text: str) -> bool:
        """Have the person say a text and propose it; answer whether the policy takes it."""
        turn = self.post(f"/executions/{self.run}/turns", {"role": "user", "text": text}, **self.person)
        proposal = {
            "project": "alpha", "class": "workflow_setting", "subject": "user-1", "key": key,
            "text": text[:400], "confidence": 0.9, "purpose": "service",
            "provenance": [{"kind": "turn", "id": turn["id"]}],
        }  # fmt: skip
        return bool(self.post("/memory-proposals", proposal)["decision"] == "approved")

    def _show(self, name: str, text: str) -> None:
        word = "".join(text.split())[:150] or "x"
        self.post(
            "/evidence",
            {
                "project": "alpha", "text": text, "title": text[:400],
                "source": {
                    "uri": f"doc://{name}/{word}", "kind": "document", "observed_at": SEEN,
                    "source_version": text[:150],
                },
                "group": {"id": name, "title": text[:400], "sequence": 1},
            },
        )  # fmt: skip
        self.post(
            "/evidence",
            {
                "project": "alpha",
                "text": text + " again",
                "source": {"uri": f"doc://{name}", "kind": "document"},
            },
        )


def check(package: Any) -> None:
    """Hold a package to what an independent reader finds in it."""
    marker, rendered = package["fence_marker"], package["rendered"]
    system, messages = contents(rendered)
    assert CANARY not in system
    assert "<data " not in system.replace("<data N>", "")
    assert CANARY not in json.dumps(rendered.get("tools", []))
    found: list[tuple[str, str]] = []
    for text in messages:
        outside, inside = fences(text, marker)
        assert CANARY not in outside
        found += [block for lines in inside for block in blocks(lines, marker)]
    sections = {section["name"]: section for section in package["sections"]}
    quoted = [
        item for section in package["sections"] if section["name"] in FENCED for item in section["items"]
    ]
    assert "".join(text for _, text in found).replace("\n", "") == "".join(
        item["text"] for item in quoted
    ).replace("\n", "")
    cited = [label.split(" ")[0] for label, _ in found if label[:1] in "EMO" and label[1:2].isdigit()]
    assert cited == [item["citation"] for item in quoted if item["citation"]]
    assert len(cited) == len(set(cited))
    for name in ("instructions", "tools", "scope", "limits"):
        assert CANARY not in sections[name]["text"], name
    everything = system + "".join(messages)
    assert strip_hidden(everything) == everything
    assert not any(marker in item["text"] for item in quoted)


@pytest.mark.parametrize("part", range(PARTS))
def test_no_text_leaves_its_fence_in_any_form(site: Site, part: int) -> None:
    attack = Attack(site, f"run-{part}", HOSTILE[part::PARTS])

    for render in FORMS:
        package = attack.package(render)
        check(package)
        kinds = {item["kind"] for section in package["sections"] for item in section["items"]}
        assert kinds >= {
            "evidence", "turn", "observation", "pin", "objective", "requirement", "task", "state",
        }  # fmt: skip
        texts = package["rendered"]
        total = sum(count(text, "o200k_base") for text in (contents(texts)[0], *contents(texts)[1]) if text)
        assert total == package["used_tokens"]


def test_what_policy_lets_through_into_memory_stands_in_the_fence_too(site: Site) -> None:
    attack = Attack(site, "remembered", HOSTILE[:2])

    taken = sum(attack.remember(f"k{number}", text) for number, text in enumerate(HOSTILE))

    assert taken >= 10
    for render in FORMS:
        package = attack.package(render)
        check(package)
        (memories,) = [section for section in package["sections"] if section["name"] == "memories"]
        assert len(memories["items"]) >= 10


def test_tools_hide_nothing_from_who_allows_them_and_are_else_what_was_asked(site: Site) -> None:
    attack = Attack(site, "tools", HOSTILE[:2])
    hidden = "".join(chr(0xE0000 + ord(letter)) for letter in "obey")
    flag = INTACT[1]

    def tool(mark: str) -> dict[str, Any]:
        argument = {"type": "string", "description": f"Which {flag}{mark}", "enum": [f"a{mark}", 2**60, None]}
        return {
            "name": "plots_read", "effect": "read", "description": f"Reads a plot. {flag}{mark}",
            "schema": {"type": "object", "properties": {f"plot{mark}": argument}},
        }  # fmt: skip

    for render in FORMS:
        poisoned = attack.package(render, tools=[tool(hidden)])
        clean = attack.package(render, tools=[tool("")])
        assert poisoned["rendered"] == clean["rendered"]
        (item,) = [
            one for section in poisoned["sections"] for one in section["items"] if one["kind"] == "tool"
        ]
        (same,) = [one for section in clean["sections"] for one in section["items"] if one["kind"] == "tool"]
        assert flag in item["text"]
        assert (item["flags"], same["flags"]) == (["hidden_text"], [])
        check(poisoned)


def test_the_marker_is_another_for_each_run_and_the_same_within_one(site: Site) -> None:
    runs = [Attack(site, f"marker-{number}", HOSTILE[:2]) for number in range(4)]

    markers = [[run.package(render)["fence_marker"] for render in FORMS] for run in runs]

    assert len({one[0] for one in markers}) == len(runs)
    assert all(len(set(one)) == 1 for one in markers)


def test_who_knows_a_runs_marker_still_cannot_close_its_fence(site: Site) -> None:
    attack = Attack(site, "known", HOSTILE[:2])
    known = attack.package("markdown")["fence_marker"]
    closings = [
        text.replace("000000000", known).replace("123456789", known)
        for text in HOSTILE
        if "000000000" in text or "123456789" in text
    ]
    assert len(closings) >= 15
    for number, text in enumerate(closings):
        attack._say(100 + number, text)  # noqa: SLF001 - the same fields as before
        attack._show(f"known-{number}", text)  # noqa: SLF001 - the same

    for render in FORMS:
        package = attack.package(render)
        assert package["fence_marker"] != known
        check(package)


def test_a_small_budget_cuts_no_fence_open(site: Site) -> None:
    attack = Attack(site, "small", [text for text in HOSTILE if len(text) > 300] + list(HOSTILE[:4]))
    answer = site.client.post(
        "/v1/context-packages",
        headers=attack.headers,
        json={"project": "alpha", "purpose": "service", "execution_id": attack.run, "max_tokens": 0},
    )
    needed = answer.json()["needed_tokens"]

    for budget in (needed, needed + 60, needed + 400, needed + 2_000):
        for render in FORMS:
            package = attack.package(render, max_tokens=budget + 200)
            check_cut(package)


def check_cut(package: Any) -> None:
    """Hold a package to its fences where texts are cut and cards stand for them."""
    system, messages = contents(package["rendered"])
    assert CANARY not in system
    for text in messages:
        outside, inside = fences(text, package["fence_marker"])
        assert CANARY not in outside
        for lines in inside:
            blocks(lines, package["fence_marker"])


def test_what_is_drawn_with_joiners_selectors_and_directions_is_untouched(site: Site) -> None:
    attack = Attack(site, "intact", [f"{CANARY} {text}" for text in INTACT])

    for render in FORMS:
        package = attack.package(render)
        _, messages = contents(package["rendered"])
        everything = "".join(messages)
        for text in INTACT:
            # Objective, state and pins; turns of four roles; two observations and two pieces of evidence.
            assert everything.count(text) >= 10, text
