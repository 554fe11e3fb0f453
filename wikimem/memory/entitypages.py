"""The pages of entities: what the graph knows of each, in a section that wikimem writes; all else is the person's own.

A page is written for an entity that has earned it: one that has an `entity` page already, or that at least three
independent sources speak of. Files, functions and errors get no page made for them: the code base has them.
A section says nothing that nobody states any more: `write_entity_pages` visits every page that has one, and
`renew_sections` brings those up to date that a write takes something from, in its own commit.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from wikimem.errors import Conflict, Invalid
from wikimem.graph.fold import Fact
from wikimem.graph.naming import page_id_of, parse_entity_iri
from wikimem.graph.statements import Assertion
from wikimem.graph.validity import moment_of, sort_key
from wikimem.graph.vocabulary import GUESSED, RELATIONS, relation_name
from wikimem.graph.words import validity_in_words
from wikimem.memory.generated import renewed
from wikimem.memory.linksources import source_in_words
from wikimem.memory.remember import link_target
from wikimem.memory.timeline import place_of_end
from wikimem.search.graphview import GraphView, open_view
from wikimem.search.pagefacts import entity_of_page
from wikimem.text.ids import new_ulid
from wikimem.text.knownsection import has_known_section
from wikimem.text.page import parse_page, render_page

if TYPE_CHECKING:
    from wikimem.graph.store import GraphStore
    from wikimem.model.hit import PageRow
    from wikimem.vault.draft import Draft
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
    visited: set[str] = set()
    for entity in _entities(view):
        row = view.page_of(entity.iri)
        content = _section(wiki, view, entity, now)
        if row is None:
            if content and _has_earned(view, entity):
                made = _new_page(wiki, view, entity, content)
                if made is not None:
                    yield made
        elif row.type == "entity":
            visited.add(row.path)
            yield from _rewritten(row.path, (wiki.root / row.path).read_bytes(), content)
    for row in wiki.index.list_pages(None):
        # Of what a page is about nothing may be known any more, or another page may have become that of its entity.
        page = None if row.path in visited else wiki.read_page(row.path)
        if page is not None and has_known_section(page.text):
            yield from _rewritten(row.path, (wiki.root / row.path).read_bytes(), "")


def _rewritten(path: str, data: bytes, content: str) -> Iterator[tuple[str, bytes | None]]:
    """The page with its section as it should be; nothing where that changes nothing."""
    page = parse_page(path, data)
    if not page.writable or page.has_conflict:
        return
    changed = renewed(page.text, content)
    if changed.theirs:
        yield path, None
    elif changed.text != page.text:
        bom = b"\xef\xbb\xbf" if data.startswith(b"\xef\xbb\xbf") else b""
        yield path, bom + changed.text.encode()


class _Afterwards(GraphView):
    """The graph as it is once a write under way is done: without some pages, or without one assertion."""

    def __init__(self, wiki: Wiki, store: GraphStore, gone: Sequence[PageRow], taken: Assertion | None) -> None:
        super().__init__(wiki, store)
        self._gone = {row.id for row in gone}
        self._taken = taken
        self.pages.hide(row.path for row in gone)

    def counts(self, assertion: Assertion) -> bool:
        if page_id_of(assertion.source) in self._gone:
            return False
        taken = self._taken
        if taken is not None and (assertion.edge, assertion.source) == (taken.edge, taken.source):
            return False
        return super().counts(assertion)


def renew_sections(
    wiki: Wiki,
    draft: Draft,
    view: GraphView,
    entities: Iterable[str],
    *,
    gone: Sequence[PageRow] = (),
    taken: Assertion | None = None,
) -> frozenset[str]:
    """Bring the sections of these entities' pages up to date with what `draft` does: it removes `gone`, or takes back
    the assertion `taken`. Gives the paths that changed. A section that somebody edited stays as it is, and a note
    names its page.
    """
    after = _Afterwards(wiki, view.store, gone, taken)
    now = moment_of(None, wiki.clock())
    done: set[str] = set()
    rows = {row.path: row for iri in entities for seen in (view, after) for row in [seen.page_of(iri)] if row}
    for path, row in sorted(rows.items()):
        if not draft.exists(path):
            continue
        data = draft.read(path)
        if not has_known_section(data.decode("utf-8", "replace")):
            continue
        iri = after.root(entity_of_page(row))
        own = after.page_of(iri)
        content = _section(wiki, after, _entity(after, iri), now) if own is not None and own.path == path else ""
        for _, changed in _rewritten(path, data, content):
            if changed is None:
                wiki.notes.append(f"'{path}' may still say it: somebody edited the section that wikimem wrote there")
            else:
                draft.put(path, changed)
                done.add(path)
    return frozenset(done)


def _entity(view: GraphView, iri: str) -> _Entity:
    """One entity with what is stated of it."""
    facts = view.store.facts_of(view.members([iri]), view.counts)
    return _Entity(iri, {name: fact for name, fact in sorted(facts.items()) if _is_told(fact)})


def _is_told(fact: Fact) -> bool:
    return fact.weight > GUESSED and relation_name(fact.edge.predicate) in RELATIONS


def _entities(view: GraphView) -> list[_Entity]:
    """Every entity with what is stated of it in so many words; the links of pages are there to be seen anyway."""
    found: dict[str, _Entity] = {}
    for name, fact in sorted(view.store.facts(view.counts).items()):
        if not _is_told(fact):
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
    # Masked before signs are put apart: a secret with a blank in it would not be known for one.
    said = f" ({_plain(links.wiki.redactor.mask(fact.reasoning))})" if fact.reasoning else ""
    since = validity_in_words(fact.valid_from, fact.valid_to)
    return f"- {_said(view, links, iri, fact)}{said}{f', {since}' if since else ''}"


def _said(view: GraphView, links: _Links, iri: str, fact: Fact) -> str:
    """The fact from the side of an entity: `is used by [[auth.ts]]`."""
    name = relation_name(fact.edge.predicate)
    forward = view.root(fact.edge.subject) == iri
    other = fact.edge.object if forward else fact.edge.subject
    return f"{name.replace('_', ' ') if forward else _INVERSE[name]} {links.entity(str(other))}"


def _dated(
    view: GraphView, links: _Links, iri: str, facts: Iterable[Fact]
) -> Iterator[tuple[tuple[str, int, str], str]]:
    for fact in facts:
        words = _said(view, links, iri, fact)
        if fact.valid_from:
            yield (sort_key(fact.valid_from).isoformat(), 1, words), f"- {fact.valid_from}: {words}"
        if fact.valid_to:
            place, order = place_of_end(fact.valid_from, fact.valid_to)
            yield (place.isoformat(), order, words), f"- {fact.valid_to}: ended: {words}"


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


_SIGNS: Final = re.compile(
    r"\[(?=\[)|\](?=[\](])|%(?=%)|\$(?=\$)|:(?=:)|<(?=[A-Za-z/!?])|(?<![^\s(\[])#(?=[^\s\d])|(?<!\S)\^(?=\w)"
)
"""What begins a link, a comment, a field, a formula, markup, a tag or the name of a block, with what follows it."""


def _plain(text: str) -> str:
    """A name or a reason as a line of Markdown may hold it: it says what it says, and does nothing."""
    return " ".join(_SIGNS.sub(lambda match: f"{match[0]} ", text.replace("|", "/")).split())
