"""Bringing the index up to date from what a watcher saw, with a real watch on a real vault."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import wikimem.refresh
from tests.conftest import Home
from wikimem.errors import Locked, NotFound
from wikimem.operations import OPERATIONS
from wikimem.operations.processes import init
from wikimem.vault.feed import ChangeFeed
from wikimem.vault.hints import Hints
from wikimem.wiki import Caller, Wiki, open_wiki

SEARCH = next(operation for operation in OPERATIONS if operation.name == "search")


@pytest.fixture
def watched(home: Home, tmp_path: Path) -> Iterator[Wiki]:
    """A vault whose refreshes rest on a watch."""
    root = tmp_path / "vault"
    init(root, cwd=home.path)
    for number in range(5):
        (root / f"note {number}.md").write_text(f"the word zebra{number}\n")
    wiki = open_wiki(str(root), cwd=home.path, caller=Caller(cwd=home.path))
    feed = ChangeFeed(root, tmp_path / "cookies", ())
    wiki.hints = Hints(lambda: feed.caught_up(10.0))
    wiki.refresh()
    yield wiki
    feed.close()
    wiki.close()


def found(wiki: Wiki, word: str) -> list[str]:
    return [hit.path for hit in SEARCH.run(wiki, {"query": word, "streams": ["words"]}).hits]


def settle(wiki: Wiki) -> None:
    """Until the watch has nothing more to tell of what was done before."""
    while not wiki.refresh().partial:
        pass


def test_with_a_watch_only_what_changed_is_looked_at(watched: Wiki) -> None:
    settle(watched)
    (watched.root / "note 3.md").write_text("the word giraffe\n")
    refreshed = watched.refresh()
    assert (refreshed.partial, refreshed.indexed) == (True, 1)
    assert found(watched, "giraffe") == ["note 3.md"]
    assert found(watched, "zebra3") == []
    assert watched.refresh().partial


def test_with_a_watch_new_removed_and_ignored_pages_are_seen_at_once(watched: Wiki) -> None:
    settle(watched)
    root = watched.root
    (root / "new.md").write_text("the word okapi\n")
    assert found(watched, "okapi") == ["new.md"]
    (root / "note 1.md").unlink()
    assert found(watched, "zebra1") == []
    (root / ".gitignore").write_text((root / ".gitignore").read_text() + "note 2.md\n")
    assert found(watched, "zebra2") == []
    (root / "folder").mkdir()
    (root / "folder" / "inner.md").write_text("the word quokka\n")
    assert found(watched, "quokka") == ["folder/inner.md"]
    os.rename(root / "folder", root / "renamed")
    assert found(watched, "quokka") == ["renamed/inner.md"]


def test_what_could_not_be_brought_in_is_brought_in_by_the_next_refresh(watched: Wiki) -> None:
    settle(watched)
    (watched.root / "note 4.md").write_text("the word axolotl\n")
    other = open_wiki(str(watched.root), cwd=watched.root, caller=Caller(cwd=watched.root))
    with other.index.writing(0.0) as held:
        assert held
        assert watched.refresh().behind == 1
    other.close()
    assert found(watched, "axolotl") == ["note 4.md"]


def test_a_page_that_another_process_wrote_during_a_scan_stays_in_the_index(
    watched: Wiki, home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The scan does not know the page; by the time that it has the lock, the index does."""
    watched.hints = None
    scan = wikimem.refresh.scan

    def scan_while_another_writes(*given: Any, **options: Any) -> Any:
        seen = scan(*given, **options)
        monkeypatch.setattr(wikimem.refresh, "scan", scan)
        other = open_wiki(str(watched.root), cwd=home.path, caller=Caller(cwd=home.path))
        (watched.root / "meanwhile.md").write_text("the word quagga\n")
        other.refresh()
        other.close()
        return seen

    monkeypatch.setattr(wikimem.refresh, "scan", scan_while_another_writes)
    (watched.root / "note 0.md").write_text("the word okapi\n")
    (watched.root / "note 1.md").unlink()
    watched.refresh()
    assert {row.path for row in watched.index.list_pages(None)} >= {"meanwhile.md", "note 0.md"}
    assert watched.index.page("note 1.md") is None


def test_a_page_that_the_index_could_not_be_given_in_time_is_not_called_missing(
    watched: Wiki, home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another process holds the index: what is to be written to may well be there, and the answer is to try again."""
    monkeypatch.setattr("wikimem.wiki.SWEEP_WAIT_S", 0.2)
    watched.hints = None
    (watched.root / "new.md").write_text("the word okapi\n")
    other = open_wiki(str(watched.root), cwd=home.path, caller=Caller(cwd=home.path))
    with other.index.writing(5.0) as held:
        assert held
        with pytest.raises(Locked, match=r"'new\.md'.*another process is indexing"):
            watched.find_to_write("new.md")
    other.close()
    assert watched.find_to_write("new.md").path == "new.md"
    with pytest.raises(NotFound):
        watched.find_to_write("never.md")
