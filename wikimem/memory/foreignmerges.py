"""What merges by others left to be mended: conflict markers, and two pages of one id."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from wikimem.model.page import CONFLICT_RULE

if TYPE_CHECKING:
    from wikimem.wiki import Wiki

MOST: Final = 20


class Leftover(Struct, frozen=True):
    """`what` a merge left on a page, in words, and the merge, where a commit can be named: its id and author."""

    path: str
    what: str
    commit: str | None
    author: str | None


def find_leftovers(wiki: Wiki) -> tuple[Leftover, ...]:
    """At most `MOST` pages that need mending; the index is asked, and git for the commits."""
    found = list(_leftovers(wiki))[:MOST]
    return tuple(Leftover(path, what, *_merge_of(wiki, path)) for path, what in found)


def _leftovers(wiki: Wiki) -> Iterator[tuple[str, str]]:
    for problem in wiki.index.problems():
        if problem.rule == CONFLICT_RULE:
            yield problem.path, "conflict markers"
    by_id: dict[str, list[str]] = defaultdict(list)
    for row in wiki.index.list_pages(None):
        by_id[row.id].append(row.path)
    for paths in by_id.values():
        for path in paths[1:]:
            yield path, f"the id of '{paths[0]}'"


def _merge_of(wiki: Wiki, path: str) -> tuple[str | None, str | None]:
    """The last commit that changed the page, where that was a merge that wikimem did not make."""
    from wikimem.vault.gitcommand import run_git

    shown = "--format=%H%x00%an%x00%P%x00%(trailers:unfold=true)"
    done = run_git(wiki.root, "log", "-1", "-m", "--first-parent", "--no-patch", shown, "--", path, check=False)
    fields = done.stdout.decode("utf-8", "replace").split("\0")
    if len(fields) < 4 or len(fields[2].split()) < 2 or "Wikimem-Op:" in fields[3]:
        return None, None
    return fields[0].strip(), fields[1]
