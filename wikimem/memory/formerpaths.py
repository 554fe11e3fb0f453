"""Where pages were before they moved, by git's history, by ids, and by what is on disk now; and links that still name
those places."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection
from functools import cached_property
from typing import TYPE_CHECKING, Final

from wikimem.errors import WikimemError
from wikimem.index.naming import keys_of, name_key, stem_of, without_suffix
from wikimem.index.resolve import resolve_link
from wikimem.memory.checknames import is_conflict_copy
from wikimem.memory.targets import PageNames, Renaming
from wikimem.model.hit import PageRow
from wikimem.model.page import Page
from wikimem.text.page import parse_page

if TYPE_CHECKING:
    from wikimem.wiki import Wiki

_MOST_STEPS: Final = 1_000


class FormerPaths:
    """Old path -> where that page is now, for pages that have provably moved: git calls it a rename, the id is the
    same, or the page is new on disk with the content of one that is gone. Looked for when first asked about."""

    def __init__(self, wiki: Wiki) -> None:
        self._wiki = wiki

    def place_of(self, source: str, target: str, kind: str) -> str | None:
        """Where the page is that a broken link on the page at `source` meant; None where no page, or more than one,
        can be proven."""
        if not target.strip():
            return None
        places = {self.now[old] for old in self._old_paths(source, target, kind)}
        return places.pop() if len(places) == 1 else None

    def new_targets(self, page: Page) -> dict[int, str]:
        """For each broken link of `page.links` (by its place there) to a page that has moved: its new target.

        Raises Refused where no target can name the page.
        """
        broken = {(link.target, link.kind) for link in self._wiki.index.links_out(page.path) if link.broken}
        targets: dict[int, str] = {}
        for place, link in enumerate(page.links):
            now = self.place_of(page.path, link.target, link.kind) if (link.target, link.kind) in broken else None
            row = self._wiki.index.page(now) if now else None
            if row is None:
                continue
            for old in self._old_paths(page.path, link.target, link.kind):
                found = self._renaming(old, row).new_targets(page)
                if place in found:
                    targets[place] = found[place]
                    break
        return targets

    @cached_property
    def now(self) -> dict[str, str]:
        """Old path -> present path; only pages that are there, and no path at which there is a page."""
        from wikimem.vault.renames import head_commit, pending_moves, read_renames

        wiki = self._wiki
        steps: dict[str, str] = {}
        rows = {row.path: row for row in wiki.index.list_pages(None)}
        try:
            head = head_commit(wiki.root)
            history = read_renames(wiki.root, since="", until=head) if head else None
            for commit in history.changes if history else ():
                for old, new in commit:
                    # Whoever is put there now is another page.
                    steps.pop(new, None)
                    if old:
                        steps[old] = new
            # What git took for a removal and an addition, while the id says that it is one page.
            removed = history.removed if history else {}
            steps.update(self._by_id({old: at for old, at in removed.items() if old not in rows | steps}, rows))
            steps.update(pending_moves(wiki.root, rows))
        except WikimemError as error:
            wiki.notes.append(f"links to pages that moved are not recognised: {error.message}")
        steps.update((seed, path) for path, seed in wiki.origins().seeds.items() if "\n" not in seed and seed != path)
        found = {old: _end(old, steps) for old in steps if old not in rows}
        # What a sync tool kept beside a page that is gone now is no new place of it.
        return {old: path for old, path in found.items() if path in rows and not is_conflict_copy(stem_of(path))}

    def _by_id(self, removed: dict[str, str], rows: dict[str, PageRow]) -> dict[str, str]:
        """Removed pages (path -> the commit that removed them) that some link still names, by the id that they had."""
        from wikimem.vault.gitcommand import run_git

        by_id = {row.id: path for path, row in rows.items()}
        wanted = {
            name_key(without_suffix(link.target).strip("/").rpartition("/")[2])
            for link in self._wiki.index.links.every_link()
            if link.broken
        }
        found: dict[str, str] = {}
        for old, commit in removed.items():
            if name_key(stem_of(old)) in wanted:
                blob = run_git(self._wiki.root, "cat-file", "blob", f"{commit}^:./{old}", check=False)
                page_id = parse_page(old, blob.stdout).meta.id if blob.returncode == 0 else None
                if page_id in by_id:
                    found[old] = by_id[page_id]
        return found

    @cached_property
    def _names(self) -> dict[str, list[str]]:
        """Old paths by the name that a link would say."""
        names: dict[str, list[str]] = defaultdict(list)
        for old in self.now:
            names[name_key(stem_of(old))].append(old)
        return names

    def _old_paths(self, source: str, target: str, kind: str) -> Collection[str]:
        """The old paths that a link's target named, by the rules by which links are resolved."""
        last = without_suffix(target.strip().strip("/")).rpartition("/")[2]
        candidates = self._names.get(name_key(last), [])

        def lookup(what: str, key: str) -> list[tuple[int, str]]:
            if what == "path":
                return [(n, old) for n, old in enumerate(candidates) if name_key(without_suffix(old)) == key]
            return list(enumerate(candidates)) if what == "stem" else []

        chosen = resolve_link(source, target, kind, lookup)
        if chosen is None:
            return ()
        if "/" in target.strip("/"):
            return (candidates[chosen],)
        # A bare name may have meant any of them: only if they are one page now is it proven.
        return candidates

    def _renaming(self, old: str, row: PageRow) -> Renaming:
        """The move of a page from its old path, as if it were under way: links that meant it change, others stay."""
        index = self._wiki.index
        before = PageNames(row.number, old, frozenset(keys_of(old, row.id, stem_of(old), ())))
        after = PageNames(row.number, row.path, frozenset(keys_of(row.path, row.id, row.title, row.aliases)))

        def named(kind: str, key: str) -> list[tuple[int, str]]:
            found = [each for each in index.named(kind, key) if each[0] != row.number]
            return [*found, (row.number, old)] if (kind, key) in before.keys else found

        return Renaming(before, after, named, lambda number: self._path_of(number, row, old), self._wiki.root)

    def _path_of(self, number: int, row: PageRow, old: str) -> str:
        return old if number == row.number else self._wiki.index.pages_by_number([number])[number].path


def _end(path: str, steps: dict[str, str]) -> str:
    """The end of a chain of moves; a page that came back to where it was ends there."""
    for _ in range(_MOST_STEPS):
        if path not in steps:
            break
        path = steps[path]
    return path
