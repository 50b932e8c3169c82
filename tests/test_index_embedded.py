"""Guards of the embedded engine alone: one process, tidy starts, nothing legible on disk, many threads."""

import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import qdrant_edge as edge
from index_engines import EMBEDDER, ENCODER, dense, items, point, sparse, where

from service.adapters import qdrant_edge as adapter
from service.adapters.qdrant_edge import EdgeIndex, IndexInUse
from service.adapters.qdrant_index import IndexUnavailable
from service.retrieval.model import ItemKind

SECOND_PROCESS = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[2])
from tiny_models import TinyEmbedder, TinyEncoder
from service.adapters.qdrant_edge import EdgeIndex, IndexInUse
try:
    EdgeIndex(Path(sys.argv[1]), embedder=TinyEmbedder(), sparse=TinyEncoder())
except IndexInUse as error:
    print(error.code, error.detail)
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "index"


@pytest.fixture
def index(folder: Path) -> Iterator[EdgeIndex]:
    index = open_index(folder)
    yield index
    index.close()


def open_index(folder: Path) -> EdgeIndex:
    return EdgeIndex(folder, embedder=EMBEDDER, sparse=ENCODER)


def test_a_second_process_is_told_in_words_and_harms_nothing(index: EdgeIndex, folder: Path) -> None:
    index.upsert("acme", [point("a", "consent")])

    answer = subprocess.run(
        [sys.executable, "-c", SECOND_PROCESS, str(folder), str(Path(__file__).parent)],
        capture_output=True,
        text=True,
        check=True,
        cwd=Path(__file__).parent.parent,
    )

    assert answer.stdout.startswith("index_in_use Another process has the embedded index open.")
    assert "MUNIMENT_QDRANT_URL" in answer.stdout
    index.upsert("acme", [point("b", "consent")])
    assert items(dense(index, "consent", where())) == ["a", "b"]


def test_the_same_process_cannot_open_a_folder_twice_but_again_after_closing(
    index: EdgeIndex, folder: Path
) -> None:
    with pytest.raises(IndexInUse):
        open_index(folder)
    index.close()

    again = open_index(folder)

    assert again.count("acme") == 0
    again.close()


def test_a_refused_folder_is_given_free_again(folder: Path) -> None:
    broken = folder / open_name(folder)
    for file in (broken / "segments").rglob("*"):
        if file.is_file():
            file.write_bytes(b"broken")

    for _ in range(2):
        with pytest.raises(IndexUnavailable):
            open_index(folder)


def open_name(folder: Path) -> str:
    index = open_index(folder)
    index.upsert("acme", [point("a", "consent")])
    index.close()
    return index.collection


def test_points_without_vectors_are_removed_at_start(index: EdgeIndex, folder: Path) -> None:
    index.upsert("acme", [point("a", "consent")])
    collection = folder / index.collection
    index.close()
    shard = edge.EdgeShard.load(str(collection))
    payload = {"tenant": "acme", "kind": "evidence", "item": "ghost", "version": 1, "ordinal": 0}
    shard.update(edge.UpdateOperation.upsert_points([edge.Point(7, {}, payload)]))
    shard.flush()
    shard.close()

    again = open_index(folder)

    assert [key.item_id for key in again.list_keys("acme", ItemKind.EVIDENCE)] == ["a"]
    again.close()


def test_an_index_that_was_not_closed_says_so_until_it_is_confirmed(folder: Path) -> None:
    def reopen() -> bool:
        index = open_index(folder)
        index.close()
        return index.closed_cleanly

    assert (reopen(), reopen()) == (True, True)
    (folder / "unclean").touch()

    assert (reopen(), reopen()) == (False, False)
    index = open_index(folder)
    index.confirm_whole()
    index.close()
    assert reopen()


def test_no_text_is_found_on_disk(index: EdgeIndex, folder: Path) -> None:
    index.upsert("acme", [point("the-item", "canaryword outline consent")])
    assert items(sparse(index, "canaryword", where())) == ["the-item"]
    index.close()

    held = b"".join(file.read_bytes() for file in folder.rglob("*") if file.is_file())

    assert b"the-item" in held
    assert b"canaryword" not in held


def test_many_threads_write_and_search_at_once(index: EdgeIndex) -> None:
    def work(number: int) -> list[str]:
        tenant = f"tenant-{number % 3}"
        index.upsert(tenant, [point(f"i{number}", "consent", ordinal=number)])
        return items(dense(index, "consent", where(tenant), 100))

    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(work, range(60)))

    assert all(f"i{number}" in answer for number, answer in enumerate(answers))
    assert [index.count(f"tenant-{number}") for number in range(3)] == [20, 20, 20]


def test_a_large_embedded_index_is_called_large_at_start(
    index: EdgeIndex, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    index.upsert("acme", [point("a", "x"), point("b", "y")])
    index.close()
    monkeypatch.setattr(adapter, "EMBEDDED_POINTS_MAX", 1)

    open_index(folder).close()

    assert "embedded_index_large" in capsys.readouterr().out


def test_a_purge_leaves_no_bytes_of_what_was_removed_and_keeps_the_rest(
    index: EdgeIndex, folder: Path
) -> None:
    index.upsert("acme", [point(f"i{number}", "consent") for number in range(250)])
    index.upsert("acme", [point("01939b5f-removed-item", "consent granted")])
    index.delete_items("acme", ItemKind.EVIDENCE, ["01939b5f-removed-item"])
    before = [path for path in folder.rglob("*") if path.is_file() and _holds(path, b"removed-item")]

    index.purge()

    assert before
    assert [path for path in folder.rglob("*") if path.is_file() and _holds(path, b"removed-item")] == []
    assert index.count("acme") == 250
    index.upsert("acme", [point("later", "consent")])
    index.close()
    again = open_index(folder)
    assert again.count("acme") == 251
    again.close()


def test_what_is_written_and_removed_while_the_index_is_purged_is_so_afterwards(index: EdgeIndex) -> None:
    index.upsert("acme", [point(f"i{number}", "consent") for number in range(500)])

    with ThreadPoolExecutor(2) as pool:
        purging = pool.submit(index.purge)
        for number in range(100):
            index.delete_items("acme", ItemKind.EVIDENCE, [f"i{number}"])
            index.upsert("acme", [point(f"new{number}", "consent")])
        purging.result()

    names = {key.item_id for key in index.list_keys("acme", ItemKind.EVIDENCE)}
    assert names == {f"i{number}" for number in range(100, 500)} | {f"new{number}" for number in range(100)}


def test_a_switch_that_was_broken_off_is_undone_at_the_next_start(index: EdgeIndex, folder: Path) -> None:
    index.upsert("acme", [point("a", "consent")])
    index.close()
    kept = folder / index.collection
    kept.rename(kept.with_name(f"{kept.name}.old"))
    (folder / f"{kept.name}.beside").mkdir()

    again = open_index(folder)

    assert again.count("acme") == 1
    assert sorted(path.name for path in folder.iterdir() if path.is_dir()) == [kept.name]
    again.close()


def _holds(path: Path, words: bytes) -> bool:
    return words in path.read_bytes()
