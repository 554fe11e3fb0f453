"""move: another path for a page, and every link that would lose its meaning rewritten, in one commit."""

from __future__ import annotations

import os
import posixpath
import unicodedata
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from wikimem.errors import Conflict, Invalid, Refused, WikimemError
from wikimem.index.naming import keys_of
from wikimem.memory.rewrite import edit_links, retargeted
from wikimem.memory.targets import PageNames, Renaming
from wikimem.model.hit import PageRow
from wikimem.model.page import Page
from wikimem.text.frontmatter import set_properties
from wikimem.text.page import parse_page
from wikimem.text.schema import property_value
from wikimem.vault.layout import PAGE_SUFFIXES, is_page_name, profile_path, project_of, refuse_links
from wikimem.vault.names import UNTITLED, check_path, folded, portable_name
from wikimem.vault.origins import write_origins

if TYPE_CHECKING:
    from wikimem.vault.draft import Draft
    from wikimem.wiki import Wiki

_INTERIM: Final = " (moving)"


class Destination(Struct, frozen=True):
    """Where a page is to go. `title` is what it is to be called where its title was made from its file name."""

    path: str
    title: str


class Moved(Struct, frozen=True):
    """`rewritten` are the pages, by their paths now, whose links were changed, `links` how many links that were.

    `left` says which pages keep a link that leads nowhere now, and why.
    """

    path: str
    commit: str | None
    rewritten: tuple[str, ...]
    links: int
    left: tuple[str, ...]
    notes: tuple[str, ...] = ()


def destination_of(wiki: Wiki, row: PageRow, to: str) -> Destination:
    """What `to` means for this page: a folder (`archive/`), a path (`archive/Deploy.md`), or else a new name.

    Raises Invalid for what is no name or is a folder without its slash, Refused for a path that no page may have.
    """
    to = unicodedata.normalize("NFC", to.strip()).removeprefix("./")
    folder, _, name = row.path.rpartition("/")
    if to.endswith("/"):
        return _fit(f"{to.rstrip('/')}/{name}" if to.strip("/") else "", row, "")
    if to and os.path.isdir(wiki.root / to) and not is_page_name(to):
        raise Invalid(f"to: '{to}' is a folder", hint=f"Write '{to}/' to move the page into it, or '{to}.md'.")
    suffix = posixpath.splitext(name)[1]
    if "/" in to or to.lower().endswith(PAGE_SUFFIXES):
        return _fit(to if is_page_name(to) else to + suffix, row, "")
    title = " ".join(to.split())
    stem = portable_name(title)
    if not title or (stem == UNTITLED and title.casefold() != UNTITLED):
        raise Invalid(f"to: '{to}' is no name for a page", hint="Give a path, a folder with its slash, or a name.")
    return _fit(f"{folder}/{stem}{suffix}" if folder else f"{stem}{suffix}", row, title)


def _fit(path: str, row: PageRow, title: str) -> Destination:
    check_path(path)
    stem = _stem(path)
    if stem != _stem(row.path) and stem != portable_name(stem):
        raise Invalid(
            f"to: '{stem}' cannot be the name of a page on every system and in every link",
            hint=f"Use '{portable_name(stem)}', or give a name instead of a path to have it made fit.",
        )
    return Destination(path, title or stem)


def move(wiki: Wiki, row: PageRow, to: str) -> Moved:
    """Move the page. Where it is there already nothing is done.

    Raises Conflict where another page is there, or one whose name differs only in case or form; Refused for a place
    where it would not be a page any more, and for a page with the conflict markers of a merge.
    """
    goal = destination_of(wiki, row, to)
    if goal.path == row.path:
        return Moved(row.path, None, (), 0, ())
    old, new = wiki.root / row.path, wiki.root / goal.path
    if os.path.lexists(new) and folded(row.path) == folded(goal.path) and os.path.samefile(old, new):
        # This file system takes both names for one, so that writing one and removing the other would lose the page.
        stem, suffix = posixpath.splitext(goal.path)
        first = _move_once(wiki, row, Destination(f"{stem}{_INTERIM}{suffix}", row.title))
        second = _move_once(wiki, wiki.find(first.path), goal)
        return Moved(second.path, second.commit, second.rewritten, second.links, second.left, second.notes)
    return _move_once(wiki, row, goal)


def _move_once(wiki: Wiki, row: PageRow, goal: Destination) -> Moved:
    _check_place(wiki, row, goal.path)
    origins = wiki.origins()
    try:
        with wiki.transaction("move") as draft:
            if draft.exists(goal.path):
                raise _taken(goal.path, goal.path)
            page, data = _renamed(row, goal, draft)
            renaming = _renaming(wiki, row, page, goal)
            changed, left = _rewrite_others(wiki, draft, renaming)
            data, own, stuck = _rewrite_own(page, data, renaming)
            draft.remove(row.path)
            draft.put(goal.path, data)
            draft.subject = f"move: {row.path} to {goal.path}"
            draft.pages = [row.id]
            if page.meta.id is None:
                wiki.identity.record([(row.path, goal.path)])
    except BaseException:
        if wiki.origins().seeds != origins.seeds:
            write_origins(wiki.folders.state, origins)
        raise
    if own:
        changed[goal.path] = own
    return Moved(
        goal.path,
        draft.committed.commit if draft.committed else None,
        tuple(sorted(changed)),
        sum(changed.values()),
        (*left, *stuck),
        _remarks(page, goal.path),
    )


