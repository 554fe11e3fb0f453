"""The rules of `check` for one page that somebody has open: those its text alone shows, and those its place shows.

    check_open     what is wrong with the text as it is in the editor, saved or not
    check_saved   what the index knows of the page as it was saved: names, duplicates, succession, dates

Rules that compare the texts of all pages, or read the graph, are left to `check` itself.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from wikimem.index.parts import LinkRow
from wikimem.index.resolve import is_attachment, resolve_link
from wikimem.memory.check import problems_around
from wikimem.memory.checklinks import check_links_of
from wikimem.memory.checktexts import check_block_ids
from wikimem.model.hit import PageRow
from wikimem.model.page import Link, Page, Problem
from wikimem.refresh import with_secrets_reported
from wikimem.text.yamlblock import BREAK

if TYPE_CHECKING:
    from wikimem.wiki import Wiki

READ_RULES: Final = ("encoding", "too-large", "unreadable", "file-name", "not-a-file")
"""Rules of the file itself, which no text shows."""


class PlacedProblem(Struct, frozen=True):
    """A problem and the part of the text that it is about: `text[start:end]`, nothing where it is the whole page."""

    problem: Problem
    start: int = 0
    end: int = 0


def path_meant(wiki: Wiki, page: Page, link: Link) -> str | None:
    """The path of the page that a link on an open page means; None where it means none. The page may be a new one."""
    if not link.target:
        return page.path
    number = resolve_link(page.path, link.target, link.kind, wiki.index.named)
    found = wiki.index.pages_by_number({number}) if number is not None else {}
    return next((row.path for row in found.values()), None)


def resolve_links_of(wiki: Wiki, page: Page) -> list[LinkRow]:
    """What the links of a page that need not be saved mean now, in the order of `page.links`."""
    rows: list[LinkRow] = []
    for link in page.links:
        resolved = path_meant(wiki, page, link)
        broken = resolved is None and not is_attachment(link.target)
        rows.append(LinkRow(page.path, link.target, link.fragment, link.kind, resolved, broken))
    return rows


def check_open(wiki: Wiki, page: Page, read: Callable[[str], Page | None]) -> list[PlacedProblem]:
    """Problems of the text in hand, by place. `read` gives the pages that its links lead to, as they are now."""
    placed = [_on_line(page.text, problem) for problem in with_secrets_reported(page, wiki.redactor).problems]
    for link, problem in check_links_of(page, resolve_links_of(wiki, page), wiki.index.named, read):
        placed.append(PlacedProblem(problem, link.start, link.end))
    placed += [_on_line(page.text, problem) for problem in check_block_ids(page.path, page.text, page.body_start)]
    return sorted(placed, key=lambda each: (each.start, each.end, each.problem.rule))


def check_saved(wiki: Wiki, path: str, rows: Sequence[PageRow], skipped: Sequence[Problem]) -> list[PlacedProblem]:
    """Problems of the page as it was saved; none for a file that is no page.

    `rows` are all pages, `skipped` the problems that the last sweep met.
    """
    found = [problem for problem in (*skipped, *wiki.index.problems()) if problem.rule in READ_RULES]
    found += problems_around(wiki, path, rows)
    return [PlacedProblem(problem) for problem in found if problem.path == path]


def _on_line(text: str, problem: Problem) -> PlacedProblem:
    """The line that a problem names, without the blanks at its ends."""
    if problem.line is None:
        return PlacedProblem(problem)
    starts = [0, *(found.end() for found in BREAK.finditer(text))]
    start = starts[min(problem.line, len(starts)) - 1]
    following = BREAK.search(text, start)
    line = text[start : following.start() if following else len(text)]
    left = len(line) - len(line.lstrip())
    return PlacedProblem(problem, start + left, start + max(len(line.rstrip()), left))
