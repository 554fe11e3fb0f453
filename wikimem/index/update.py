"""Writing the index: one batch of pages, in an order that any crash and any reader can live with.

    1. manifest   marked dirty; the batch's new passages are entered as pending
    2. words      one commit that adds the new passages and deletes the old
    3. vectors    the same, row by row
    4. manifest   one transaction: pages, names, links, passages as they are now, and clean again

A reader between the steps finds passages of either version, and the manifest knows both. A crash between them leaves
the dirty mark: the next writer compares the parts with the manifest, and what is missing anywhere is indexed again.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING, Final

from msgspec import Struct
from msgspec.structs import replace

from wikimem.index.folder import IndexFolder
from wikimem.index.links import resolve_links
from wikimem.index.manifest import GRACE, LIVE, PENDING, RETIRED, Manifest, chunks, iso, placeholders
from wikimem.index.parts import Missing
from wikimem.index.resolve import link_keys
from wikimem.text.analysis import index_terms

if TYPE_CHECKING:
    from wikimem.index.prepare import PreparedPage, PreparedPassage
    from wikimem.index.vectors import VectorIndex
    from wikimem.index.words import WordsIndex

_LINKABLE: Final = ("stem", "alias", "title")
"""Names by which a link can mean a page; the last part of a path is its stem."""


class Parts(Struct, frozen=True):
    """What a batch is written to."""

    folder: IndexFolder
    manifest: Manifest
    words: WordsIndex
    vectors: VectorIndex | Missing


class _Plan(Struct, frozen=True):
    """What a batch changes: pages with their numbers, passages to add to words and vectors, passages that go.

    `rewritten` are those of `to_words` that the words may have already.
    """

    pages: Sequence[PreparedPage]
    removed_pages: Collection[int]
    added: Sequence[tuple[int, PreparedPassage]]
    to_words: Sequence[tuple[int, PreparedPassage]]
    to_vectors: Sequence[tuple[int, PreparedPassage]]
    gone: Collection[int]
    rewritten: Collection[int]
    next_page: int


def apply_batch(parts: Parts, pages: Iterable[PreparedPage], removed: Collection[str]) -> tuple[int, int]:
    """Index some pages and take others out; returns how many of each. The caller holds the index lock."""
    plan = _plan(parts, list(pages), removed)
    if not plan.pages and not plan.removed_pages:
        return 0, 0
    with parts.folder.writable():
        _announce(parts.manifest, plan)
        _write_words(parts, plan)
        if not isinstance(parts.vectors, Missing):
            _write_vectors(parts.vectors, plan)
        _conclude(parts, plan)
    return len(plan.pages), len(plan.removed_pages)


def reconcile(parts: Parts) -> None:
    """Repair what an interrupted update left. The caller holds the index lock.

    Words and vectors lose what the manifest does not know. Passages that they lack are marked, so that their pages
    count as stale until they are indexed again.
    """
    manifest = parts.manifest
    with manifest.transaction():
        manifest.rows(f"DELETE FROM passages WHERE state != {LIVE}")
    known = {passage for (passage,) in manifest.rows("SELECT id FROM passages")}
    in_words = parts.words.ids()
    parts.words.apply((), in_words - known)
    lacking = {"in_words": known - in_words}
    if not isinstance(parts.vectors, Missing):
        in_vectors = parts.vectors.ids()
        parts.vectors.apply((), in_vectors - known)
        lacking["in_vectors"] = known - in_vectors
    with manifest.transaction():
        for column, passages in lacking.items():
            manifest.rows_many(f"UPDATE passages SET {column} = 0 WHERE id = ?", ((passage,) for passage in passages))
        manifest.set_meta("generation", str(manifest.generation() + 1))
        manifest.set_meta("words_files", parts.folder.words_files())
        manifest.set_meta("dirty", "0")


def _plan(parts: Parts, prepared: Sequence[PreparedPage], removed: Collection[str]) -> _Plan:
    manifest = parts.manifest
    latest = {page.row.path: page for page in prepared}
    numbers = manifest.numbers_of(latest)
    removed_pages = set(manifest.numbers_of([path for path in removed if path not in latest]).values())
    next_page = int(manifest.meta("next_page", "1"))
    pages = []
    for path, page in latest.items():
        number = numbers.get(path, 0)
        if not number:
            number, next_page = next_page, next_page + 1
        pages.append(replace(page, row=replace(page.row, number=number)))
    old = _live_passages(manifest, {*numbers.values(), *removed_pages})
    need_vectors = not isinstance(parts.vectors, Missing)
    kept: set[int] = set()
    added, to_words, to_vectors = [], [], []
    for page in pages:
        for passage in page.passages:
            identity = passage.passage.id
            kept.add(identity)
            entry = (page.row.number, passage)
            digest, in_words, in_vectors = old.get(identity, (b"", False, False))
            changed = digest != passage.digest
            if changed:
                added.append(entry)
            if changed or not in_words:
                to_words.append(entry)
            if need_vectors and (changed or not in_vectors):
                to_vectors.append(entry)
    rewritten = old.keys() & {entry.passage.id for _, entry in to_words}
    return _Plan(pages, removed_pages, added, to_words, to_vectors, set(old) - kept, rewritten, next_page)


def _live_passages(manifest: Manifest, pages: Collection[int]) -> dict[int, tuple[bytes, bool, bool]]:
    return {
        identity: (digest, bool(in_words), bool(in_vectors))
        for chunk in chunks(pages)
        for identity, digest, in_words, in_vectors in manifest.rows(
            "SELECT id, digest, in_words, in_vectors FROM passages "
            f"WHERE state = {LIVE} AND page IN ({placeholders(chunk)})",
            chunk,
        )
    }


def _announce(manifest: Manifest, plan: _Plan) -> None:
    with manifest.transaction():
        manifest.set_meta("dirty", "1")
        manifest.set_meta("next_page", str(plan.next_page))
        # A passage that is known and changed keeps its entry until the end, but counts as lacking from now on.
        manifest.rows_many(
            f"INSERT INTO passages VALUES (?, ?, ?, ?, ?, ?, x'', {PENDING}, 0, 0) "
            "ON CONFLICT (id) DO UPDATE SET in_words = 0, in_vectors = 0",
            (
                (entry.passage.id, page, entry.passage.ordinal, entry.heading, entry.passage.start, entry.passage.end)
                for page, entry in plan.added
            ),
        )


def _write_words(parts: Parts, plan: _Plan) -> None:
    from wikimem.index.words import WordsEntry  # a command that only reads pages loads no Whoosh

    shared: dict[str, list[str]] = {}

    def terms(text: str) -> list[str]:
        # The header fields of a page are the same for all its passages.
        if text not in shared:
            shared[text] = index_terms(text)
        return shared[text]

    parts.words.apply(
        [
            WordsEntry(entry.passage.id, page, (*map(terms, entry.fields[:-2]), *map(index_terms, entry.fields[-2:])))
            for page, entry in plan.to_words
        ],
        plan.gone,
        replaced=plan.rewritten,
    )
    parts.folder.sync_words(parts.manifest.meta("words_files"))


def _write_vectors(vectors: VectorIndex, plan: _Plan) -> None:
    from wikimem.index.vectors import VectorEntry  # as above

    vectors.apply([VectorEntry(entry.passage.id, page, entry.meaning) for page, entry in plan.to_vectors], plan.gone)


def _conclude(parts: Parts, plan: _Plan) -> None:
    manifest = parts.manifest
    numbers = {*(page.row.number for page in plan.pages), *plan.removed_pages}
    with manifest.transaction():
        keys = _linkable_keys(manifest, numbers)
        generation = manifest.generation() + 1
        # Not live, said once more, is what lets SQLite use its index of those few.
        past = f"state != {LIVE} AND state >= {RETIRED} AND state < ?"
        manifest.rows(f"DELETE FROM passages WHERE {past}", (RETIRED + generation - GRACE,))
        retired = RETIRED + generation
        manifest.rows_many("UPDATE passages SET state = ? WHERE id = ?", ((retired, passage) for passage in plan.gone))
        manifest.rows_many("DELETE FROM pages WHERE number = ?", ((number,) for number in numbers))
        for table in ("names", "tags", "links", "problems"):
            manifest.rows_many(f"DELETE FROM {table} WHERE page = ?", ((number,) for number in numbers))
        _insert_pages(manifest, plan.pages)
        _insert_passages(parts, plan)
        keys |= _linkable_keys(manifest, numbers)
        resolve_links(manifest, numbers, keys)
        manifest.set_meta("generation", str(generation))
        manifest.set_meta("words_files", parts.folder.words_files())
        manifest.set_meta("dirty", "0")


def _linkable_keys(manifest: Manifest, numbers: Collection[int]) -> set[str]:
    return {
        key
        for chunk in chunks(numbers)
        for (key,) in manifest.rows(
            f"SELECT key FROM names WHERE page IN ({placeholders(chunk)}) AND kind IN ({placeholders(_LINKABLE)})",
            (*chunk, *_LINKABLE),
        )
    }


def _insert_passages(parts: Parts, plan: _Plan) -> None:
    in_words = {entry.passage.id for _, entry in plan.to_words}
    in_vectors = {entry.passage.id for _, entry in plan.to_vectors}
    parts.manifest.rows_many(
        f"INSERT INTO passages VALUES (?, ?, ?, ?, ?, ?, ?, {LIVE}, ?, ?) ON CONFLICT (id) DO UPDATE SET "
        "page = excluded.page, ordinal = excluded.ordinal, heading = excluded.heading, start = excluded.start, "
        f'"end" = excluded."end", digest = excluded.digest, state = {LIVE}, '
        "in_words = MAX(in_words, excluded.in_words), in_vectors = MAX(in_vectors, excluded.in_vectors)",
        (
            (
                entry.passage.id,
                page.row.number,
                entry.passage.ordinal,
                entry.heading,
                entry.passage.start,
                entry.passage.end,
                entry.digest,
                entry.passage.id in in_words,
                entry.passage.id in in_vectors,
            )
            for page in plan.pages
            for entry in page.passages
        ),
    )


def _insert_pages(manifest: Manifest, pages: Sequence[PreparedPage]) -> None:
    manifest.rows_many(f"INSERT INTO pages VALUES ({placeholders(range(27))})", (_page_values(page) for page in pages))
    manifest.rows_many(
        "INSERT OR IGNORE INTO names VALUES (?, ?, ?)",
        ((kind, key, page.row.number) for page in pages for kind, key in page.names),
    )
    manifest.rows_many(
        "INSERT OR IGNORE INTO tags VALUES (?, ?)", ((tag, page.row.number) for page in pages for tag in page.tags)
    )
    manifest.rows_many(
        "INSERT INTO links VALUES (?, ?, ?, ?, ?, ?, ?, NULL, 1)",
        (
            (page.row.number, ordinal, link.target, link.fragment, link.kind, *link_keys(link.target))
            for page in pages
            for ordinal, link in enumerate(page.links)
        ),
    )
    manifest.rows_many(
        "INSERT INTO problems VALUES (?, ?, ?, ?, ?, ?)",
        (
            (page.row.number, ordinal, problem.rule, problem.message, problem.line, problem.fixable)
            for page in pages
            for ordinal, problem in enumerate(page.problems)
        ),
    )


def _page_values(page: PreparedPage) -> tuple[object, ...]:
    row, stat = page.row, page.stat
    return (
        row.number, row.path, row.id, row.title, row.type, row.status, row.revision, row.trust, row.confidence,
        row.importance, row.pinned, iso(row.created), iso(row.confirmed), iso(row.valid_from), iso(row.valid_to),
        iso(row.expires), row.project, row.agent, row.session, json.dumps(row.sources), json.dumps(row.tags),
        json.dumps(row.aliases), iso(row.mtime), row.tokens, stat.size, stat.mtime_ns, stat.inode,
    )  # fmt: skip
