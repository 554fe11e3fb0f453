"""An index in a temporary folder, and pages as they come from a vault."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from wikimem.index.index import Index
from wikimem.model.page import FileStat, Page
from wikimem.text.page import parse_page

Opener = Callable[..., Index]
Putter = Callable[..., tuple[int, int]]
STAMP = "stamp-of-this-user"


@pytest.fixture
def make_page() -> Callable[[str, str], tuple[Page, FileStat]]:
    """A parsed page with the stat that its file would have."""

    def make(path: str, text: str) -> tuple[Page, FileStat]:
        data = text.encode("utf-8", "surrogatepass")
        return parse_page(path, data), FileStat(len(data), 1_700_000_000_000_000_000 + len(data), 7)

    return make


@pytest.fixture
def open_index(tmp_path: Path) -> Iterator[Opener]:
    """Open an index in a folder of this test; all are closed at its end."""
    opened: list[Index] = []

    def open_one(name: str = "index", *, stamp: str = STAMP, model: Path | None = None) -> Index:
        opened.append(Index.open(tmp_path / name, stamp=stamp, model=model))
        return opened[-1]

    yield open_one
    for index in opened:
        index.close()


@pytest.fixture
def put(make_page: Callable[[str, str], tuple[Page, FileStat]]) -> Putter:
    """Bring pages (path -> text) into an index and take others out."""

    def put_pages(
        index: Index, pages: dict[str, str], removed: tuple[str, ...] = (), mask: Callable[[str], str] = str
    ) -> tuple[int, int]:
        return index.update([make_page(path, text) for path, text in pages.items()], removed, mask=mask)

    return put_pages


@pytest.fixture
def paths_found() -> Callable[[Index, str], list[str]]:
    """The pages that the words find for a question, best first, each once."""
    from wikimem.text.analysis import query_terms

    def find(index: Index, question: str) -> list[str]:
        hits = index.words.search(query_terms(question), 100, None)
        passages = index.passages([passage for passage, _ in hits])
        rows = index.pages_by_number({row.page for row in passages.values()})
        found = [rows[passages[passage].page].path for passage, _ in hits if passages[passage].page in rows]
        return list(dict.fromkeys(found))

    return find
