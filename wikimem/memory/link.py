"""link: state an edge, end it, or take it back; in one commit, and only ever by adding lines."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from wikimem.errors import Conflict, Invalid, NotFound, Refused
from wikimem.graph.files import ATTRIBUTES, ATTRIBUTES_PATH, installation_file, page_file, with_triples
from wikimem.graph.fold import Fact, fold_edge
from wikimem.graph.naming import Entity, make_entity, page_id_of, parse_entity_iri
from wikimem.graph.statements import Assertion, Edge, Ending, entity_triples, time_text
from wikimem.graph.validity import date_text, ends_before_start, overlap, sort_key
from wikimem.graph.vocabulary import ENTITY_TYPES, NAMING, OPEN_END, PROPERTY, RELATIONS, SAME_AS, STATED
from wikimem.memory.entitypages import renew_sections
from wikimem.memory.linksources import PERSON, Source, attributed_to, installation_of, source_of
from wikimem.search.graphview import GraphView, open_view
from wikimem.search.pagefacts import entity_of_page
from wikimem.text.triples import Literal, Term, Triple

if TYPE_CHECKING:
    from wikimem.vault.draft import Draft
    from wikimem.wiki import Wiki

_PROPERTY_PREFIX: Final = "property:"
_PROPERTY_NAME: Final = re.compile(r"[a-z][a-z0-9_]{0,39}")
_MOST_TEXT: Final = 2_000
"""Characters of a reasoning, a quote, an alternative or a value."""


class Statement(Struct, frozen=True):
    """What is to be stated, as the caller gave it; dates may be words. `retract` takes it back instead."""

    subject: str
    relation: str
    object: str
    weight: float = STATED
    valid_from: str | None = None
    valid_to: str | None = None
    reasoning: str | None = None
    alternatives: Sequence[str] = ()
    source: str | None = None
    project: str | None = None
    quote: str | None = None
    sentiment: str | None = None
    retract: bool = False


class Linked(Struct, frozen=True):
    """The edge, and what it is now; `fact` is None where no assertion of it lives. `existing`: nothing was new."""

    edge: Edge
    fact: Fact | None
    commit: str | None
    existing: bool


def link(wiki: Wiki, statement: Statement) -> Linked:
    """State an edge from one source. Stating it again with an end ends it; the very same again changes nothing.

    Raises Invalid for what makes no sense, NotFound or Invalid for an address that is not one entity, Refused where an
    agent would end or take back what a person stated.
    """
    now = wiki.clock()
    predicate = predicate_of(statement.relation)
    valid_from = date_text(statement.valid_from, now, "valid_from") if statement.valid_from else None
    valid_to = date_text(statement.valid_to, now, "valid_to") if statement.valid_to else None
    _check_texts(statement)
    source = source_of(wiki, statement.source)
    with open_view(wiki) as view:
        ends = _Ends(view, statement.project or wiki.project)
        subject = ends.entity(statement.subject)
        object_ = ends.object(statement.object, predicate)
        _check_ends(predicate, subject, object_)
        if ends_before_start(valid_from, valid_to):
            raise Invalid(f"valid_to ({valid_to}) is before valid_from ({valid_from})", hint="Give the dates in order.")
        with wiki.transaction("link") as draft:
            view.store.sync(wiki.root)
            edge = _edge_meant(view, Edge(subject, predicate, object_, valid_from), valid_to, statement)
            writer = _Writer(wiki, view, draft, edge, source)
            part = _new_part(wiki, writer, statement, valid_to)
            existing = not writer.write(part, ends.named)
            if statement.retract and part is not None:
                entities = [end for end in (edge.subject, edge.object) if isinstance(end, str)]
                renew_sections(wiki, draft, view, entities, taken=part)
            draft.subject = f"link: {_in_words(view, ends, edge)}" + (" (taken back)" if statement.retract else "")
            draft.pages = [source.page_id] if source.page_id else []
        view.store.sync(wiki.root)
        fact = fold_edge(edge, view.store.assertions_of(edge.id).values(), view.counts)
    return Linked(edge, fact, draft.committed.commit if draft.committed else None, existing)


def predicate_of(relation: str) -> str:
    """The IRI of a relation's name, of `alias` or `same_as`, or of a property (`property:provider`, `provider=`).

    Raises Invalid for any other name.
    """
    name = relation.strip().casefold()
    given = name.removesuffix("=") if name.endswith("=") else name.removeprefix(_PROPERTY_PREFIX)
    if given != name:
        given = re.sub(r"[\s-]+", "_", given.strip())
        if not _PROPERTY_NAME.fullmatch(given):
            raise Invalid(f"'{given[:40]}' is no name for a property", hint="Use letters, digits and _; at most 40.")
        return PROPERTY + given
    name = re.sub(r"[\s-]+", "_", name)
    if name in RELATIONS:
        return RELATIONS[name].iri
    if name in NAMING:
        return NAMING[name]
    close = difflib.get_close_matches(name, (*RELATIONS, *NAMING), n=3, cutoff=0.6)
    known = f"Did you mean {' or '.join(close)}?" if close else f"Choose one of: {', '.join((*RELATIONS, *NAMING))}."
    raise Invalid(f"there is no relation '{relation[:40]}'", hint=f"{known} A property is written property:NAME.")


class _Ends:
    """Finds what the two ends mean. `named` are entities by IRI, for the lines that name them."""

    def __init__(self, view: GraphView, project: str | None) -> None:
        self.view = view
        self.project = project
        self.named: dict[str, Entity] = {}

    def object(self, written: str, predicate: str) -> Term:
        if predicate.startswith(PROPERTY) or predicate == NAMING["alias"]:
            value = " ".join(written.split())
            if not value:
                raise Invalid("object: the value is empty", hint="Give the value, such as 'jose'.")
            return Literal(value)
        return self.entity(written)

    def entity(self, address: str) -> str:
        """The IRI of an ENTITY, which may be new where its type is given, or of a PAGE."""
        address = address.strip()
        kind, colon, name = address.partition(":")
        if colon and kind.strip().casefold() in ENTITY_TYPES:
            return self._typed(kind.strip().casefold(), name)
        try:
            iri = (
                entity_of_page(self.view.wiki.find_to_write(address)) if _is_page(address) else self.view.find(address)
            )
        except NotFound as error:
            raise NotFound(
                error.message, hint=f"{error.hint} A new entity needs its type, as in 'library:{address}'."
            ) from error
        entity = parse_entity_iri(iri)
        if entity is not None:
            self.named[iri] = Entity(entity.type, entity.key, entity.project, self.view.label(iri))
        return iri

    def _typed(self, kind: str, name: str) -> str:
        entity = make_entity(kind, name, self.project)
        if not self.view.exists(entity.iri):
            # Perhaps by another of its names; in another project it would be another entity.
            known = ((iri, parse_entity_iri(iri)) for iri in self.view.store.named(name))
            same = [iri for iri, other in known if other and (other.type, other.project) == (kind, entity.project)]
            if len(same) == 1 and self.view.exists(same[0]):
                found = parse_entity_iri(same[0])
                assert found is not None
                entity = Entity(kind, found.key, found.project, self.view.label(same[0]))
        self.named[entity.iri] = entity
        return entity.iri


def _is_page(address: str) -> bool:
    return address.startswith("[[") or address.lower().endswith(".md")


def _check_texts(statement: Statement) -> None:
    for name in ("reasoning", "quote", "sentiment"):
        if len(getattr(statement, name) or "") > _MOST_TEXT:
            raise Invalid(
                f"{name}: more than {_MOST_TEXT} characters", hint="Say it shorter, and cite a page for the rest."
            )
    if any(len(each) > _MOST_TEXT or not each.strip() for each in statement.alternatives):
        raise Invalid("alternatives: one is empty or too long", hint="Name each alternative in a few words.")


def _check_ends(predicate: str, subject: str, object_: Term) -> None:
    if subject == object_:
        raise Invalid("subject and object are the same entity", hint="An edge joins two.")
    kinds = [parse_entity_iri(iri) for iri in (subject, object_) if isinstance(iri, str)]
    if predicate == SAME_AS:
        types = {kind.type if kind else "page" for kind in kinds}
        if len(types) > 1:
            raise Invalid(f"a {' and a '.join(sorted(types))} cannot be the same", hint="Merge entities of one type.")
    relation = next((each for each in RELATIONS.values() if each.iri == predicate), None)
    if relation is None:
        return
    for kind, allowed, place in zip(kinds, (relation.subjects, relation.objects), ("subject", "object"), strict=False):
        if kind and allowed and kind.type not in allowed:
            raise Invalid(
                f"{place}: a {kind.type} cannot be the {place} of {relation.name}",
                hint=f"It takes: {', '.join(allowed)}.",
            )


def _edge_meant(view: GraphView, edge: Edge, valid_to: str | None, statement: Statement) -> Edge:
    """The edge that is to be ended or taken back, where its start was not said again; else the one that was given."""
    if edge.valid_from is not None or (valid_to is None and not statement.retract):
        return edge
    known = [
        fact
        for fact in view.store.facts_of([edge.subject], view.counts).values()
        if (fact.edge.subject, fact.edge.predicate, fact.edge.object) == (edge.subject, edge.predicate, edge.object)
    ]
    if statement.retract:
        if len(known) > 1:
            starts = ", ".join(fact.valid_from or "no start" for fact in known)
            raise Invalid(f"that was stated with {len(known)} starts: {starts}", hint="Say which, with valid_from.")
        return known[0].edge if known else edge
    # What is to end has begun before; a reopened end (`..`) is that of the one that ended last.
    fitting = [fact for fact in known if valid_to == OPEN_END or overlap((fact.valid_from, None), (None, valid_to))]
    open_ones = [fact for fact in fitting if fact.valid_to is None and valid_to != OPEN_END]
    chosen = max(open_ones or fitting, key=lambda fact: sort_key(fact.valid_from), default=None)
    return chosen.edge if chosen else edge


def _new_part(wiki: Wiki, writer: _Writer, statement: Statement, valid_to: str | None) -> Assertion | None:
    """What the statement adds to what its source has said of the edge; None where that is nothing."""
    known, time = writer.known, writer.time
    if statement.retract:
        living = [each for each in writer.all.values() if each.lives]
        if not living:
            raise NotFound("nobody states that, so there is nothing to take back", hint="See `wikimem graph`.")
        if wiki.caller.agent is not None:
            _refuse_over_person(living, "take back")
        target = known if known.lives else living[0]
        return Assertion(target.edge, target.source, invalidated=frozenset({time}))
    if valid_to is not None and wiki.caller.agent is not None:
        fact = fold_edge(writer.edge, writer.all.values())
        if fact is not None and fact.valid_to != (None if valid_to == OPEN_END else valid_to):
            _refuse_over_person([each for each in writer.all.values() if each.lives], "end")
    said = Assertion(
        writer.edge.id,
        writer.source.iri,
        frozenset({statement.weight}),
        _some(statement.quote),
        _some(statement.reasoning),
        _some(statement.sentiment),
        frozenset(" ".join(each.split()) for each in statement.alternatives),
        by=frozenset({attributed_to(wiki)}),
        projects=frozenset({statement.project}) if statement.project else frozenset(),
    )
    fresh = not known.generated
    end = frozenset({valid_to}) if valid_to else frozenset[str]()
    fact = fold_edge(writer.edge, writer.all.values())
    current = (fact.valid_to or OPEN_END) if fact else OPEN_END
    endings = frozenset[Ending]() if fresh or valid_to in (None, current) else frozenset({Ending(time, valid_to or "")})
    if known.lives and not endings and known.merged(said) == known:
        return None
    if not fresh and not known.lives and valid_to is not None:
        endings = frozenset({Ending(time, valid_to)})
    return said.merged(
        Assertion(
            writer.edge.id,
            writer.source.iri,
            valid_to=end if fresh and valid_to != OPEN_END else frozenset(),
            generated=frozenset({time}),
            endings=endings,
        )
    )


def _refuse_over_person(living: Iterable[Assertion], verb: str) -> None:
    if any(who.startswith(PERSON) for each in living for who in each.by):
        raise Refused(
            f"an agent cannot {verb} what a person stated",
            hint="A person can. State what you know as an edge of its own, with --valid-from and --source.",
        )


def _some(text: str | None) -> frozenset[str]:
    return frozenset({text.strip()}) if text and text.strip() else frozenset()


class _Writer:
    """Adds to the file of one source. `all` are the assertions of the edge by source, `known` is this source's own."""

    def __init__(self, wiki: Wiki, view: GraphView, draft: Draft, edge: Edge, source: Source) -> None:
        self.wiki = wiki
        self.draft = draft
        self.edge = edge
        self.source = source
        self.all = view.store.assertions_of(edge.id)
        self.known = self.all.get(source.iri, Assertion(edge.id, source.iri))
        self.time = _later(time_text(wiki.clock()), (each.last_time for each in self.all.values()))

    def write(self, part: Assertion | None, named: dict[str, Entity]) -> bool:
        """Whether there was anything to write."""
        if part is None:
            return False
        page_id = page_id_of(part.source)
        path = page_file(page_id) if page_id else installation_file(installation_of(self.wiki))
        data = self.draft.read(path) if self.draft.exists(path) else b""
        ends = (self.edge.subject, self.edge.object)
        triples: list[Triple] = [*self.edge.triples(), *part.triples()]
        for iri in ends:
            if isinstance(iri, str) and iri in named:
                triples += entity_triples(named[iri])
        new = with_triples(data, triples)
        if new == data and data:
            raise Conflict(
                f"'{path}' says that its page was forgotten, and takes nothing more",
                hint="Give another source; or delete that file, if the page is to be believed again.",
            )
        self.draft.put(path, new)
        if not self.draft.exists(ATTRIBUTES_PATH):
            self.draft.put(ATTRIBUTES_PATH, ATTRIBUTES)
        return True


def _later(time: str, times: Iterable[str]) -> str:
    """`time`, or the instant after the latest of `times` where a clock that ran ahead wrote that."""
    last = max(times, default="")
    if time > last:
        return time
    return time_text(datetime.fromisoformat(last) + timedelta(microseconds=1))


def _in_words(view: GraphView, ends: _Ends, edge: Edge) -> str:
    def name(term: Term) -> str:
        if not isinstance(term, str):
            return term.text
        return ends.named[term].label if term in ends.named else view.label(term)

    from wikimem.graph.vocabulary import relation_name

    return f"{name(edge.subject)} {relation_name(edge.predicate)} {name(edge.object)}"
