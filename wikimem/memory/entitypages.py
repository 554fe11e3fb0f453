"""The pages of entities: what the graph knows of each, in a section that wikimem writes; all else is the person's own.

A page is written for an entity that has earned it: one that has an `entity` page already, or that at least three
independent sources speak of. Files, functions and errors get no page made for them: the code base has them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from wikimem.errors import Conflict, Invalid
from wikimem.graph.fold import Fact
from wikimem.graph.naming import page_id_of, parse_entity_iri
from wikimem.graph.validity import moment_of, sort_key
from wikimem.graph.vocabulary import GUESSED, RELATIONS, relation_name
from wikimem.graph.words import validity_in_words
from wikimem.memory.generated import renewed
from wikimem.memory.linksources import source_in_words
from wikimem.memory.remember import link_target
from wikimem.search.graphview import GraphView, open_view
from wikimem.text.ids import new_ulid
from wikimem.text.page import parse_page, render_page

if TYPE_CHECKING:
    from wikimem.model.hit import PageRow
    from wikimem.wiki import Wiki

LEAST_SOURCES: Final = 3
"""Independent sources that must speak of an entity before a page is made for it."""
MOST_RELATIONS: Final = 40
MOST_SOURCES: Final = 20
_MADE: Final = frozenset({"library", "person", "concept", "organization", "location", "event"})
"""Types of entities that a page is made for."""
_INVERSE: Final = {relation.name: relation.inverse for relation in RELATIONS.values()}


class Written(Struct, frozen=True):
    """Paths of pages that were written or would be; `theirs` are those whose section somebody edited."""

    pages: tuple[str, ...]
    theirs: tuple[str, ...]
    commit: str | None


@dataclass(slots=True)
class _Entity:
    """What is known of one entity, by edge."""

    iri: str
    facts: dict[str, Fact] = field(default_factory=dict)

    @property
    def sources(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(source for fact in self.facts.values() for source in fact.sources))


def write_entity_pages(wiki: Wiki, *, dry_run: bool = False) -> Written:
    """Bring the sections up to date, in one commit; none where nothing changed."""
    with open_view(wiki) as view:
        planned = list(_planned(wiki, view))
        theirs = tuple(path for path, data in planned if data is None)
        changes = [(path, data) for path, data in planned if data is not None]
        paths = tuple(path for path, _ in changes)
        if dry_run or not changes:
            return Written(paths, theirs, None)
        with wiki.transaction("extract") as draft:
            # Read again under the lock: somebody may have written in the meantime.
            changes = [(path, data) for path, data in _planned(wiki, view) if data is not None]
            for path, data in changes:
                draft.put(path, data)
            draft.subject = f"extract: what is known of {len(changes)} entit{'ies' if len(changes) != 1 else 'y'}"
            draft.pages = [page.id for path, data in changes if (page := parse_page(path, data)).id]
    return Written(tuple(path for path, _ in changes), theirs, draft.committed.commit if draft.committed else None)


def _planned(wiki: Wiki, view: GraphView) -> Iterator[tuple[str, bytes | None]]:
    """Path and new bytes of each page that changes; None for bytes that are a person's."""
    now = moment_of(None, wiki.clock())
    for entity in _entities(view):
        row = view.page_of(entity.iri)
        content = _section(wiki, view, entity, now)
        if row is None:
            if content and _has_earned(view, entity):
                made = _new_page(wiki, view, entity, content)
                if made is not None:
                    yield made
        elif row.type == "entity":
            data = (wiki.root / row.path).read_bytes()
            page = parse_page(row.path, data)
            if not page.writable or page.has_conflict:
                continue
            changed = renewed(page.text, content)
            if changed.theirs:
                yield row.path, None
            elif changed.text != page.text:
                bom = b"\xef\xbb\xbf" if data.startswith(b"\xef\xbb\xbf") else b""
                yield row.path, bom + changed.text.encode()


def _entities(view: GraphView) -> list[_Entity]:
    """Every entity with what is stated of it in so many words; the links of pages are there to be seen anyway."""
    found: dict[str, _Entity] = {}
    for name, fact in sorted(view.store.facts(view.counts).items()):
        if fact.weight <= GUESSED or relation_name(fact.edge.predicate) not in RELATIONS:
            continue
        for end in {view.root(iri) for iri in (fact.edge.subject, fact.edge.object) if isinstance(iri, str)}:
            if parse_entity_iri(end) is not None:
                found.setdefault(end, _Entity(end)).facts[name] = fact
    return [found[iri] for iri in sorted(found)]


def _has_earned(view: GraphView, entity: _Entity) -> bool:
    known = parse_entity_iri(entity.iri)
    pages = {page_id_of(source) or source for source in entity.sources}
    return known is not None and known.type in _MADE and len(pages) >= LEAST_SOURCES and bool(view.label(entity.iri))


