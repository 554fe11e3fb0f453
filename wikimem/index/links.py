"""The graph of the pages: links that people wrote, and the names by which a question means a page."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Final

from wikimem.index.manifest import Manifest, chunks, placeholders
from wikimem.index.naming import LONGEST_NAME, name_words
from wikimem.index.parts import Allowed, LinkRow
from wikimem.index.resolve import is_attachment, resolve_link

LINK_WEIGHT: Final = 1.0
"""A link that a person wrote is stated, not inferred."""
HUB_LINKS: Final = 64
"""A page with more neighbours than this, such as a map of content, is reached but not walked through: what it links
to has nothing more to do with each other than that somebody listed it."""
SHARED_NAME: Final = 8
"""A name that more pages share than this, such as `README`, names none of them."""
MOST_WORDS: Final = 256
"""Words of a question in which names are looked for; a pasted log is longer than any question."""

_BODY_KINDS: Final = frozenset({"wikilink", "embed", "markdown"})

Neighbour = tuple[int, str]
"""The page at the other end, and the link in words: `--[[jose]]-->`."""


class LinkGraph:
    """Walks over the links of one index, as the manifest has them now."""

    def __init__(self, manifest: Manifest) -> None:
        self._manifest = manifest

    def walk(
        self, start_pages: Mapping[int, float], depth: int, allowed: Allowed | None
    ) -> list[tuple[int, float, str]]:
        """Pages within `depth` links of the start pages, which come first, as (number, score, path in words).

        Breadth first, so by the shortest way. The score is the start page's weight times the mean weight of the links
        on the way, divided by the number of pages on it: 1 for the start, 1/2 for its neighbours, 1/3 for theirs.
        Links are followed in both directions. A page that is not allowed is neither given nor walked through.
        """
        seen = [page for page in start_pages if _passes(page, allowed)]
        titles = self._titles(seen)
        best = {page: (start_pages[page], titles[page]) for page in seen if page in titles}
        frontier = dict(best)
        starts = dict.fromkeys(best, 1.0)
        origin = {page: start_pages[page] for page in best}
        for length in range(2, depth + 2):
            following: dict[int, tuple[float, str]] = {}
            steps = self._neighbours(frontier)
            reached = {other for page in frontier for other, _ in steps.get(page, ())}
            titles = self._titles(page for page in reached if page not in best and _passes(page, allowed))
            sources: dict[int, float] = {}
            for page in sorted(frontier, key=lambda page: (-origin[page], frontier[page][1])):
                neighbours = steps.get(page, [])
                if page not in starts and len({other for other, _ in neighbours}) > HUB_LINKS:
                    continue
                for other, link in neighbours:
                    if other in titles and other not in following:
                        score = origin[page] * LINK_WEIGHT / length
                        following[other] = (score, f"{frontier[page][1]} {link} {titles[other]}")
                        sources[other] = origin[page]
            best.update(following)
            origin.update(sources)
            frontier = following
            if not frontier:
                break
        return sorted(((page, *found) for page, found in best.items()), key=lambda found: (-found[1], found[0]))

    def named_in(self, query: str) -> dict[int, float]:
        """Pages whose title, alias or file name the question says, with 1 shared among pages of the same name.

        Names count as whole words, in scripts without spaces as substrings. A name inside a longer one that was
        found as well ("auth" in "auth tokens") does not count.
        """
        words = name_words(query)[:MOST_WORDS]
        spans: dict[str, list[tuple[int, int]]] = {}
        for start in range(len(words)):
            for end in range(start + 1, min(len(words), start + LONGEST_NAME) + 1):
                spans.setdefault(" ".join(words[start:end]), []).append((start, end))
        pages: dict[str, set[int]] = {}
        for chunk in chunks(spans):
            for key, page in self._manifest.rows(
                f"SELECT key, page FROM names WHERE kind = 'words' AND key IN ({placeholders(chunk)})", chunk
            ):
                pages.setdefault(key, set()).add(page)
        found = sorted(
            ((start, end, key) for key in pages for start, end in spans[key]),
            key=lambda span: (span[0] - span[1], span[0]),
        )
        covered = [False] * len(words)
        named: dict[int, float] = {}
        for start, end, key in found:
            if all(covered[start:end]):
                continue
            covered[start:end] = [True] * (end - start)
            if len(pages[key]) <= SHARED_NAME:
                for page in pages[key]:
                    named[page] = max(named.get(page, 0.0), 1.0 / len(pages[key]))
        return named

    def links_out(self, path: str) -> tuple[LinkRow, ...]:
        """Links of a page, in the order in which they are written."""
        return self._links("source.path = ?", path)

    def links_in(self, path: str) -> tuple[LinkRow, ...]:
        """Links of all pages that mean this one."""
        return self._links("target.path = ?", path)

    def every_link(self) -> tuple[LinkRow, ...]:
        """All links, by page and in the order in which they are written there."""
        return self._links("1 = 1")

    def sources_of(self, keys: Collection[str], page: int) -> tuple[str, ...]:
        """Paths of the pages with a link that means this page, or whose target has one of the name `keys`."""
        found: set[str] = set()
        for column in ("whole_key", "last_key"):
            for chunk in chunks(keys):
                rows = self._manifest.rows(
                    "SELECT DISTINCT pages.path FROM links JOIN pages ON pages.number = links.page "
                    f"WHERE links.{column} IN ({placeholders(chunk)})",
                    chunk,
                )
                found.update(path for (path,) in rows)
        rows = self._manifest.rows(
            "SELECT DISTINCT pages.path FROM links JOIN pages ON pages.number = links.page WHERE links.resolved = ?",
            (page,),
        )
        found.update(path for (path,) in rows)
        return tuple(sorted(found))

    def _links(self, condition: str, *values: str) -> tuple[LinkRow, ...]:
        found = self._manifest.rows(
            "SELECT source.path, links.target, links.fragment, links.kind, target.path, links.broken FROM links "
            "JOIN pages AS source ON source.number = links.page "
            "LEFT JOIN pages AS target ON target.number = links.resolved "
            f"WHERE {condition} ORDER BY source.path, links.ordinal",
            values,
        )
        return tuple(
            LinkRow(source, target, fragment, kind, resolved, bool(broken))
            for source, target, fragment, kind, resolved, broken in found
        )

    def _titles(self, pages: Iterable[int]) -> dict[int, str]:
        return {
            number: title
            for chunk in chunks(pages)
            for number, title in self._manifest.rows(
                f"SELECT number, title FROM pages WHERE number IN ({placeholders(chunk)})", chunk
            )
        }

    def _neighbours(self, pages: Collection[int]) -> dict[int, list[Neighbour]]:
        """The other ends of the links of some pages, each once, in a fixed order."""
        found: dict[int, dict[int, str]] = {}
        for chunk in chunks(pages):
            marks = placeholders(chunk)
            rows = self._manifest.rows(
                "SELECT links.page, links.resolved, links.target, links.kind, source.path, target.path FROM links "
                "JOIN pages AS source ON source.number = links.page "
                "JOIN pages AS target ON target.number = links.resolved "
                f"WHERE links.page IN ({marks}) OR links.resolved IN ({marks}) "
                "ORDER BY target.path, source.path, links.ordinal",
                (*chunk, *chunk),
            )
            wanted = set(chunk)
            for source, target, written, kind, _, _ in rows:
                if source == target:
                    continue
                label = f"[[{written}]]" if kind in _BODY_KINDS else kind
                if source in wanted:
                    found.setdefault(source, {}).setdefault(target, f"--{label}-->")
                if target in wanted:
                    found.setdefault(target, {}).setdefault(source, f"<--{label}--")
        return {page: list(others.items()) for page, others in found.items()}


def resolve_links(manifest: Manifest, pages: Collection[int], keys: Collection[str]) -> None:
    """Say again which page a link means, for all links of `pages` and all whose target has one of the name `keys`.

    Called inside the transaction that changed those pages or names, so that no reader sees a link to what is gone.
    """
    condition = "links.page IN ({marks}) ", "links.whole_key IN ({marks}) ", "links.last_key IN ({marks}) "
    affected: dict[tuple[int, int], tuple[str, str, str]] = {}
    for clause, values in zip(condition, (pages, keys, keys), strict=True):
        for chunk in chunks(values):
            for page, ordinal, path, target, kind in manifest.rows(
                "SELECT links.page, links.ordinal, pages.path, links.target, links.kind FROM links "
                f"JOIN pages ON pages.number = links.page WHERE {clause.format(marks=placeholders(chunk))}",
                chunk,
            ):
                affected[page, ordinal] = (path, target, kind)
    known: dict[tuple[str, str], list[tuple[int, str]]] = {}

    def lookup(kind: str, key: str) -> list[tuple[int, str]]:
        if (kind, key) not in known:
            known[kind, key] = manifest.named(kind, key)
        return known[kind, key]

    def resolved() -> Iterable[tuple[int | None, bool, int, int]]:
        for (page, ordinal), (path, target, kind) in affected.items():
            number = resolve_link(path, target, kind, lookup)
            yield number, number is None and not is_attachment(target), page, ordinal

    manifest.rows_many("UPDATE links SET resolved = ?, broken = ? WHERE page = ? AND ordinal = ?", list(resolved()))


def _passes(page: int, allowed: Allowed | None) -> bool:
    return allowed is None or allowed.everything or page in allowed
