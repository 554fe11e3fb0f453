"""check: what a person should look at in a vault, from what the index knows of its pages, names and links."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from wikimem.index.naming import name_key
from wikimem.memory.checkgraph import GRAPH_RULES, check_graph
from wikimem.memory.checklinks import check_links
from wikimem.memory.checknames import OBSIDIAN_GIT_NOTE, check_names, conflict_copies
from wikimem.memory.checktexts import TEXT_RULES, check_texts
from wikimem.model.hit import PageRow
from wikimem.model.page import TRUST_ORDER, Problem
from wikimem.text.mend import quote_properties

if TYPE_CHECKING:
    from wikimem.index.index import LinkRow
    from wikimem.wiki import Wiki

QUOTABLE: Final = ("frontmatter-invalid", "unquoted-wikilink")
ONE_SIDED: Final = "one-sided-supersedes"
DUPLICATE_ID: Final = "duplicate-id"

_HOME: Final = "Home.md"
_UNLINKED_TYPES: Final = ("profile", "session")
"""Types whose pages stand by themselves: found by project and by time."""


def find_problems(wiki: Wiki, skipped: Sequence[Problem], rules: Collection[str] = ()) -> list[Problem]:
    """All problems of the vault, by path and line; `skipped` are those that the sweep of the files met.

    Where `rules` are named only their problems are looked for, so that the pages need not be read for the others.
    """
    rows = wiki.index.list_pages(None)
    links = wiki.index.links.every_link()
    problems = [
        *skipped,
        *_page_problems(wiki),
        *check_names(wiki, rows),
        *_duplicates(rows),
        *check_links(wiki, rows, links),
        *_orphans(rows, links),
        *_succession(wiki, rows, links),
        *_expired(wiki, rows),
    ]
    if not rules or not set(TEXT_RULES).isdisjoint(rules):
        problems += check_texts(wiki, rows)
    if not rules or not set(GRAPH_RULES).isdisjoint(rules):
        problems += check_graph(wiki)
    wanted = (problem for problem in problems if not rules or problem.rule in rules)
    return sorted(wanted, key=lambda each: (each.path, each.line or 0, each.rule, each.message))


def problems_around(wiki: Wiki, path: str, rows: Sequence[PageRow]) -> list[Problem]:
    """Problems of one page that its name, its id and its links to and from other pages show, as it was indexed.

    None for a path that is no page. `rows` are all pages.
    """
    page = wiki.index.page(path)
    if page is None:
        return []
    links = (*wiki.index.links_out(path), *wiki.index.links_in(path))
    problems = (
        *check_names(wiki, rows, [page]),
        *_duplicates(rows),
        *_orphans([page], links),
        *_succession(wiki, rows, links),
        *_expired(wiki, [page]),
    )
    return [problem for problem in problems if problem.path == path]


def _page_problems(wiki: Wiki) -> Iterator[Problem]:
    """What was found when the pages were read. A problem of the frontmatter is fixable where quotes would mend it."""
    for path, group in groupby(wiki.index.problems(), key=lambda problem: problem.path):
        found = list(group)
        fixable = False
        if any(each.rule in QUOTABLE for each in found) and all(each.rule != "conflict-markers" for each in found):
            file = wiki.root / path
            data = file.read_bytes() if file.is_file() else b""
            fixable = quote_properties(data) != data
        for each in found:
            yield replace(each, fixable=fixable and each.rule in QUOTABLE)


def _duplicates(rows: Sequence[PageRow]) -> Iterator[Problem]:
    by_id: dict[str, list[PageRow]] = defaultdict(list)
    by_title: dict[tuple[str, str, str], list[PageRow]] = defaultdict(list)
    for row in rows:
        by_id[row.id].append(row)
        if row.status == "active":
            by_title[name_key(row.title), row.type, row.project or ""].append(row)
    for same in by_id.values():
        for row in same[1:]:
            yield Problem(DUPLICATE_ID, row.path, f"has the same id as '{same[0].path}'", fixable=True)
    for same in by_title.values():
        for row in same[1:]:
            message = f"has the same title, type and project as '{same[0].path}'"
            yield Problem("duplicate-title", row.path, message)


def _orphans(rows: Iterable[PageRow], links: Iterable[LinkRow]) -> Iterator[Problem]:
    linked: set[str] = set()
    for link in links:
        if link.resolved is not None and link.resolved != link.source:
            linked.update((link.source, link.resolved))
    for row in rows:
        if row.path not in linked and row.path not in (_HOME, OBSIDIAN_GIT_NOTE) and row.type not in _UNLINKED_TYPES:
            yield Problem("orphan", row.path, "no link leads to this page or from it to another")


def _succession(wiki: Wiki, rows: Sequence[PageRow], links: Iterable[LinkRow]) -> Iterator[Problem]:
    """What is wrong between pages and those that replace them. A sync tool's copy of a page replaces nothing."""
    by_path = {row.path: row for row in rows}
    says: set[tuple[str, str]] = set()
    """(successor, predecessor), as the successor has it, and as the predecessor has it."""
    said: set[tuple[str, str]] = set()
    pointing: set[str] = set()
    for link in links:
        kind = link.kind.lower()
        if kind == "superseded_by":
            pointing.add(link.source)
        if link.resolved is None or link.resolved == link.source:
            continue
        if kind == "supersedes":
            says.add((link.source, link.resolved))
        elif kind == "superseded_by":
            said.add((link.resolved, link.source))
    copies = copies_among(wiki, rows, {path for pair in says | said for path in pair})
    says, said = ({pair for pair in pairs if copies.isdisjoint(pair)} for pairs in (says, said))
    for new, old in sorted(says - said):
        message = f"is superseded by '{new}', and has no `superseded_by` that says so"
        yield Problem(ONE_SIDED, old, message, fixable=_outranks(by_path, new, old))
    for new, old in sorted(said - says):
        message = f"supersedes '{old}', and has no `supersedes` that says so"
        yield Problem(ONE_SIDED, new, message, fixable=_outranks(by_path, new, old))
    for old in sorted({old for new, old in says | said if by_path[new].status == "active"}):
        if by_path[old].status == "active":
            yield Problem("superseded-but-active", old, "another page supersedes it, and its status is still active")
    yield from _without_successor(rows, pointing, {old for _, old in says})


