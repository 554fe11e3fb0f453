"""Several processes: readers beside a writer, and writers that are killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from wikimem.index.index import Index, Missing
from wikimem.model.page import FileStat, Page

Opener = Callable[..., Index]
Putter = Callable[..., tuple[int, int]]
Maker = Callable[[str, str], tuple[Page, FileStat]]

STAMP = "stamp-of-this-user"
WRITER = """
import sys
from pathlib import Path
from wikimem.index.index import Index
from wikimem.model.page import FileStat
from wikimem.text.page import parse_page

index = Index.open(Path(sys.argv[1]), stamp=sys.argv[2], model=None)
print("open", flush=True)
for turn in range(int(sys.argv[3])):
    pages = []
    for number in range(4):
        filler = "filler " * (turn % 7)
        text = f"# Steady {number}\\n\\nsteady words of turn{turn} {filler}[[p{(number + 1) % 4}]]"
        data = text.encode()
        pages.append((parse_page(f"p{number}.md", data), FileStat(len(data), turn, number)))
    index.update(pages, (), mask=str)
    print(turn, flush=True)
"""


def start_writer(folder: Path, turns: int) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-W", "error", "-c", WRITER, str(folder), STAMP, str(turns)]
    writer = subprocess.Popen(command, stdout=subprocess.PIPE)
    assert writer.stdout is not None
    assert writer.stdout.readline() == b"open\n"
    return writer


def test_a_reader_beside_a_writer_always_has_an_answer(open_index: Opener, put: Putter, tmp_path: Path) -> None:
    put(open_index(), {f"p{number}.md": f"# Steady {number}\n\nsteady words" for number in range(4)})
    writer = start_writer(tmp_path / "index", 60)
    reader = open_index()
    searches = 0
    try:
        while writer.poll() is None or searches < 20:
            found = [passage for passage, _ in reader.words.search(["steadi"], 50, None)]
            known = reader.passages(found)
            pages = reader.pages_by_number({row.page for row in known.values()})
            assert {row.path for row in pages.values()} == {f"p{number}.md" for number in range(4)}
            vectors = reader.vectors
            assert not isinstance(vectors, Missing)
            assert all(-1.001 <= score <= 1.001 for _, score in vectors.search("steady words", 10, None))
            assert len(reader.links.walk(dict.fromkeys(pages, 1.0), 1, None)) == 4
            searches += 1
    finally:
        assert writer.wait(60) == 0
        writer.stdout.close()  # type: ignore[union-attr]
    assert searches >= 20
    assert {row.revision for row in reader.list_pages()} == {revision for _, revision in reader.manifest().values()}
    assert [passage for passage, _ in reader.words.search(["turn59"], 50, None)]
    assert reader.words.search(["turn58"], 50, None) == []


@pytest.mark.parametrize("wait_s", [0.0, 0.02, 0.05, 0.11, 0.23])
def test_a_killed_writer_leaves_what_the_next_one_repairs(
    open_index: Opener, make_page: Maker, tmp_path: Path, wait_s: float
) -> None:
    writer = start_writer(tmp_path / "index", 10_000)
    assert writer.stdout is not None
    assert writer.stdout.readline() == b"0\n"
    time.sleep(wait_s)
    os.kill(writer.pid, signal.SIGKILL)
    writer.wait(30)
    writer.stdout.close()
    index = open_index()
    vectors = index.vectors
    assert not isinstance(vectors, Missing)
    with index.writing(1.0) as held:
        assert held, "the lock died with its owner"
        known = {passage.id for row in index.list_pages() for passage in index.page_passages(row.number)}
        assert index.words.ids() <= known
        assert vectors.ids() <= known
        pages = [make_page(f"p{number}.md", f"# New {number}\n\nafter the crash") for number in range(4)]
        index.update(pages, (), mask=str)
    assert index.stale == frozenset()
    known = {passage.id for row in index.list_pages() for passage in index.page_passages(row.number)}
    assert index.words.ids() == vectors.ids() == known
    assert len(index.words.search(["crash"], 50, None)) == 4
    assert index.words.search(["steadi"], 50, None) == []


@pytest.mark.parametrize("step", ["_write_words", "_write_vectors", "_conclude"])
def test_an_update_that_fails_at_any_step_is_made_good(
    open_index: Opener, put: Putter, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    """And the page goes back to what it was, so that its file does not tell that anything is missing."""
    before, after = {"a.md": "old words", "b.md": "other"}, {"a.md": "new words"}
    index = open_index()
    put(index, before)
    expected = (index.words.ids(), index.manifest())

    def fail(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as broken:
        broken.setattr(f"wikimem.index.update.{step}", fail)
        with pytest.raises(KeyboardInterrupt):
            put(index, after)
    index.close()
    again = open_index()
    assert again.stale <= {"a.md"}
    if again.stale:
        put(again, before)
    assert (again.words.ids(), again.manifest()) == expected
    assert again.vectors.ids() == expected[0]  # type: ignore[union-attr]
    assert again.words.search(["old"], 5, None)
    assert again.words.search(["new"], 5, None) == []
