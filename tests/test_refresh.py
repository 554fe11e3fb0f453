"""Bringing the index up to date from what a watcher saw, with a real watch on a real vault."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import Home
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