def _check_place(wiki: Wiki, row: PageRow, path: str) -> None:
    project = project_of(row.path)
    if project is not None and row.path == profile_path(project):
        raise Refused(
            f"'{row.path}' registers the project '{project}' and stays in its folder",
            hint="Change what it says with `wikimem edit`.",
        )
    refuse_links(wiki.root, path)
    _refuse_taken(wiki, row.path, path)
    from wikimem.vault.scan import why_overlooked

    if reason := why_overlooked(wiki.root, path, wiki.config.exclude):
        raise Refused(
            f"a page at '{path}' would not be seen any more: {reason}",
            hint="Choose another folder, or `wikimem forget` the page.",
        )


def _refuse_taken(wiki: Wiki, old: str, new: str) -> None:
    """Conflict where the new path, or a folder in it, is spelled like another that is there but for case or form."""
    folder = ""
    for part in new.split("/"):
        place = f"{folder}/{part}" if folder else part
        try:
            names = os.listdir(wiki.root / folder)
        except FileNotFoundError:
            return
        except NotADirectoryError as error:
            raise Conflict(f"'{folder}' is a file, not a folder", hint="Choose another folder.") from error
        for name in names:
            other = f"{folder}/{name}" if folder else name
            if other != old and folded(name) == folded(part) and (name != part or place == new):
                raise _taken(new, other)
        folder = place


def _taken(path: str, other: str) -> Conflict:
    how = "is there already" if path == other else "differs from it only in case or form"
    return Conflict(
        f"cannot move to '{path}': '{other}' {how}",
        hint="Choose another name, or move or forget that one first.",
        data={"path": other},
    )


def _renamed(row: PageRow, goal: Destination, draft: Draft) -> tuple[Page, bytes]:
    """The page as it is now, and its bytes with the title that follows a new file name."""
    data = draft.read(row.path)
    page = parse_page(row.path, data)
    if any(problem.rule == "conflict-markers" for problem in page.problems):
        raise Refused(
            f"'{row.path}' holds conflict markers of a git merge, which wikimem never commits",
            hint="Resolve the merge first.",
        )
    old, new = _stem(row.path), _stem(goal.path)
    title = property_value(page.properties, "title")
    if old != new and isinstance(title, str) and page.writable and old in (title, portable_name(title)):
        data = set_properties(data, {"title": goal.title}, path=row.path)
        page = parse_page(row.path, data)
    return page, data


def _renaming(wiki: Wiki, row: PageRow, page: Page, goal: Destination) -> Renaming:
    index = wiki.index
    mask = wiki.redactor.mask
    aliases = tuple(mask(alias) for alias in page.meta.aliases)
    # A title that no property and no heading gives is the file name.
    title = parse_page(goal.path, page.text.encode("utf-8", "replace")).title
    before = PageNames(row.number, row.path, frozenset(keys_of(row.path, row.id, row.title, row.aliases)))
    after = PageNames(row.number, goal.path, frozenset(keys_of(goal.path, row.id, mask(title), aliases)))
    return Renaming(before, after, index.named, lambda number: index.pages_by_number([number])[number].path, wiki.root)


def _rewrite_others(wiki: Wiki, draft: Draft, renaming: Renaming) -> tuple[dict[str, int], list[str]]:
    """Put the other pages whose links change into the draft; how many links by page, and what had to be left."""
    changed: dict[str, int] = {}
    left: list[str] = []
    for path in wiki.index.links.sources_of(renaming.linkable_keys(), renaming.before.number):
        if path == renaming.before.path or not draft.exists(path):
            continue
        data = draft.read(path)
        page = parse_page(path, data)
        targets = renaming.new_targets(page)
        if not targets:
            continue
        try:
            draft.put(path, _with_targets(page, data, targets))
            changed[path] = len(targets)
        except WikimemError as error:
            left.append(f"{path}: {error.message}")
    return changed, left


def _rewrite_own(page: Page, data: bytes, renaming: Renaming) -> tuple[bytes, int, list[str]]:
    targets = renaming.new_targets(page)
    try:
        return _with_targets(page, data, targets), len(targets), []
    except WikimemError as error:
        return data, 0, [f"{renaming.after.path}: {error.message}"]


def _with_targets(page: Page, data: bytes, targets: Mapping[int, str]) -> bytes:
    return edit_links(page, data, {place: retargeted(target) for place, target in targets.items()})


def _remarks(page: Page, path: str) -> tuple[str, ...]:
    named, folder = page.meta.project, project_of(path)
    if named and folder and named != folder:
        return (f"the page is in the folder of '{folder}' now, and its `project` still says '{named}', which counts",)
    return ()


def _stem(path: str) -> str:
    return posixpath.splitext(path.rpartition("/")[2])[0]
