"""What pages state, kept as assertions of those pages: each cites its page, or its observation, and its words.

    extracted_from(page, known)      what a page states, as Stated; nothing is written
    known_names(wiki)                the names that the vault's pages introduce
    assertions_of(observations, …)   the same for observations that are not on a page yet
    add_stated(view, draft, stated)  write what is new of it into the page's file of triples
    extract_pages(wiki, rows)        all of that for some pages, in one commit
    stated_by(wiki, row, found, who) one edge that was found otherwise, or why it cannot be stated

An assertion counts only while its page says its words, so that what was edited away needs no taking back. What a
person took back is not stated again.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from wikimem.errors import Invalid
from wikimem.graph.extraction.extract import extract, extract_observations
from wikimem.graph.extraction.found import Extracted, Named, Setting
from wikimem.graph.extraction.mentions import Known
from wikimem.graph.extraction.sentences import Observed
from wikimem.graph.files import ATTRIBUTES, ATTRIBUTES_PATH, page_file, with_triples
from wikimem.graph.naming import Entity, make_entity, page_id_of, page_iri, parse_entity_iri
from wikimem.graph.statements import Assertion, Edge, digest, entity_triples, time_text
from wikimem.graph.vocabulary import RELATIONS
from wikimem.memory.generated import without_generated
from wikimem.memory.linksources import AGENT, QUOTED
from wikimem.model.hit import PageRow
from wikimem.search.graphview import GraphView, open_view
from wikimem.search.pagefacts import entity_of_page
from wikimem.text.triples import Triple

if TYPE_CHECKING:
    from wikimem.vault.draft import Draft
    from wikimem.wiki import Wiki

EXTRACTION: Final = AGENT + "extraction"
"""Who states what rules found: neither the person nor the agent who had the page read."""
HIDDEN: Final = frozenset({"quarantined"})
"""Status of pages that nothing is extracted from."""
SECRET: Final = "what looks like a secret"
NO_NAME: Final = "what is no name"
ITSELF: Final = "an edge from a thing to itself"
UNFIT: Final = "a relation that does not join such things"
_DATED: Final = frozenset({"uses", "rejected", "prefers", "avoids", "succeeded_by"})
"""Relations that begin when the decision that states them does."""


class Stated(Struct, frozen=True):
    """An edge, what is asserted of it, and its two ends as they are called."""

    found: Extracted
    edge: Edge
    assertion: Assertion
    ends: tuple[Entity, Entity]

    def triples(self) -> Iterator[Triple]:
        """All that its file needs."""
        yield from self.edge.triples()
        yield from self.assertion.triples()
        for end in self.ends:
            yield from entity_triples(end)


class FromPage(Struct, frozen=True):
    """What one page states; `fresh` are those edges that its file did not hold before."""

    row: PageRow
    stated: tuple[Stated, ...]
    fresh: tuple[Stated, ...]


class Done(Struct, frozen=True):
    """What was found on each page, and the commit; None where nothing was new, or nothing was to be written."""

    pages: tuple[FromPage, ...]
    commit: str | None


def extract_pages(
    wiki: Wiki, rows: Sequence[PageRow], *, dry_run: bool = False, more: Mapping[str, Sequence[Stated]] | None = None
) -> Done:
    """Extract from pages, and commit what is new as assertions of each; with `dry_run` nothing is written.

    `more` is what was found otherwise, by path: it counts where rules did not find the same edge on that page.
    """
    known = known_names(wiki)
    found = {row.path: extracted_from(wiki, row, known) for row in rows if row.status not in HIDDEN}
    for path, stated in found.items():
        edges = {each.edge.id for each in stated}
        stated += [each for each in (more or {}).get(path, ()) if each.edge.id not in edges]
    with open_view(wiki) as view:
        if dry_run:
            return Done(tuple(_of_page(view, row, found[row.path]) for row in rows if row.path in found), None)
        with wiki.transaction("extract") as draft:
            view.store.sync(wiki.root)
            pages = tuple(_of_page(view, row, found[row.path]) for row in rows if row.path in found)
            for page in pages:
                add_stated(view, draft, page.fresh)
            changed = [page.row for page in pages if page.fresh]
            count = sum(len(page.fresh) for page in pages)
            what = changed[0].title if len(changed) == 1 else f"{len(changed)} pages"
            draft.subject = f"extract: {count} statement{'s' if count != 1 else ''} of {what}"
            draft.pages = [row.id for row in changed]
    return Done(pages, draft.committed.commit if draft.committed else None)


def extracted_from(wiki: Wiki, row: PageRow, known: Known) -> list[Stated]:
    """What a page states as it is on disk now; nothing where it is gone, or holds an unresolved merge."""
    page = wiki.read_page(row.path)
    if page is None or page.has_conflict:
        return []
    found = extract(without_generated(page.body), setting_of(row), known)
    return list(_stated(wiki, row, found))


def assertions_of(
    wiki: Wiki, row: PageRow, observations: Sequence[Observed], known: Known | None = None
) -> list[Stated]:
    """What observations of a session state; `row` is their page's, which need not be indexed yet.

    Only its id, type, title, project and valid_from are used. Write them with `add_stated`, in the draft that writes
    the page: an assertion counts while the page says its words.
    """
    found = extract_observations(observations, setting_of(row), known_names(wiki) if known is None else known)
    return list(_stated(wiki, row, found))


def add_stated(view: GraphView, draft: Draft, stated: Iterable[Stated]) -> int:
    """Add to the draft what the pages' files do not hold yet; how many statements that were.

    What was taken back stays so, and a forgotten page's file takes nothing.
    """
    by_file: dict[str, list[Stated]] = {}
    for each in stated:
        if _is_fresh(view, each):
            page_id = each.assertion.source.removeprefix(page_iri("")).partition("#")[0]
            by_file.setdefault(page_file(page_id), []).append(each)
    for path, own in by_file.items():
        data = draft.read(path) if draft.exists(path) else b""
        draft.put(path, with_triples(data, (triple for each in own for triple in each.triples())))
    if by_file and not draft.exists(ATTRIBUTES_PATH):
        draft.put(ATTRIBUTES_PATH, ATTRIBUTES)
    return sum(map(len, by_file.values()))


def known_names(wiki: Wiki) -> dict[str, Named]:
    """The names of things that pages are about, casefolded: titles and aliases. A name of two things names neither."""
    found: dict[str, set[Named]] = {}
    for row in wiki.index.list_pages(None):
        entity = parse_entity_iri(entity_of_page(row))
        if entity is None or row.status in HIDDEN:
            continue
        named = Named(entity.type, row.title)
        for name in (row.title, *row.aliases):
            found.setdefault(name.casefold(), set()).add(named)
    return {name: next(iter(named)) for name, named in found.items() if len(named) == 1}


def setting_of(row: PageRow) -> Setting:
    """What a page is about, for the rules that need to know."""
    entity = parse_entity_iri(entity_of_page(row))
    about = {entity.type: Named(entity.type, row.title)} if entity else {}
    project = about.get("project") or (Named("project", row.project) if row.project else None)
    return Setting(about.get("decision"), about.get("error"), project, about.get("file"))


def stated_by(wiki: Wiki, row: PageRow, each: Extracted, who: str) -> Stated | str:
    """What was found on a page as `who` (an IRI) states it, or, in words, what it is that is not stated."""
    said = (each.quote, each.reasoning, each.subject.name, each.object.name, *each.alternatives)
    if any(wiki.redactor.mask(text) != text for text in said):
        return SECRET
    try:
        subject, object_ = (make_entity(end.type, end.name, row.project) for end in (each.subject, each.object))
    except Invalid:
        return NO_NAME
    if subject.iri == object_.iri:
        return ITSELF
    if not _fits(each.relation, subject, object_):
        return UNFIT
    begins = row.valid_from if row.type == "decision" and each.relation in _DATED else None
    edge = Edge(subject.iri, RELATIONS[each.relation].iri, object_.iri, begins.date().isoformat() if begins else None)
    return Stated(each, edge, _assertion(row, edge, each, who, time_text(wiki.clock())), (subject, object_))


def _stated(wiki: Wiki, row: PageRow, found: Iterable[Extracted]) -> Iterator[Stated]:
    for each in found:
        stated = stated_by(wiki, row, each, EXTRACTION)
        if isinstance(stated, Stated):
            yield stated


def _assertion(row: PageRow, edge: Edge, found: Extracted, who: str, time: str) -> Assertion:
    quote = " ".join(found.quote.split())
    fragment = f"#%5E{found.block}" if found.block else f"#{QUOTED}{digest(quote)[:12]}"
    return Assertion(
        edge.id,
        page_iri(row.id) + fragment,
        weights=frozenset({found.weight}),
        quotes=frozenset({quote}),
        reasoning=frozenset({found.reasoning}) if found.reasoning else frozenset(),
        alternatives=frozenset(found.alternatives),
        generated=frozenset({time}),
        by=frozenset({who}),
        projects=frozenset({row.project}) if row.project else frozenset(),
    )


def _fits(relation: str, subject: Entity, object_: Entity) -> bool:
    allowed = RELATIONS[relation]
    return (not allowed.subjects or subject.type in allowed.subjects) and (
        not allowed.objects or object_.type in allowed.objects
    )


def _of_page(view: GraphView, row: PageRow, stated: Collection[Stated]) -> FromPage:
    return FromPage(row, tuple(stated), tuple(each for each in stated if _is_fresh(view, each)))


def _is_fresh(view: GraphView, stated: Stated) -> bool:
    """Whether its source has not stated the edge before, be it taken back since or not.

    What rules did not find may be quoted in other words each time, so there the page as a whole is the source.
    """
    known = view.store.assertions_of(stated.edge.id)
    if EXTRACTION in stated.assertion.by:
        return stated.assertion.source not in known
    return page_id_of(stated.assertion.source) not in map(page_id_of, known)
