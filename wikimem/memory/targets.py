"""What a link must say so that it still means the same page once a page has moved.

The index's own rules are asked twice for each link: with the names as they are, and with those of the moved page as
they will be. A link that means the same page both times stays as it is written; so does a link to nothing, which may
well have waited for a page of that name.
"""

from __future__ import annotations

import os
import posixpath
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from msgspec import Struct

from wikimem.errors import Invalid, Refused
from wikimem.index.naming import name_key, stem_of, without_suffix
from wikimem.index.resolve import resolve_link
from wikimem.model.page import Link, Page
from wikimem.text.links import rewrite_link

_UP: Final = "../"
_RELATIVE: Final = ("./", "../")

Named = Callable[[str, str], list[tuple[int, str]]]


Key = tuple[str, str]
"""Kind and key of a name."""


class PageNames(Struct, frozen=True):
    """What one page is called, as links and addresses find it."""

    number: int
    path: str
    keys: frozenset[Key]


class Renaming(Struct, frozen=True):
    """A page's names before and after, over the names of the vault as the index has them.

    `named` gives the pages of a name (`Index.named`), `path_of` the path of a page by its number.
    """

    before: PageNames
    after: PageNames
    named: Named
    path_of: Callable[[int], str]
    root: Path

    def linkable_keys(self) -> set[str]:
        """Keys of every name that the page loses, keeps or gets, and by which a link can mean it."""
        return {key for kind, key in self.before.keys | self.after.keys if kind in ("stem", "alias", "title")}

    def named_after(self, kind: str, key: str) -> list[tuple[int, str]]:
        """As `named`, once the page has moved."""
        found = [each for each in self.named(kind, key) if each[0] != self.after.number]
        if (kind, key) in self.after.keys:
            found.append((self.after.number, self.after.path))
        return found

    def place_after(self, path: str) -> str:
        """Where the page that is at `path` will be."""
        return self.after.path if path == self.before.path else path

    def new_targets(self, page: Page) -> dict[int, str]:
        """For each link of `page.links` (by its place there) that must change: its new target.

        Raises Refused where no target can name the page.
        """
        targets: dict[int, str] = {}
        for place, link in enumerate(page.links):
            if link.target and (target := self._new_target(page, link)) is not None:
                targets[place] = target
        return targets

    def _new_target(self, page: Page, link: Link) -> str | None:
        source = self.place_after(page.path)
        old = resolve_link(page.path, link.target, link.kind, self.named)
        new = resolve_link(source, link.target, link.kind, self.named_after)
        markdown = link.start >= page.body_start and not page.text.startswith(("[[", "![["), link.start)
        if old is None:
            return self._kept_place(page, link, source, markdown=markdown, captured=new is not None)
        path = self.path_of(old)
        aim = self.place_after(path)
        # Git hosts and most editors know only the place that a Markdown link names, not the page of that name.
        exact = markdown and _names_place(page.path, link.target, path)
        if new == old and (not exact or _names_place(source, link.target, aim)):
            return None
        for target in self._spellings(page.path, source, link.target, path, aim, markdown=markdown):
            if resolve_link(source, target, link.kind, self.named_after) == old and _can_say(page, link, target):
                return target
        raise Refused(
            f"no link on '{page.path}' could name '{aim}'",
            hint="Choose a path without # | ^ [ ] and without the names of other pages.",
        )

    def _spellings(
        self, old_source: str, source: str, written: str, path: str, aim: str, *, markdown: bool
    ) -> Iterator[str]:
        """Targets for the page at `aim`, in the manner in which `written` named it at `path`, then plainer ones."""
        bare = without_suffix(aim)
        suffix = aim[len(bare) :] if written.lower().endswith(".md") else ""
        full, near = bare + suffix, _relative(bare + suffix, posixpath.dirname(source))
        near_marked = near if near.startswith(_UP) else f"./{near}"
        if written.startswith("/"):
            yield f"/{full}"
        elif written.startswith(_RELATIVE):
            yield near_marked
        elif markdown and _relative_place(old_source, written) == without_suffix(path):
            yield near
            yield near_marked
        elif "/" not in written.strip("/"):
            if len(self.named_after("stem", name_key(stem_of(aim)))) == 1:
                yield stem_of(aim) + suffix
        elif name_key(without_suffix(written)) != name_key(without_suffix(path)):
            parts = full.split("/")
            for count in range(written.count("/") + 1, len(parts)):
                yield "/".join(parts[-count:])
        yield full
        yield f"/{full}"
        if markdown:
            yield near_marked

    def _kept_place(self, page: Page, link: Link, source: str, *, markdown: bool, captured: bool) -> str | None:
        """For a link of the moved page that means no page: the place that it names, seen from the new folder.

        That is a picture, a file of the code beside the vault, or a place where another page would be now.
        """
        relative = link.target.startswith(_RELATIVE) or (markdown and not link.target.startswith("/"))
        folder, new_folder = posixpath.dirname(page.path), posixpath.dirname(source)
        if source == page.path or folder == new_folder or not relative:
            return None
        place = posixpath.normpath(posixpath.join(folder, link.target))
        if not captured and not os.path.lexists(self.root / place):
            return None
        target = _relative(place, new_folder) + ("/" if link.target.endswith("/") else "")
        if link.target.startswith("./") and not target.startswith(_UP):
            target = f"./{target}"
        return target if target != link.target and _can_say(page, link, target) else None


def _names_place(source: str, target: str, path: str) -> bool:
    """Whether a target names the very place of the page at `path`, from the linking page or from the root."""
    bare = without_suffix(path)
    return _relative_place(source, target) == bare or without_suffix(target).strip("/") == bare


def _relative_place(source: str, target: str) -> str:
    if target.startswith("/"):
        return ""
    return posixpath.normpath(posixpath.join(posixpath.dirname(source), without_suffix(target)))


def _relative(path: str, folder: str) -> str:
    """`path` as seen from `folder`, both from the root; `path` may begin with `../`."""
    parts, above = path.split("/"), folder.split("/") if folder else []
    shared = 0
    while shared < min(len(parts) - 1, len(above)) and parts[shared] == above[shared] != "..":
        shared += 1
    return _UP * (len(above) - shared) + "/".join(parts[shared:])


def _can_say(page: Page, link: Link, target: str) -> bool:
    """Whether the link's form can hold the target; in frontmatter the quotes round it may be in the way of its text."""
    in_head = link.start < page.body_start
    text, place = ("[[x]]", Link("x", link.kind, 0, 5)) if in_head else (page.text, link)
    try:
        rewrite_link(text, place, target)
    except Invalid:
        return False
    return True
