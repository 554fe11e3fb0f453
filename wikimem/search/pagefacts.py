"""The links that people write as facts of the graph, taken from the index as they are asked for.

`uses:: [[jose]]` on a page, or `uses: "[[jose]]"` in its properties, is an edge of that relation; any other link is
`related_to`. It is stated by the page, with weight 1.0, and holds as long as the page does. Citations (`sources`) are
no edges: they say where a page comes from. Nor are links in what wikimem itself wrote on the page of an entity: that
repeats what others state.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final

from wikimem.errors import Invalid
from wikimem.graph.fold import Fact, fold_edge
from wikimem.graph.naming import make_entity, page_iri
from wikimem.graph.reading import UNKNOWN_TIME
from wikimem.graph.statements import Assertion, Edge
from wikimem.graph.store import GraphStore
from wikimem.graph.validity import date_text
from wikimem.graph.vocabulary import ENTITY_TYPES, RELATIONS, STATED
from wikimem.model.hit import PageRow
from wikimem.text.knownsection import has_known_section, without_known_section

if TYPE_CHECKING:
    from wikimem.index.index import Allowed, Index, LinkRow

_TYPE_OF_PAGE: Final = {
    "decision": "decision",
    "error": "error",
    "pattern": "pattern",
    "preference": "preference",
    "topic": "concept",
    "profile": "project",
}
"""Type of a page -> type of the entity that it is about. Any other page stands in the graph for itself."""
_HIDDEN: Final = frozenset({"quarantined"})
_TURNED: Final = {"supersedes": "succeeded_by"}
"""Properties that say a relation from the other side."""
_SAME: Final = {"superseded_by": "succeeded_by"}
_NO_EDGE: Final = frozenset({"sources"})


def entity_of_page(row: PageRow) -> str:
    """The IRI of what a page is about: an entity of its title, by the page's type, for `entity` pages by their tag (a
    `library`, a `person`; without such a tag a `concept`); else the page itself.
    """
    kind = _TYPE_OF_PAGE.get(row.type)
    if row.type == "entity":
        tags = {tag.casefold() for tag in row.tags}
        kind = next((name for name in ENTITY_TYPES if name in tags), "concept")
    if kind is None:
        return page_iri(row.id)
    try:
        return make_entity(kind, row.title, row.project).iri
    except Invalid:
        return page_iri(row.id)


class PageFacts:
    """Facts from the links of one index's pages in the vault at `root`; `store` keeps what each page is about.

    With `allowed`, as in a search, only those pages are there: neither found, nor walked through, nor believed. Links
    that say no more than that two pages are related are left out then: search walks those by themselves.
    """

    def __init__(
        self, index: Index, store: GraphStore, root: Path, project: str | None, allowed: Allowed | None = None
    ) -> None:
        self._index = index
        self._store = store
        self._project = project.casefold() if project else None
        self._allowed = allowed
        self._rows: dict[str, PageRow | None] = {}
        self._root = root
        self._generated: dict[str, frozenset[tuple[str, str, str]]] = {}
        store.sync_pages(_generation(index), self._all_pages)

    def _all_pages(self) -> Iterator[tuple[str, str, str, str]]:
        for row in self._index.list_pages(None):
            yield row.path, row.revision, entity_of_page(row), row.id

    def row(self, path: str) -> PageRow | None:
        """A page that may be seen; None for one that is gone, hidden or of another project."""
        if path not in self._rows:
            row = self._index.page(path)
            self._rows[path] = row if row is not None and self._may_see(row) else None
        return self._rows[path]

    def hide(self, paths: Iterable[str]) -> None:
        """Leave pages out from now on, as if they were gone."""
        self._rows |= dict.fromkeys(paths)

    def _may_see(self, row: PageRow) -> bool:
        if self._allowed is not None:
            return row.number in self._allowed
        if row.status in _HIDDEN:
            return False
        return self._project is None or row.project is None or row.project.casefold() == self._project

    def rows_of(self, iris: Collection[str]) -> dict[str, list[PageRow]]:
        """The pages that are about each entity."""
        found: dict[str, list[PageRow]] = {}
        for iri, paths in self._store.pages_of(iris).items():
            rows = [row for row in map(self.row, paths) if row is not None]
            if rows:
                found[iri] = rows
        return found

    def facts_of(self, iris: Collection[str]) -> dict[str, Fact]:
        """The facts that links from and to the pages of these entities say, by edge."""
        parts: dict[str, tuple[Edge, list[Assertion]]] = {}
        for paths in self._store.pages_of(iris).values():
            for path in paths:
                for link in (*self._index.links_out(path), *self._index.links_in(path)):
                    made = self._statement(link)
                    if made is not None:
                        edge, assertion = made
                        parts.setdefault(edge.id, (edge, []))[1].append(assertion)
        folded = ((name, fold_edge(edge, said)) for name, (edge, said) in parts.items())
        return {name: fact for name, fact in folded if fact is not None}

    def every_fact(self) -> dict[str, Fact]:
        """The facts of all links."""
        return self.facts_of({entity_of_page(row) for row in self._index.list_pages(None)})

    def link_count(self, path: str) -> int:
        """How many links a page has, in both directions."""
        return len(self._index.links_out(path)) + len(self._index.links_in(path))

    def _statement(self, link: LinkRow) -> tuple[Edge, Assertion] | None:
        if link.resolved is None or link.resolved == link.source or link.kind in _NO_EDGE:
            return None
        name = link.kind.replace("-", "_")
        if self._allowed is not None and _SAME.get(name, name) not in RELATIONS and name not in _TURNED:
            return None
        source, target = self.row(link.source), self.row(link.resolved)
        if source is None or target is None or self._is_generated(link):
            return None
        subject, object_ = entity_of_page(source), entity_of_page(target)
        if name in _TURNED:
            subject, object_, name = object_, subject, _TURNED[name]
        relation = RELATIONS.get(_SAME.get(name, name), RELATIONS["related_to"])
        valid_from, valid_to = _day(source.valid_from), _day(source.valid_to)
        if name == "succeeded_by":
            # That one page replaced another stays true when the newer one ends too.
            valid_from, valid_to = (valid_from, None) if link.kind in _TURNED else (valid_to, None)
        if subject == object_:
            return None
        edge = Edge(subject, relation.iri, object_, valid_from)
        said = frozenset({valid_to}) if valid_to else frozenset[str]()
        assertion = Assertion(
            edge.id,
            page_iri(source.id),
            frozenset({STATED}),
            valid_to=said,
            generated=frozenset({UNKNOWN_TIME}),
        )
        return edge, assertion

    def _is_generated(self, link: LinkRow) -> bool:
        """Whether a link stands only in the section of its page that wikimem wrote."""
        if link.source not in self._generated:
            self._generated[link.source] = _generated_links(self._root / link.source)
        return (link.target, link.fragment, link.kind) in self._generated[link.source]


def _generated_links(file: Path) -> frozenset[tuple[str, str, str]]:
    """Target, fragment and kind of the links of a page that stand only in its generated section."""
    try:
        data = file.read_bytes()
    except OSError:
        return frozenset()
    text = data.decode("utf-8", "surrogateescape")
    if not has_known_section(text):
        return frozenset()
    # Few pages have one; the others are not parsed.
    from wikimem.text.page import parse_page

    rest = without_known_section(text).encode("utf-8", "surrogateescape")
    every, own = (
        frozenset((link.target, link.fragment, link.kind) for link in parse_page(file.name, each).links)
        for each in (data, rest)
    )
    return every - own


def _generation(index: Index) -> str:
    """Names one state of one index: a rebuilt index counts from nothing again, in another file."""
    manifest = index.parts().manifest
    return f"{manifest.path.stat().st_ino}:{manifest.generation()}"


def _day(moment: datetime | None) -> str | None:
    if moment is None:
        return None
    midnight = (moment.hour, moment.minute, moment.second, moment.microsecond) == (0, 0, 0, 0)
    return moment.date().isoformat() if midnight else date_text(moment.isoformat(), moment)
