"""A large tool result goes to evidence; its package shows how it begins and ends, and where to read on."""

import csv
import io
import json
from collections.abc import Iterator
from typing import Any, Final

import pytest
import regex
from conftest import FixedClock, sqlite_record
from evidence_site import delegated, open_evidence_site
from http_support import Site
from tiktoken_reference import count

from service.context.model import Shape
from service.context.preview import HEAD_CHARACTERS, TAIL_CHARACTERS, preview

ROWS: Final = [{"plot": number, "state": "granted" if number % 7 else "refused"} for number in range(2_000)]
TABLE: Final = "plot,note\n" + "".join(f'{number},"a ""note"",\nof two lines"\n' for number in range(2_000))
LOG: Final = (
    "called build --all\n"
    + "".join(f"step {number} of 4000 done\n" for number in range(4_000))
    + ("Traceback (most recent call last):\nFileNotFoundError: seeds.csv")
)
LARGE: Final = {
    "application/json": json.dumps({"count": 2_000, "rows": ROWS, "next": None}),
    "text/csv": TABLE,
    "text/plain": LOG,
    "text/markdown": "# Survey\n\n" + "".join(f"- point {number} \U0001f33e\n" for number in range(3_000)),
    "text/html": "<p>" + "word " * 9_000 + "</p>",
}


@pytest.fixture
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    folder = tmp_path_factory.mktemp("previews")
    database = sqlite_record(folder / "record.db")
    with open_evidence_site(database, folder / "data", FixedClock()) as site:
        yield site
    database.close()


class Run:
    """A run of an agent that sees large things."""

    def __init__(self, site: Site) -> None:
        self.site, self.headers = site, delegated(site)
        body = {"project": "alpha", "external_ref": "large", "objective": "Read", "requirements": []}
        self.id = self.post("/executions", body)["id"]

    def post(self, path: str, body: Any) -> Any:
        answer = self.site.client.post(f"/v1{path}", headers=self.headers, json=body)
        assert answer.status_code in {200, 201}, answer.text
        return answer.json()

    def get(self, path: str) -> Any:
        return self.site.client.get(f"/v1{path}", headers=self.headers)

    def see(self, content: str, media_type: str = "text/plain", uri: str = "tool://x", **fields: Any) -> Any:
        source = {"uri": uri, "kind": "tool", "observed_at": "2026-11-30T09:00:00Z"}
        body = {"source": source, "media_type": media_type, "content": content, **fields}
        return self.post(f"/executions/{self.id}/observations", body)

    def shown(self, max_tokens: int = 8_000) -> Any:
        package = self.post(
            "/context-packages",
            {
                "project": "alpha", "purpose": "service", "execution_id": self.id, "query": "?",
                "max_tokens": max_tokens,
            },
        )  # fmt: skip
        assert count(package["rendered"]["text"], "o200k_base") == package["used_tokens"]
        (section,) = [one for one in package["sections"] if one["name"] == "observations"]
        return section


@pytest.fixture
def run(site: Site) -> Run:
    return Run(site)


@pytest.mark.parametrize("media_type", LARGE)
def test_a_preview_is_valid_short_and_says_where_the_whole_is(run: Run, media_type: str) -> None:
    seen = run.see(LARGE[media_type], media_type)

    section = run.shown()

    (item,) = section["items"]
    head = f"whole ({seen['tokens']} tokens): evidence:{seen['evidence_id']}"
    assert head in section["text"]
    assert 40 < count(item["text"], "o200k_base") <= 210
    assert (item["id"], item["sha256"], item["card"]) == (seen["id"], seen["sha256"], False)
    if media_type != "text/plain":
        assert media_type == "application/json" or LARGE[media_type].startswith(item["text"])


def test_of_json_whole_elements_are_shown_and_it_stays_json(run: Run) -> None:
    run.see(LARGE["application/json"], "application/json")

    (item,) = run.shown()["items"]

    read = json.loads(item["text"])
    assert read["count"] == 2_000
    assert read["rows"][:-1] == ROWS[: len(read["rows"]) - 1]
    assert read["rows"][-1].items() <= ROWS[len(read["rows"]) - 1].items()
    assert len(read["rows"]) >= 5


def test_of_a_table_the_header_and_whole_rows_are_shown(run: Run) -> None:
    run.see(TABLE, "text/csv")

    (item,) = run.shown()["items"]

    rows = list(csv.reader(io.StringIO(item["text"])))
    assert rows[0] == ["plot", "note"]
    assert all(row == [str(number), 'a "note",\nof two lines'] for number, row in enumerate(rows[1:]))
    assert len(rows) >= 5


