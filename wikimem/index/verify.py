"""Whether an index holds what it should: compared with one made anew, or looked through for pages that are gone.

Differences are given in words, by page, without any text of a page but names.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct

from wikimem.index.manifest import LIVE, chunks, placeholders
from wikimem.index.parts import Missing
from wikimem.model.hit import PageRow

if TYPE_CHECKING:
    from wikimem.index.index import Index
    from wikimem.index.manifest import Manifest
    from wikimem.index.vectors import VectorIndex

MOST_DIFFERENCES: Final = 100
_OWN: Final = ("number", "mtime")
"""What two indexes of the same files may differ in: how pages are numbered, and when a file was last touched."""
_NEAR: Final = 1e-5
"""Two makings of one vector may differ in the rounding of their sums."""


class Holdings(Struct, frozen=True):
    """How much of some pages an index holds."""

    pages: int
    passages: int
    links: int


def holdings(index: Index, rows: Sequence[PageRow]) -> Holdings:
    """What the index holds of these pages: themselves, their passages, the links that are written on them."""
    return Holdings(
        pages=sum(index.page(row.path) is not None for row in rows),
        passages=sum(len(index.page_passages(row.number)) for row in rows),
        links=sum(len(index.links_out(row.path)) for row in rows),
    )


def leftovers(index: Index, rows: Collection[PageRow], passages: Collection[int]) -> tuple[str, ...]:
    """What any part of the index still holds of pages that are gone, in words; `passages` are the ids that they had."""
    parts = index.parts()
    numbers = [row.number for row in rows]

    def count(table: str, column: str, condition: str = "1") -> int:
        statement = f"SELECT COUNT(*) FROM {table} WHERE {condition} AND {column} IN "
        return sum(
            int(parts.manifest.rows(f"{statement}({placeholders(chunk)})", chunk)[0][0]) for chunk in chunks(numbers)
        )

    found = {
        "pages": count("pages", "number"),
        "names": count("names", "page"),
        "tags": count("tags", "page"),
        "problems": count("problems", "page"),
        "passages": count("passages", "page", f"state = {LIVE}"),
        "links on them": count("links", "page"),
        "links to them": count("links", "resolved"),
        "passages in the words": len(parts.words.ids() & set(passages)),
    }
    if not isinstance(parts.vectors, Missing):
        found["passages in the vectors"] = len(parts.vectors.ids() & set(passages))
    return tuple(f"{number} {what}" for what, number in found.items() if number)


def differences(index: Index, fresh: Index) -> tuple[str, ...]:
    """How an index differs from one made anew of the same files; at most MOST_DIFFERENCES, and how many more."""
    found = [*_pages(index, fresh), *_tables(index, fresh), *_words(index, fresh), *_vectors(index, fresh)]
    rest = len(found) - MOST_DIFFERENCES
    return (*found[:MOST_DIFFERENCES], *((f"and {rest} more differences",) if rest > 0 else ()))


def _pages(index: Index, fresh: Index) -> Iterator[str]:
    here = {row.path: row for row in index.list_pages(None)}
    there = {row.path: row for row in fresh.list_pages(None)}
    yield from (f"'{path}' is not in the index" for path in sorted(there.keys() - here.keys()))
    yield from (f"'{path}' is in the index and not in the vault" for path in sorted(here.keys() - there.keys()))
    for path in sorted(here.keys() & there.keys()):
        for field in PageRow.__struct_fields__:
            old, new = getattr(here[path], field), getattr(there[path], field)
            if field not in _OWN and old != new:
                yield f"'{path}' has the {field} {_shown(old)} in the index, and should have {_shown(new)}"


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."


_TABLES: Final[Mapping[str, str]] = {
    "names": "SELECT path, kind || ' ' || key FROM names JOIN pages ON number = page",
    "tags": "SELECT path, tag FROM tags JOIN pages ON number = page",
    "problems": "SELECT path, ordinal, rule, message, line, fixable FROM problems JOIN pages ON number = page",
    "links": "SELECT source.path, ordinal, target, fragment, kind, whole_key, last_key, aim.path, broken FROM links "
    "JOIN pages AS source ON source.number = links.page LEFT JOIN pages AS aim ON aim.number = links.resolved",
    "passages": 'SELECT path, ordinal, passages.id, heading, start, "end", hex(digest), in_words, in_vectors '
    f"FROM passages JOIN pages ON number = page WHERE state = {LIVE}",
}


def _tables(index: Index, fresh: Index) -> Iterator[str]:
    """Names, tags, problems, links and passages, counted by page."""
    here, there = index.parts().manifest, fresh.parts().manifest
    known = {path for (path,) in here.rows("SELECT path FROM pages")}
    known &= {path for (path,) in there.rows("SELECT path FROM pages")}
    for table, statement in _TABLES.items():
        old, new = set(here.rows(statement)), set(there.rows(statement))
        yield from _by_page(table, known, old - new, new - old)
        if strays := _strays(here, table):
            yield f"{strays} {table} in the index belong to no page"


def _strays(manifest: Manifest, table: str) -> int:
    condition = f"state = {LIVE} AND " if table == "passages" else ""
    statement = f"SELECT COUNT(*) FROM {table} WHERE {condition}page NOT IN (SELECT number FROM pages)"
    return int(manifest.rows(statement)[0][0])


def _by_page(
    what: str, known: Collection[str], extra: Iterable[tuple[Any, ...]], lacking: Iterable[tuple[Any, ...]]
) -> Iterator[str]:
    """One line for each page that differs; pages that are missing as a whole have been named."""
    counts: dict[str, list[int]] = {}
    for side, rows in enumerate((extra, lacking)):
        for row in rows:
            if row[0] in known:
                counts.setdefault(row[0], [0, 0])[side] += 1
    for path, (more, fewer) in sorted(counts.items()):
        yield f"'{path}' has {more} {what} in the index that it should not have, and lacks {fewer}"


def _words(index: Index, fresh: Index) -> Iterator[str]:
    here, there = _paths(index), _paths(fresh)
    old = {key: (here.get(page, ""), *rest) for key, (page, *rest) in index.words.contents().items()}
    new = {key: (there.get(page, ""), *rest) for key, (page, *rest) in fresh.words.contents().items()}
    yield from _compared("words", old, new, lambda one, other: one == other)


def _vectors(index: Index, fresh: Index) -> Iterator[str]:
    old, new = index.vectors, fresh.vectors
    if isinstance(old, Missing) or isinstance(new, Missing):
        if isinstance(old, Missing) != isinstance(new, Missing):
            yield "the vectors can be used in one index and not in the other"
        return
    yield from _compared("vectors", _rows(index, old), _rows(fresh, new), _alike)


def _rows(index: Index, vectors: VectorIndex) -> dict[int, tuple[str, Any, Any]]:
    paths = _paths(index)
    return {
        int(passage): (paths.get(int(page), ""), row, pieces)
        for passage, page, row, pieces in zip(*vectors.contents(), strict=True)
    }


def _alike(one: tuple[Any, ...], other: tuple[Any, ...]) -> bool:
    same_meaning = bool(abs(one[1] - other[1]).max(initial=0.0) < _NEAR)
    return one[0] == other[0] and same_meaning and bool((one[2] == other[2]).all())


def _compared(
    what: str, old: Mapping[int, Any], new: Mapping[int, Any], alike: Callable[[Any, Any], bool]
) -> Iterator[str]:
    """Passages of one part: those that are too many, that are lacking, and that say something else, by page."""
    wrong: dict[str, list[int]] = {}
    for place, passages in enumerate(
        (
            [old[key] for key in old.keys() - new.keys()],
            [new[key] for key in new.keys() - old.keys()],
            [new[key] for key in old.keys() & new.keys() if not alike(old[key], new[key])],
        )
    ):
        for passage in passages:
            wrong.setdefault(passage[0], [0, 0, 0])[place] += 1
    for path, (extra, lacking, other) in sorted(wrong.items()):
        page = f"'{path}'" if path else "a page that is gone"
        yield f"the {what} have {extra} passages of {page} too many, lack {lacking}, and have {other} otherwise"


def _paths(index: Index) -> dict[int, str]:
    return dict(index.parts().manifest.rows("SELECT number, path FROM pages"))