def copies_among(wiki: Wiki, rows: Sequence[PageRow], paths: Collection[str]) -> frozenset[str]:
    """Those of the `paths` at which there are copies that a sync tool made; `rows` are all pages."""
    asked = [row for row in rows if row.path in paths]
    return frozenset(problem.path for problem in conflict_copies(wiki, rows, asked)) if asked else frozenset()


def _outranks(rows: Mapping[str, PageRow], new: str, old: str) -> bool:
    """Whether the successor may replace the other page: one of less trust can only dispute it."""
    return TRUST_ORDER.index(rows[new].trust) >= TRUST_ORDER.index(rows[old].trust)


def _without_successor(rows: Iterable[PageRow], pointing: Collection[str], named: Collection[str]) -> Iterator[Problem]:
    for row in rows:
        if row.status == "superseded" and row.path not in pointing and row.path not in named:
            yield Problem("superseded-without-successor", row.path, "superseded, and no page says by what")


def _expired(wiki: Wiki, rows: Iterable[PageRow]) -> Iterator[Problem]:
    now = wiki.clock().replace(tzinfo=None)
    for row in rows:
        if row.status == "active" and row.expires is not None and row.expires <= now:
            message = f"its `ttl` ran out on {row.expires.date().isoformat()}, and its status is still active"
            yield Problem("expired-but-active", row.path, message)
        if row.status == "active" and row.valid_to is not None and row.valid_to.replace(tzinfo=None) <= now:
            message = f"it held until {row.valid_to.date().isoformat()}, and its status is still active"
            yield Problem("ended-but-active", row.path, message)