def test_of_a_log_the_call_and_the_error_at_its_end_are_shown(run: Run) -> None:
    run.see(LOG)

    section = run.shown()

    (item,) = section["items"]
    assert item["text"].startswith("called build --all\nstep 0 of 4000 done")
    assert item["text"].endswith("FileNotFoundError: seeds.csv")
    assert "[O1 beginning " in section["text"]
    assert "[O1 end " in section["text"]
    assert "..." not in item["text"]


def test_the_rest_is_read_by_span_and_found_by_grep(run: Run) -> None:
    text = "\U0001f33e seed row\n" * 4_000 + "needle\u0301 in it\n" + "hay\n" * 4_000
    seen = run.see(text)
    path = f"/evidence/{seen['evidence_id']}"

    (match,) = run.post(f"{path}/grep", {"pattern": "needle\u0301", "context": 10})["matches"]
    span = match["span"]
    read = run.get(f"{path}/text?start={span['start']}&end={span['end']}").json()
    assert read["text"] == "needle\u0301" == text[span["start"] : span["end"]]
    assert match["text"] == text[match["text_start"] : match["text_start"] + len(match["text"])]

    whole, start = "", 0
    while start < read["characters"]:
        part = run.get(f"{path}/text?start={start}").json()
        whole, start = whole + part["text"], part["end"]
    assert whole == text
    many = run.post(f"{path}/grep", {"pattern": "seed row", "limit": 200})
    assert (len(many["matches"]), many["more"]) == (200, True)
    assert run.post(f"{path}/grep", {"pattern": "s.*w"})["matches"] == []


def test_a_summary_that_the_agent_wrote_stands_in_place_of_a_preview(run: Run) -> None:
    run.see(LOG, summary="The build failed: seeds.csv is missing.")

    (item,) = run.shown()["items"]

    assert item["text"] == "The build failed: seeds.csv is missing."


def test_what_was_deleted_or_put_aside_is_not_shown_by_its_preview(run: Run, site: Site) -> None:
    seen = run.see(LOG)
    other = run.see(LOG.replace("seeds", "bulbs"), uri="tool://y")
    reviewer = site.headers("reviewer", subject="reviewer-1")
    aside = {"source": f"evidence:{other['evidence_id']}", "reason": "planted"}
    assert site.client.post("/v1/quarantines", headers=reviewer, json=aside).status_code == 201
    deleted = site.client.delete(f"/v1/evidence/{seen['evidence_id']}", headers=run.headers)
    assert deleted.status_code == 200, deleted.text

    section = run.shown()

    assert "seeds.csv" not in json.dumps(section)
    assert "bulbs.csv" not in json.dumps(section)
    assert [item["text"] for item in section["items"]] == [
        f"{seen['tokens']} tokens, which can no longer be read"
    ]


def test_only_the_newest_few_are_looked_into(run: Run) -> None:
    for number in range(10):
        run.see(f"result {number}\n" * 2_000, uri=f"tool://{number}")

    texts = [item["text"] for item in run.shown(60_000)["items"]]

    assert sum(text.startswith("result ") for text in texts) == 8
    assert sum("tokens, kept as evidence:" in text for text in texts) == 2
    assert any(text.startswith("result 9\n") for text in texts)


@pytest.mark.parametrize("shape", [shape for shape in Shape if shape is not Shape.WHOLE])
@pytest.mark.parametrize(
    "text",
    [
        "",
        "x" * 50_000,
        "\u8a08\u753b" * 20_000,
        "\U0001f468\u200d\U0001f469\u200d\U0001f467" * 9_000,
        "\n" * 40_000,
        "[" * 40_000,
        '{"a": "' + "x" * 40_000 + '"}',
        '"' * 9_001 + "\n" * 9,
    ],
)
def test_whatever_comes_is_cut_short_at_whole_characters_or_not_shown(shape: Shape, text: str) -> None:
    head, tail = text[:HEAD_CHARACTERS], text[HEAD_CHARACTERS:][-TAIL_CHARACTERS:]

    parts = preview(head, tail, shape=shape, count=lambda part: count(part, "o200k_base"))

    for part in parts:
        assert count(part.text, "o200k_base") <= 200
        if shape is Shape.JSON:
            json.loads(part.text)
        elif part.label == "beginning":
            ends = {match.end() for match in regex.finditer(r"\X", text[:HEAD_CHARACTERS])}
            assert text.startswith(part.text)
            assert len(part.text) in ends
