"""Reads the notes of basic-memory: Markdown pages with lines for relations and, if they are wanted, observations.

    - depends_on [[Other note]] (why)      a relation; without a name it is `related_to`
    - [method] what was observed (where)   an observation: a property `method` of the note's entity

Each note is an entity: of its type where that is one of ours, else a concept. Lines within code are passed by.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from wikimem.graph.incoming.edges import Incoming, Reading, cut, entity_or_why, property_name, related_between
from wikimem.graph.naming import Entity
from wikimem.graph.vocabulary import ENTITY_TYPES, RELATIONS
from wikimem.model.page import Page
from wikimem.text.lazyregex import lazily
from wikimem.text.page import parse_page
from wikimem.text.triples import Literal

_FENCE: Final = lazily(r"[ \t]*(```+|~~~+)")
_RELATION: Final = lazily(r"[ \t]*[-*+][ \t]+(?!\[[ xX-]\][ \t])([^\[\]]*)\[\[([^\[\]]+)\]\][ \t]*(?:\((.*)\))?[ \t]*")
_OBSERVATION: Final = lazily(r"[ \t]*[-*+][ \t]+\[([^\[\]\s][^\[\]]*)\][ \t]+(\S.*)")
_TASKS: Final = frozenset({"x", "X", "-", "/"})
_CONTEXT: Final = lazily(r"(.*\S)[ \t]+\(([^()]*)\)[ \t]*")
_PERMALINK: Final = "permalink"


def read_notes(
    notes: Sequence[tuple[str, bytes]], source: str, project: str | None, *, observations: bool = False
) -> Reading:
    """What notes state; each is its path from the imported folder and its bytes. `source` + path names a note."""
    pages = [parse_page(path, data) for path, data in sorted(notes)]
    found = Reading(files=len(pages))
    entities = {page.path: _entity(page, project, found) for page in pages}
    known: dict[str, Entity] = {}
    for page in pages:
        entity = entities[page.path]
        for name in _names(page) if entity else ():
            known.setdefault(name, entity)  # type: ignore[arg-type]
    left = 0
    for page in pages:
        entity = entities[page.path]
        if entity is None or page.has_conflict:
            if page.has_conflict:
                found.skip(page.path, "it holds the markers of an unresolved merge")
            continue
        for number, line in _lines(page):
            place = f"{page.path}:{number}"
            relation = _RELATION.fullmatch(line)
            if relation:
                _relate(found, entity, relation.groups(), known, place, f"{source}{page.path}", line, project)
                continue
            seen = _OBSERVATION.fullmatch(line)
            if seen and seen[1] not in _TASKS:
                if observations:
                    _observe(found, entity, seen[1], seen[2], place, f"{source}{page.path}", line)
                else:
                    left += 1
    if left:
        found.skip(f"{left} observations", "they are taken as properties with --observations")
    return found


def _entity(page: Page, project: str | None, found: Reading) -> Entity | None:
    written = page.properties.get("type")
    kind = written.casefold() if isinstance(written, str) else ""
    entity = entity_or_why(kind if kind in ENTITY_TYPES else "concept", page.title, project)
    if isinstance(entity, str):
        found.skip(page.path, entity)
        return None
    return entity


def _names(page: Page) -> Iterator[str]:
    """All that a link may call a note: its title, its path with and without folders, its permalink."""
    stem = page.path.removesuffix(".md")
    permalink = page.properties.get(_PERMALINK)
    for name in (page.title, stem, stem.rpartition("/")[2], permalink if isinstance(permalink, str) else ""):
        if name:
            yield name.casefold()


def _lines(page: Page) -> Iterator[tuple[int, str]]:
    first = page.text.count("\n", 0, page.body_start) + 1
    fence = ""
    for number, line in enumerate(page.body.split("\n"), first):
        mark = _FENCE.match(line)
        if mark and not fence:
            fence = mark[1]
        elif mark and mark[1].startswith(fence):
            fence = ""
        elif not fence:
            yield number, line.rstrip("\r")


def _relate(
    found: Reading,
    subject: Entity,
    said: tuple[str, ...],
    known: Mapping[str, Entity],
    place: str,
    source: str,
    line: str,
    project: str | None,
) -> None:
    written, target, context = said
    name = target.partition("|")[0].partition("#")[0].strip().removesuffix(".md")
    object_ = known.get(name.casefold()) or entity_or_why("concept", name.rpartition("/")[2], project)
    if isinstance(object_, str):
        found.skip(place, object_)
        return
    relation, first, second = related_between(written.strip().strip("\"'"), subject, object_)
    if relation.words:
        found.reworded[relation.words] += 1
    reasons = [cut(text) for text in (relation.words, context or "") if text.strip()]
    found.edges.append(
        Incoming(
            first.iri,
            RELATIONS[relation.name].iri,
            second.iri,
            place,
            source,
            (first, second),
            reasoning=(": ".join(reasons),) if reasons else (),
            quotes=(cut(line.strip().lstrip("-*+")),),
        )
    )


def _observe(found: Reading, entity: Entity, category: str, text: str, place: str, source: str, line: str) -> None:
    predicate = property_name(category) or property_name("observation")
    assert predicate is not None
    context = _CONTEXT.fullmatch(text)
    value, why = (context[1], context[2]) if context else (text, "")
    found.edges.append(
        Incoming(
            entity.iri,
            predicate,
            Literal(cut(value)),
            place,
            source,
            (entity,),
            reasoning=(cut(why),) if why.strip() else (),
            quotes=(cut(line.strip().lstrip("-*+")),),
        )
    )