def _new_page(wiki: Wiki, view: GraphView, entity: _Entity, content: str) -> tuple[str, bytes] | None:
    from wikimem.vault.layout import page_path

    known = parse_entity_iri(entity.iri)
    assert known is not None
    title = wiki.redactor.mask(view.label(entity.iri))
    try:
        path = page_path("entity", title, known.project, wiki.root)
    except (Conflict, Invalid):
        return None
    now = wiki.clock()
    properties: dict[str, str | tuple[str, ...] | bool | float | int] = {
        "id": new_ulid(now),
        "type": "entity",
        "title": title,
        "status": "active",
        "created": now.replace(microsecond=0, tzinfo=None).isoformat(),
        **({"project": known.project} if known.project else {}),
        "trust": "agent",
        "tags": (known.type,),
    }
    return path, renewed(render_page(properties, "").decode(), content).text.encode()


def _section(wiki: Wiki, view: GraphView, entity: _Entity, now: datetime) -> str:
    """The lines of the section; empty where nothing is known."""
    links = _Links(wiki, view)
    facts = sorted(
        entity.facts.values(), key=lambda fact: (-fact.weight, relation_name(fact.edge.predicate), fact.edge.id)
    )
    held = [fact for fact in facts if fact.holds(now) != "no"]
    lines = ["## Known", ""]
    told = {_said(view, links, entity.iri, fact) for fact in held if fact.valid_from}
    held = [fact for fact in held if fact.valid_from or _said(view, links, entity.iri, fact) not in told]
    lines += list(dict.fromkeys(_relation(view, links, entity.iri, fact) for fact in held))[:MOST_RELATIONS]
    dated = [*_dated(view, links, entity.iri, facts)]
    if dated:
        lines += ["", "Timeline:", "", *dict.fromkeys(line for _, line in sorted(dated))]
    own = {path for path in [links.own(entity.iri)] if path}
    sources = sorted({links.source(source) for source in entity.sources if links.page(source) not in own} - {""})
    if sources:
        lines += ["", f"Sources: {', '.join(sources[:MOST_SOURCES])}"]
    return wiki.redactor.mask("\n".join(lines) + "\n") if held or dated else ""


def _relation(view: GraphView, links: _Links, iri: str, fact: Fact) -> str:
    said = f" ({' '.join(fact.reasoning.split())})" if fact.reasoning else ""
    since = validity_in_words(fact.valid_from, fact.valid_to)
    return f"- {_said(view, links, iri, fact)}{said}{f', {since}' if since else ''}"


def _said(view: GraphView, links: _Links, iri: str, fact: Fact) -> str:
    """The fact from the side of an entity: `is used by [[auth.ts]]`."""
    name = relation_name(fact.edge.predicate)
    forward = view.root(fact.edge.subject) == iri
    other = fact.edge.object if forward else fact.edge.subject
    return f"{name.replace('_', ' ') if forward else _INVERSE[name]} {links.entity(str(other))}"


def _dated(view: GraphView, links: _Links, iri: str, facts: Iterable[Fact]) -> Iterator[tuple[tuple[str, str], str]]:
    for fact in facts:
        words = _said(view, links, iri, fact)
        if fact.valid_from:
            yield (sort_key(fact.valid_from).isoformat(), words), f"- {fact.valid_from}: {words}"
        if fact.valid_to:
            yield (sort_key(fact.valid_to).isoformat(), words), f"- {fact.valid_to}: ended: {words}"


class _Links:
    """How entities and sources are written: a wikilink where there is a page, else the name."""

    def __init__(self, wiki: Wiki, view: GraphView) -> None:
        self.wiki = wiki
        self.view = view
        self._rows: dict[str, PageRow | None] = {}

    def own(self, iri: str) -> str | None:
        row = self._row(iri)
        return row.path if row else None

    def entity(self, iri: str) -> str:
        row = self._row(self.view.root(iri))
        return self._link(row) if row else _plain(self.view.label(iri))

    def page(self, source: str) -> str | None:
        page_id = page_id_of(source)
        return self.view.store.paths_of_ids([page_id]).get(page_id) if page_id else None

    def source(self, source: str) -> str:
        path = self.page(source)
        row = self.view.pages.row(path) if path else None
        return self._link(row) if row else "" if path else _plain(source_in_words(self.view, source))

    def _row(self, iri: str) -> PageRow | None:
        if iri not in self._rows:
            self._rows[iri] = self.view.page_of(iri)
        return self._rows[iri]

    def _link(self, row: PageRow) -> str:
        target = link_target(self.wiki, row)
        return f"[[{target}]]" if target == row.title else f"[[{target}|{_plain(row.title)}]]"


def _plain(text: str) -> str:
    """A name as a line of Markdown may hold it."""
    return " ".join(text.replace("[[", "[ [").replace("]]", "] ]").replace("|", "/").replace("%%", "% %").split())
