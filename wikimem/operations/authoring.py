"""Open pages: which vault a file belongs to, the page that its unsaved text is, and what is wrong with it.

What an editor's server asks for the person at the keyboard; nothing here writes. The index is brought up to date by
whoever calls (`Wiki.refresh`).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from wikimem.errors import NotFound
from wikimem.model.authoring import Finding
from wikimem.model.page import Page, Problem

if TYPE_CHECKING:
    from wikimem.memory.checkpage import PlacedProblem
    from wikimem.model.hit import PageRow
    from wikimem.wiki import Wiki

Read = Callable[[str], Page | None]
"""The page at a path of the vault, as it is in the editor or else on disk; None where there is none."""


class Pages:
    """All pages of a vault as its index has them, read again only when that has changed: somebody who types asks for
    them at every key."""

    def __init__(self, wiki: Wiki) -> None:
        self._wiki = wiki
        self._seen: object = None
        self._rows: list[PageRow] = []

    def __call__(self) -> Sequence[PageRow]:
        # The very same mapping, for as long as nothing was indexed.
        seen = self._wiki.index.stats()
        if seen is not self._seen:
            self._rows = self._wiki.index.list_pages(None)
            self._seen = seen
        return self._rows


class InVault(Struct, frozen=True):
    """A file of a vault: the vault's real path, and the file's path from there with `/`."""

    root: Path
    path: str


def locate(file: Path, *, named: str | None, cwd: Path) -> InVault | None:
    """The vault that a file, which need not exist yet, lies in; None where that is none, or not the one `named`.

    Raises Refused for a vault that this user never made or trusted, NotFound where `named` is none.
    """
    from wikimem.vault.folders import user_folders
    from wikimem.vault.layout import is_page_name
    from wikimem.vault.registry import VaultRegistry, resolve_vault

    if not is_page_name(file.name):
        return None
    folder = Path(os.path.realpath(file.parent))
    registry = VaultRegistry(user_folders().config)
    try:
        root = resolve_vault(named, cwd=cwd if named else folder, registry=registry, default=folder)
    except NotFound:
        if named:
            raise
        return None
    if not folder.is_relative_to(root):
        return None
    return InVault(root, (folder / file.name).relative_to(root).as_posix())


def page_of(wiki: Wiki, path: str, text: str) -> Page:
    """The page that a text is, saved or not."""
    from wikimem.text.page import parse_page

    page = parse_page(path, text.encode("utf-8", "replace"))
    row = wiki.index.page(path)
    return replace(page, id=row.id) if row is not None and not page.meta.id else page


def reading(wiki: Wiki, texts: Mapping[str, str]) -> Read:
    """Reads pages of the vault; those in `texts`, by path, as they are there."""

    def read(path: str) -> Page | None:
        return page_of(wiki, path, texts[path]) if path in texts else wiki.read_page(path)

    return read


def is_page(wiki: Wiki, path: str) -> bool:
    """Whether the file is a page of the vault, or would be a new one: not a template, nothing that is ignored."""
    return wiki.index.page(path) is not None or not os.path.lexists(wiki.root / path)


def findings_of_text(wiki: Wiki, page: Page, read: Read) -> tuple[Finding, ...]:
    """What is wrong with the text of an open page: frontmatter, links, secrets, merges, block ids."""
    from wikimem.memory.checkpage import check_open

    return _findings(wiki, check_open(wiki, page, read)) if is_page(wiki, page.path) else ()


def findings_of_place(
    wiki: Wiki, path: str, rows: Sequence[PageRow], skipped: Sequence[Problem]
) -> tuple[Finding, ...]:
    """What is wrong with a page as it was saved, beside its text: name, id, duplicates, succession, dates.

    `rows` are all pages, `skipped` is what the last sweep passed over.
    """
    from wikimem.memory.checkpage import check_saved

    return _findings(wiki, check_saved(wiki, path, rows, skipped))


def _findings(wiki: Wiki, placed: Iterable[PlacedProblem]) -> tuple[Finding, ...]:
    from wikimem.memory.checkrules import remedy_of, severity_of

    mask = wiki.redactor.mask
    return tuple(
        Finding(
            each.problem.rule,
            severity_of(each.problem.rule),
            mask(each.problem.message),
            remedy_of(each.problem.rule),
            each.start,
            each.end,
        )
        for each in placed
    )
