"""check --fix: what can be mended without judgement, as one commit.

Quotes round values that YAML refuses or misreads, a new id for the later copy of a page, the missing half of
`supersedes` and `superseded_by`, and links to pages that have provably moved. Everything else is for a person to
decide.
"""

from __future__ import annotations

import contextlib
import math
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from wikimem.errors import NotFound, Refused, WikimemError
from wikimem.memory.check import DUPLICATE_ID, ONE_SIDED, QUOTABLE, copies_among
from wikimem.memory.checklinks import MOVED_RULES
from wikimem.memory.checknames import is_conflict_copy
from wikimem.memory.formerpaths import FormerPaths
from wikimem.memory.remember import link_target
from wikimem.memory.rewrite import edit_links, retargeted
from wikimem.model.hit import PageRow
from wikimem.model.page import TRUST_ORDER, Problem
from wikimem.text.frontmatter import set_properties
from wikimem.text.ids import new_ulid
from wikimem.text.mend import quote_properties
from wikimem.text.page import parse_page
from wikimem.text.schema import property_texts
from wikimem.vault.renames import first_seen, head_commit, read_renames

if TYPE_CHECKING:
    from wikimem.wiki import Wiki


class Fix(Struct, frozen=True):
    """One thing to mend on one page: what in words, and how."""

    path: str
    what: str
    apply: Callable[[bytes], bytes]


class Mended(Struct, frozen=True):
    """What was mended (or would be), what could not be and why, and the commit."""

    fixed: tuple[str, ...]
    left: tuple[str, ...]
    commit: str | None


def mend(wiki: Wiki, problems: Sequence[Problem], *, dry_run: bool) -> Mended:
    """Mend what is fixable of `problems`; with `dry_run` nothing is written."""
    fixes = list(plan_fixes(wiki, [problem for problem in problems if problem.fixable]))
    if dry_run or not fixes:
        changed, fixed, left = _apply(fixes, lambda path: _on_disk(wiki, path))
        return Mended(fixed, left, None)
    with wiki.transaction("check") as draft:
        changed, fixed, left = _apply(fixes, draft.read)
        for path, data in changed.items():
            draft.put(path, data)
        rows = [row for path in changed if (row := wiki.index.page(path)) is not None]
        draft.subject = f"check: mend {len(changed)} {'page' if len(changed) == 1 else 'pages'}"
        draft.pages = [row.id for row in rows]
    return Mended(fixed, left, draft.committed.commit if draft.committed else None)


def plan_fixes(wiki: Wiki, problems: Sequence[Problem]) -> Iterator[Fix]:
    """The fixes, in the order in which they are to be made: a page must parse before a property of it can change."""
    for path in dict.fromkeys(problem.path for problem in problems if problem.rule in QUOTABLE):
        yield Fix(path, "put quotes round values that YAML misreads", quote_properties)
    rows = {row.path: row for row in wiki.index.list_pages(None)}
    wanted = {rows[problem.path].id for problem in problems if problem.rule == DUPLICATE_ID and problem.path in rows}
    same_id: dict[str, list[PageRow]] = defaultdict(list)
    for row in rows.values():
        if row.id in wanted:
            same_id[row.id].append(row)
    ages = _ages(wiki) if same_id else {}
    for copies in same_id.values():
        first, *later = sorted(copies, key=lambda row: _age(ages, row))
        for row in later:
            fresh = new_ulid(wiki.clock())
            yield Fix(row.path, f"give it an id of its own ('{first.path}' keeps it)", _setter(wiki, row, "id", fresh))
    if any(problem.rule == ONE_SIDED for problem in problems):
        yield from _missing_halves(wiki, rows, {problem.path for problem in problems if problem.rule == ONE_SIDED})
    former = FormerPaths(wiki)
    for path in dict.fromkeys(problem.path for problem in problems if problem.rule in MOVED_RULES):
        yield Fix(path, "let links to pages that moved follow them", _follower(path, former))


def _missing_halves(wiki: Wiki, rows: dict[str, PageRow], paths: set[str]) -> Iterator[Fix]:
    other_key = {"supersedes": "superseded_by", "superseded_by": "supersedes"}
    links = {(link.source, link.kind.lower(), link.resolved) for link in wiki.index.links.every_link()}
    halves = sorted((link for link in links if link[1] in other_key and link[2] in paths), key=str)
    copies = copies_among(wiki, list(rows.values()), {source for source, _, _ in halves})
    for source, kind, path in halves:
        if path is None or (path, other_key[kind], source) in links or path == source or source in copies:
            continue
        new, old = (rows[source], rows[path]) if kind == "supersedes" else (rows[path], rows[source])
        if TRUST_ORDER.index(new.trust) < TRUST_ORDER.index(old.trust):
            continue
        link = f"[[{link_target(wiki, rows[source])}]]"
        yield Fix(path, f"add {link} to `{other_key[kind]}`", _adder(wiki, rows[path], other_key[kind], link))


def _apply(
    fixes: Sequence[Fix], read: Callable[[str], bytes]
) -> tuple[dict[str, bytes], tuple[str, ...], tuple[str, ...]]:
    changed: dict[str, bytes] = {}
    fixed: list[str] = []
    left: list[str] = []
    for fix in fixes:
        try:
            before = changed[fix.path] if fix.path in changed else read(fix.path)
            after = fix.apply(before)
        except WikimemError as error:
            left.append(f"{fix.path}: {error.message}")
            continue
        if after != before:
            changed[fix.path] = after
            fixed.append(f"{fix.path}: {fix.what}")
    return changed, tuple(fixed), tuple(left)


def _on_disk(wiki: Wiki, path: str) -> bytes:
    with contextlib.suppress(FileNotFoundError, NotADirectoryError):
        return (wiki.root / path).read_bytes()
    raise NotFound(f"'{path}' is gone", hint="Run `wikimem check` again.")


def _setter(wiki: Wiki, row: PageRow, key: str, value: str) -> Callable[[bytes], bytes]:
    def apply(data: bytes) -> bytes:
        _check_trust(wiki, row)
        return set_properties(data, {key: value}, path=row.path)

    return apply


def _adder(wiki: Wiki, row: PageRow, key: str, item: str) -> Callable[[bytes], bytes]:
    def apply(data: bytes) -> bytes:
        _check_trust(wiki, row)
        items = property_texts(parse_page(row.path, data).properties, key)
        return data if item in items else set_properties(data, {key: (*items, item)}, path=row.path)

    return apply


def _check_trust(wiki: Wiki, row: PageRow) -> None:
    if TRUST_ORDER.index(row.trust) > TRUST_ORDER.index(wiki.caller.trust):
        raise Refused(
            f"an agent does not change properties of '{row.path}', which a person stated",
            hint="A person can: `wikimem check --fix`.",
        )


def _follower(path: str, former: FormerPaths) -> Callable[[bytes], bytes]:
    def apply(data: bytes) -> bytes:
        page = parse_page(path, data)
        targets = former.new_targets(page)
        return edit_links(page, data, {place: retargeted(target) for place, target in targets.items()})

    return apply


def _ages(wiki: Wiki) -> dict[str, int]:
    """How early git saw each page, followed through renames."""
    head = head_commit(wiki.root)
    return first_seen(read_renames(wiki.root, since="", until=head)) if head else {}


def _age(ages: dict[str, int], row: PageRow) -> tuple[bool, float, int, str]:
    """Sorts the page that an id belongs to before its copies: no sync tool made it, and git has known it longest."""
    name = row.path.rpartition("/")[2]
    return is_conflict_copy(name), ages.get(row.path, math.inf), len(row.path), row.path
