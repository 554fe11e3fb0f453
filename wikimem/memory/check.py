"""check: what a person should look at in a vault, from what the index knows of its pages, names and links."""

from __future__ import annotations

import posixpath
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING, Final, Literal

from wikimem.index.naming import name_key, stem_of, without_suffix
from wikimem.memory.checknames import check_names
from wikimem.model.hit import PageRow
from wikimem.model.page import TRUST_ORDER, Problem
from wikimem.text.mend import quote_properties

if TYPE_CHECKING:
    from wikimem.index.index import LinkRow
    from wikimem.wiki import Wiki

Severity = Literal["error", "warning", "note"]

RULES: Final[dict[str, tuple[Severity, str]]] = {
    "git-lock": ("error", "git's index lock was left behind, and every write waits for it (seen in `status`)"),
    "frontmatter-invalid": ("error", "the frontmatter, or one property of it, does not parse"),
    "unquoted-wikilink": ("warning", "a `[[link]]` in the frontmatter without quotes"),
    "duplicate-key": ("warning", "a property that is given twice"),
    "property-value": ("warning", "a value that does not fit its property"),
    "frontmatter-unclosed": ("warning", "the first line is `---`, and no other closes it"),
    "conflict-markers": ("error", "an unresolved merge"),
    "encoding": ("error", "a file that is not UTF-8"),
    "control-character": ("warning", "a character that no text has"),
    "secret": ("error", "something that looks like a password, a token or a key"),
    "broken-link": ("warning", "a link that leads to no page"),
    "ambiguous-link": ("warning", "a link that fits several pages equally well"),
    "duplicate-id": ("error", "two pages with one id"),
    "duplicate-title": ("warning", "two active pages of one title, type and project"),
    "one-sided-supersedes": ("warning", "a page supersedes another, and only one of the two says so"),
    "superseded-but-active": ("warning", "a page that another one supersedes, with the status active"),
    "superseded-without-successor": ("warning", "a superseded page, and no word of what replaced it"),
    "expired-but-active": ("warning", "a page whose `ttl` has run out, with the status active"),
    "orphan": ("note", "a page without a link to or from another"),
    "case-collision": ("warning", "names that some file systems take for one"),
    "name-not-portable": ("warning", "a name that some file systems, or links, cannot hold"),
    "conflict-copy": ("warning", "a copy that a sync tool made"),
    "too-large": ("error", "a file too large to be indexed"),
    "unreadable": ("error", "a file or folder that cannot be read"),
    "file-name": ("error", "a name that is not UTF-8, or holds a control character"),
    "not-a-file": ("warning", "something named like a page that is no regular file"),
    "nested-repository": ("warning", "a folder that is a git repository of its own"),
    "symlink": ("warning", "a symbolic link to a file that is no page"),
    "broken-symlink": ("warning", "a symbolic link that leads nowhere"),
    "link-leaves-vault": ("warning", "a symbolic link that leads out of the vault"),
    "git-ownership": ("warning", "git does not trust the owner of the folder"),
    "ignored-vault": ("error", "the repository around the vault ignores it"),
}
"""Every rule: how grave it is, and what it finds. An error is a loss or something unseen; a note may be nothing."""

QUOTABLE: Final = ("frontmatter-invalid", "unquoted-wikilink")
ONE_SIDED: Final = "one-sided-supersedes"
DUPLICATE_ID: Final = "duplicate-id"

_HOME: Final = "Home.md"
_UNLINKED_TYPES: Final = ("profile", "session")
"""Types whose pages stand by themselves: found by project and by time."""


def severity_of(rule: str) -> Severity:
    return RULES[rule][0] if rule in RULES else "warning"


def find_problems(wiki: Wiki, skipped: Sequence[Problem]) -> list[Problem]:
    """All problems of the vault, by path and line; `skipped` are those that the sweep of the files met."""
    rows = wiki.index.list_pages(None)
    links = wiki.index.links.every_link()
    problems = [
        *skipped,
        *_page_problems(wiki),
        *check_names(rows),
        *_duplicates(rows),
        *_link_problems(wiki, rows, links),
        *_orphans(rows, links),
        *_succession(rows, links),
        *_expired(wiki, rows),
    ]
    return sorted(problems, key=lambda each: (each.path, each.line or 0, each.rule, each.message))


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


def _link_problems(wiki: Wiki, rows: Sequence[PageRow], links: Iterable[LinkRow]) -> Iterator[Problem]:
    names = _Names(rows)
    for path, group in groupby(links, key=lambda link: link.source):
        found: list[tuple[int, str, str]] = []
        for place, link in enumerate(group):
            written = f"{link.target}#{link.fragment}" if link.fragment else link.target
            if link.broken:
                found.append((place, "broken-link", f"'{written}' leads to no page"))
            elif others := names.also_meant(link):
                listed = ", ".join(f"'{other}'" for other in others[:5])
                message = f"'{written}' is taken for '{link.resolved}' and could mean {listed}"
                found.append((place, "ambiguous-link", message))
        lines = _lines_of_links(wiki, path) if found else ()
        for place, rule, message in found:
            yield Problem(rule, path, message, lines[place] if place < len(lines) else None)


def _lines_of_links(wiki: Wiki, path: str) -> Sequence[int]:
    page = wiki.read_page(path)
    return [link.line for link in page.links] if page is not None else ()


class _Names:
    """Which pages have a name."""

    def __init__(self, rows: Iterable[PageRow]) -> None:
        self._stems: dict[str, list[str]] = defaultdict(list)
        self._others: tuple[dict[str, list[str]], ...] = (defaultdict(list), defaultdict(list))
        aliases, titles = self._others
        for row in rows:
            self._stems[name_key(stem_of(row.path))].append(row.path)
            titles[name_key(row.title)].append(row.path)
            for alias in row.aliases:
                aliases[name_key(alias)].append(row.path)

    def also_meant(self, link: LinkRow) -> Sequence[str]:
        """Other pages that the link's words fit as well as the one that it is taken for: not by place, nor by case."""
        target, chosen = link.target.strip(), link.resolved
        if not target or chosen is None or target.startswith(("/", "./", "../")):
            return ()
        wanted, folder = without_suffix(target).strip("/"), posixpath.dirname(link.source)
        bare = name_key(without_suffix(chosen))
        if bare in (name_key(wanted), name_key(posixpath.normpath(posixpath.join(folder, wanted)))):
            return ()
        ending = "/" + name_key(wanted)
        same = [
            path
            for path in self._stems.get(name_key(wanted.rpartition("/")[2]), ())
            if ("/" + name_key(without_suffix(path))).endswith(ending)
        ]
        for names in self._others:
            same = same or list(names.get(name_key(target), ()))
        if chosen not in same or any(posixpath.dirname(path) == folder for path in same):
            return ()
        stem = wanted.rpartition("/")[2]
        exact = [path for path in same if stem_of(path) == stem]
        return [path for path in (exact if chosen in exact else same) if path != chosen]


def _orphans(rows: Iterable[PageRow], links: Iterable[LinkRow]) -> Iterator[Problem]:
    linked: set[str] = set()
    for link in links:
        if link.resolved is not None and link.resolved != link.source:
            linked.update((link.source, link.resolved))
    for row in rows:
        if row.path not in linked and row.path != _HOME and row.type not in _UNLINKED_TYPES:
            yield Problem("orphan", row.path, "no link leads to this page or from it to another")


def _succession(rows: Sequence[PageRow], links: Iterable[LinkRow]) -> Iterator[Problem]:
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
