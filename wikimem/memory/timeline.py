"""What happened to an entity, a page or a topic, from the validity of edges and pages."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from wikimem.errors import Invalid, NotFound
from wikimem.graph.validity import date_text, moment_of, sort_key
from wikimem.graph.words import fact_in_words
from wikimem.memory.linksources import source_in_words

if TYPE_CHECKING:
    from wikimem.model.hit import PageRow
    from wikimem.search.graphview import GraphView

MOST_PAGES: Final = 10
"""Pages that words are taken to be about."""
_Place = tuple[datetime, int]
"""A moment, and the order of what happened then: other things end, things begin, what began then ends."""


class Happened(Struct, frozen=True):
    """One thing: `time` as exactly as it was stated, `kind` began, ended or created."""

    time: str
    kind: str
    title: str
    text: str
    source: str


class Timeline(Struct, frozen=True):
    """In the order of time; `undated` are edges of which no date is known."""

    about: str
    entries: tuple[Happened, ...]
    undated: tuple[str, ...]


def timeline_of(view: GraphView, about: str, *, start: datetime | None, end: datetime | None) -> Timeline:
    """The timeline of the entity or page that `about` names, else of the pages that those words find.

    Raises NotFound where they find none, Invalid for a name of several entities.
    """
    try:
        iri = view.find(about)
    except NotFound:
        pages = _pages_for(view, about)
        if not pages:
            raise
        return _timeline(view, about, [], pages, start, end)
    pages = [row for member in view.members([iri]) for row in view.pages.rows_of([member]).get(member, [])]
    return _timeline(view, view.describe(iri, moment_of(None, view.wiki.clock())).in_words(), [iri], pages, start, end)


def _timeline(
    view: GraphView,
    about: str,
    entities: list[str],
    pages: Iterable[PageRow],
    start: datetime | None,
    end: datetime | None,
) -> Timeline:
    now = moment_of(None, view.wiki.clock())
    entries: list[tuple[_Place, Happened]] = []
    undated: list[str] = []
    for fact in view.facts_of(entities).values():
        words = fact_in_words(fact, lambda iri: view.describe(iri, now))
        last, first = (source_in_words(view, fact.sources[place]) for place in (0, -1))
        if fact.valid_from:
            began = Happened(fact.valid_from, "began", words, fact.reasoning, first)
            entries.append((_place(fact.valid_from), began))
        if fact.valid_to:
            ended = Happened(fact.valid_to, "ended", words, fact.reasoning, last)
            entries.append((place_of_end(fact.valid_from, fact.valid_to), ended))
        if not fact.valid_from and not fact.valid_to:
            undated.append(words)
    for row in pages:
        entries += _of_page(row)
    kept = [(place, each) for place, each in entries if _within(each.time, start, end)]
    kept.sort(key=lambda entry: (*entry[0], entry[1].title))
    return Timeline(about, tuple(each for _, each in kept), tuple(sorted(undated)))


def place_of_end(valid_from: str | None, valid_to: str) -> tuple[datetime, int]:
    """Where an end stands in the order of time: before what begins at that moment, but after its own beginning.

    An end of `2025-06` may come after a beginning on 2025-06-10, though June began before that day.
    """
    end = sort_key(valid_to)
    if valid_from and end <= sort_key(valid_from):
        return sort_key(valid_from), 2
    return end, 0


def _place(time: str) -> _Place:
    return sort_key(time), 1


def _of_page(row: PageRow) -> list[tuple[_Place, Happened]]:
    said = f"{row.type}, {row.status}"
    begun = row.valid_from or row.created
    start = _text(begun) if begun else None
    found: list[tuple[_Place, Happened]] = []
    if start:
        kind = "began" if row.valid_from else "created"
        found.append((_place(start), Happened(start, kind, row.title, said, row.path)))
    if row.valid_to:
        end = _text(row.valid_to)
        since = _text(row.valid_from) if row.valid_from else None
        found.append((place_of_end(since, end), Happened(end, "ended", row.title, said, row.path)))
    return found


def _text(moment: datetime) -> str:
    midnight = (moment.hour, moment.minute, moment.second) == (0, 0, 0)
    return moment.date().isoformat() if midnight else date_text(moment.isoformat(timespec="seconds"), moment)


def _within(time: str, start: datetime | None, end: datetime | None) -> bool:
    moment = sort_key(time)
    return (start is None or moment >= start) and (end is None or moment < end)


def _pages_for(view: GraphView, words: str) -> list[PageRow]:
    from wikimem.search.filters import ANY, make_filter
    from wikimem.search.search import search

    if not words.strip():
        raise Invalid("about: there is nothing to look for", hint="Name an entity, a page, or words.")
    wiki = view.wiki
    where = make_filter(now=wiki.clock(), status=ANY, project=view.project)
    found = search(
        wiki.index,
        words,
        where,
        now=wiki.clock(),
        read_page=wiki.page_to_recall,
        mask=wiki.redactor.mask,
        limit=MOST_PAGES,
    )
    rows = [view.pages.row(hit.path) for hit in found.hits]
    return [row for row in rows if row is not None]
