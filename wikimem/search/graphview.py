"""The graph as one caller sees it: what files assert and what links on pages say, within a project, with merges done.

GraphView    facts, names and pages, and what an address means
explore      a walk from entities, for `graph`
"""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Iterable, Iterator
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from wikimem.errors import Invalid, NotFound
from wikimem.graph.fold import Fact, everything, fold_edge, properties_of
from wikimem.graph.naming import make_entity, page_id_of, parse_entity_iri
from wikimem.graph.rows import name_key
from wikimem.graph.statements import Assertion
from wikimem.graph.store import GraphStore
from wikimem.graph.vocabulary import ALIAS, ENTITY_TYPES, SAME_AS, is_property
from wikimem.graph.walk import Walked, walk
from wikimem.graph.words import Description, path_in_words
from wikimem.model.hit import PageRow
from wikimem.search.pagefacts import PageFacts, entity_of_page
from wikimem.vault.folders import index_stamp, user_key

if TYPE_CHECKING:
    from wikimem.index.index import Allowed
    from wikimem.wiki import Wiki

STORE_FILE: Final = "graph.db"
MOST_CANDIDATES: Final = 8
_A_FEW: Final = 50
_CLOSE_LOOKED_AT: Final = 12


class GraphView:
    """Facts for one caller. `project` limits them to that project and what belongs to none (law 9).

    With `allowed` only those pages are there, and `most` edges of one entity are looked at: what a search needs.
    """

    def __init__(
        self,
        wiki: Wiki,
        store: GraphStore,
        project: str | None = None,
        *,
        allowed: Allowed | None = None,
        most: int | None = None,
    ) -> None:
        self.wiki = wiki
        self.project = project.casefold() if project else None
        self.store = store
        self.pages = PageFacts(wiki.index, self.store, wiki.root, project, allowed)
        self._most = most
        self._texts: dict[str, str | None] = {}
        self._paths: dict[str, str | None] = {}
        self._rows: dict[str, list[PageRow]] = {}

    # Facts

    def counts(self, assertion: Assertion) -> bool:
        """Whether an assertion may be seen here, as its page may, and its page still says what it quotes."""
        if self.project is not None and assertion.projects:
            in_scope = self.project in {project.casefold() for project in assertion.projects}
            if not in_scope:
                return False
        page_id = page_id_of(assertion.source)
        if page_id is None:
            return True
        path = self._path_of(page_id)
        if path is not None and self.pages.row(path) is None:
            return False
        return all(self._is_quoted(page_id, quote) for quote in assertion.quotes)

    def _path_of(self, page_id: str) -> str | None:
        if page_id not in self._paths:
            self._paths[page_id] = self.store.paths_of_ids([page_id]).get(page_id)
        return self._paths[page_id]

    def _is_quoted(self, page_id: str, quote: str) -> bool:
        if page_id not in self._texts:
            path = self._path_of(page_id)
            self._texts[page_id] = self._text_at(path) if path else None
        text = self._texts[page_id]
        return text is not None and one_line(quote) in text

    def _text_at(self, path: str) -> str | None:
        try:
            return one_line((self.wiki.root / path).read_bytes().decode("utf-8", "replace"))
        except OSError:
            return None

    @cached_property
    def merges(self) -> dict[str, str]:
        """Which entity each merged one counts as."""
        return self.store.merges(self.counts)

    @cached_property
    def _groups(self) -> dict[str, list[str]]:
        groups: dict[str, list[str]] = {}
        for iri, root in self.merges.items():
            groups.setdefault(root, []).append(iri)
        return groups

    def root(self, iri: str) -> str:
        """What an entity counts as, where it was merged into another."""
        return self.merges.get(iri, iri)

    def members(self, iris: Iterable[str]) -> list[str]:
        """The entities with all that were merged into them."""
        return [member for iri in iris for member in self._groups.get(self.root(iri), [iri])]

    def facts_of(self, iris: Collection[str]) -> dict[str, Fact]:
        """The facts with one of these entities at either end, by edge; ends are what merged entities count as."""
        members = self.members(iris)
        stated = self.store.facts_of(members, self.counts, limit=self._most)
        found = [*stated.values(), *self.pages.facts_of(members).values()]
        return self._joined(found)

    def every_fact(self) -> dict[str, Fact]:
        """All facts, by edge."""
        return self._joined([*self.store.facts(self.counts).values(), *self.pages.every_fact().values()])

    def _joined(self, facts: Iterable[Fact]) -> dict[str, Fact]:
        same: dict[str, list[Fact]] = {}
        for fact in facts:
            if fact.edge.predicate == SAME_AS or not self._may_see(fact):
                continue
            object_ = fact.edge.object
            edge = replace(
                fact.edge,
                subject=self.root(fact.edge.subject),
                object=self.root(object_) if isinstance(object_, str) else object_,
            )
            same.setdefault(edge.id, []).append(fact if edge == fact.edge else replace(fact, edge=edge))
        joined: dict[str, Fact] = {}
        for name, found in same.items():
            fact = found[0]
            if len(found) > 1:
                folded = fold_edge(fact.edge, (each for one in found for each in one.assertions), everything)
                fact = folded or fact
            joined[name] = fact
        return joined

    def _may_see(self, fact: Fact) -> bool:
        return all(self.may_see_entity(end) for end in (fact.edge.subject, fact.edge.object) if isinstance(end, str))

    def may_see_entity(self, iri: str) -> bool:
        """Whether an entity, or a page, belongs to the view's project or to none."""
        entity = parse_entity_iri(iri)
        if entity is not None:
            return self.project is None or entity.project in (None, self.project)
        if page_id_of(iri) is not None:
            return bool(self._rows_of(iri)) or self.project is None
        return True

    def hubs(self, iris: Collection[str], most: int) -> set[str]:
        """Those entities that have more than `most` edges in files, or links on their pages."""
        degrees = self.store.degrees(self.members(iris))
        found: set[str] = set()
        for iri in iris:
            members = self.members([iri])
            links = sum(self.pages.link_count(row.path) for member in members for row in self._rows_of(member))
            if sum(degrees.get(member, 0) for member in members) + links > most:
                found.add(iri)
        return found

    # Names

    def _rows_of(self, iri: str) -> list[PageRow]:
        if iri not in self._rows:
            self._rows[iri] = self.pages.rows_of([iri]).get(iri, [])
        return self._rows[iri]

    def page_of(self, iri: str) -> PageRow | None:
        """The page about an entity: an active one first, then the newest."""
        rows = [row for member in self.members([iri]) for row in self._rows_of(member)]
        rows.sort(key=lambda row: (row.status != "active", -(row.created or datetime.min).toordinal(), row.path))
        return rows[0] if rows else None

    def label(self, iri: str) -> str:
        """What an entity is called."""
        label = self.store.labels([iri]).get(iri)
        if label:
            return label
        row = next(iter(self._rows_of(iri)), None)
        if row is not None:
            return row.title
        entity = parse_entity_iri(iri)
        return entity.label if entity else iri

    def type_of(self, iri: str) -> str:
        """The type of an entity; of a page that stands for itself, the page's type."""
        entity = parse_entity_iri(iri)
        if entity is not None:
            return entity.type
        row = next(iter(self._rows_of(iri)), None)
        return row.type if row else "page" if page_id_of(iri) else "resource"

    def describe(self, iri: str, moment: datetime) -> Description:
        """Type, name and properties of an entity at a moment; secrets masked."""
        facts = self.store.values_of(self.members([iri]), self.counts).values()
        properties = [fact for fact in facts if is_property(fact.edge.predicate) and fact.holds(moment) != "no"]
        mask = self.wiki.redactor.mask
        return Description(
            self.type_of(iri),
            mask(self.label(iri)),
            {name: mask(value) for name, value in properties_of(properties).items()},
        )

    def aliases(self, iri: str) -> tuple[str, ...]:
        """Its other names: those that were stated, those of its page, those of what was merged into it."""
        facts = self.store.values_of(self.members([iri]), self.counts).values()
        values = (fact.edge.object for fact in facts if fact.edge.predicate == ALIAS)
        stated = [value.text for value in values if not isinstance(value, str)]
        merged = [self.label(member) for member in self.members([iri])]
        pages = [alias for member in self.members([iri]) for row in self._rows_of(member) for alias in row.aliases]
        own = self.label(self.root(iri))
        return tuple(dict.fromkeys(name for name in (*stated, *merged, *pages) if name != own))

    # Addresses

    def find(self, address: str) -> str:
        """The one entity or page that `address` (ENTITY or PAGE) names. Raises NotFound, Invalid for several."""
        found = {self.root(iri) for iri in self._candidates(address)}
        seen = sorted(iri for iri in found if self.may_see_entity(iri))
        if not seen:
            if self._was_known(address):
                raise NotFound(
                    f"nothing is asserted of '{address}' any more",
                    hint="What was said of it was taken back, or is said no longer; `wikimem link` states it again.",
                )
            raise NotFound(f"no entity '{address}' in the graph", hint=self._near(address))
        if len(seen) > 1:
            listed = [self.address(iri) for iri in seen]
            raise Invalid(
                f"'{address}' names {len(seen)} entities: {', '.join(listed[:MOST_CANDIDATES])}",
                hint="Write type:name; for a name of several projects, add --project.",
                data={"candidates": listed},
            )
        return seen[0]

    def address(self, iri: str) -> str:
        """`type:name` with the project where it has one: what to write to mean it."""
        entity = parse_entity_iri(iri)
        if entity is None:
            row = next(iter(self._rows_of(iri)), None)
            return row.path if row else iri
        scope = f" (project {entity.project})" if entity.project else ""
        return f"{entity.type}:{self.label(iri)}{scope}"

    def _candidates(self, address: str) -> set[str]:
        if parse_entity_iri(address) or page_id_of(address):
            return {address}
        kind, colon, name = address.partition(":")
        if colon and kind.strip().casefold() in ENTITY_TYPES:
            typed = self._typed(kind.strip().casefold(), name)
            if typed:
                return typed
        found = self._alive(self.store.named(address))
        found |= {entity_of_page(row) for row in self.wiki.index.find_pages(address.removeprefix(f"{self.wiki.root}/"))}
        return found

    def _typed(self, kind: str, name: str) -> set[str]:
        entity = make_entity(kind, name, self.project or self.wiki.project)
        exact = {entity.iri} if self.exists(entity.iri) else set()
        if exact:
            return exact
        others = self._alive(self.store.known_entities(kind, entity.key))
        rows = [*self.wiki.index.find_pages(entity.label), *self.wiki.index.find_pages(name)]
        found = others | {entity_of_page(row) for row in rows} | self._alive(self.store.named(name))
        parsed = ((iri, parse_entity_iri(iri)) for iri in found)
        return {iri for iri, known in parsed if known and known.type == kind}

    def exists(self, iri: str) -> bool:
        """Whether anything that counts is said of an entity, or a page is about it."""
        return bool(self._rows_of(iri)) or bool(self._alive({iri}))

    def _alive(self, iris: Collection[str]) -> set[str]:
        """Those that a living assertion is about: a forgotten name names nothing."""
        return {iri for iri in iris if any(self._facts_at(iri))}

    def _facts_at(self, iri: str) -> Iterator[Fact]:
        """The facts of one entity, a few first: often one is enough to know."""
        yield from self.store.facts_of([iri], self.counts, limit=_A_FEW).values()
        yield from self.store.facts_of([iri], self.counts).values()

    def _was_known(self, address: str) -> bool:
        """Whether files name such an entity, of which nothing counts now."""
        kind, colon, name = address.partition(":")
        named = self.store.named(address)
        if colon and kind.strip().casefold() in ENTITY_TYPES:
            kind = kind.strip().casefold()
            typed = {iri for iri in self.store.named(name) if self.type_of(iri) == kind}
            named |= typed | self.store.known_entities(kind, make_entity(kind, name, None).key)
        return any(self.may_see_entity(iri) for iri in named)

    def _is_findable(self, name: str) -> bool:
        return any(self.may_see_entity(self.root(iri)) for iri in self._candidates(name))

    def _near(self, address: str) -> str:
        name = address.partition(":")[2] if address.partition(":")[0] in ENTITY_TYPES else address
        names = {name_key(each): each for each in self.store.all_names()}
        names |= {name_key(row.title): row.title for row in self.wiki.index.list_pages(None)}
        import difflib

        close = difflib.get_close_matches(name_key(name), names, n=_CLOSE_LOOKED_AT, cutoff=0.6)
        close = [key for key in close if self._is_findable(names[key])][:3]
        if not close:
            return f"See `wikimem search '{name}'`, or state something of it: `wikimem link`."
        return "Closest: " + ", ".join(f"'{names[key]}'" for key in close) + "."

    # Walks

    def explore(self, start: str, depth: int, moment: datetime, predicate: str | None = None) -> Walked:
        """Walk from one entity: see `walk`."""
        return walk(self, {self.root(start): 1.0}, depth, moment=moment, predicate=predicate)

    def changes(self, start: str, since: datetime, until: datetime) -> tuple[tuple[Fact, ...], tuple[Fact, ...]]:
        """The edges of an entity that hold just before `until` and did not before `since`, and the other way round."""
        facts = sorted(self.facts_of([start]).values(), key=lambda fact: fact.edge.id)
        held = [(fact, fact.holds(since) == "yes", fact.holds(until) == "yes") for fact in facts]
        began = tuple(fact for fact, before, after in held if after and not before)
        return began, tuple(fact for fact, before, after in held if before and not after)

    def page_path(self, iri: str) -> str | None:
        """The path of the page about an entity."""
        row = self.page_of(iri)
        return row.path if row else None

    def words_for(self, walked: Walked, iri: str, moment: datetime) -> str:
        """The way to an entity that a walk reached; secrets masked."""
        reached = walked.reached[iri]
        words = path_in_words(reached.path, reached.start, lambda each: self.describe(each, moment))
        return self.wiki.redactor.mask(words)


def one_line(text: str) -> str:
    """`text` with single blanks: how quotes are compared with their page."""
    return " ".join(text.split())


@contextlib.contextmanager
def open_view(wiki: Wiki, project: str | None = None, *, keep_missing: bool = False) -> Iterator[GraphView]:
    """The graph, up to date with the files of `graph/` and with the index as it is.

    The store lies in the index's folder, which the index has made sure is this user's. `keep_missing`: files that are
    not there are taken to be out of sight, as the pages of a vault that is half gone are.
    """
    with open_store(wiki, keep_missing=keep_missing) as store:
        yield GraphView(wiki, store, project)


@contextlib.contextmanager
def open_store(wiki: Wiki, *, keep_missing: bool = False) -> Iterator[GraphStore]:
    """The store behind `open_view`, up to date; reading many new files is told as progress."""
    folder = wiki.index.parts().folder.path
    store = GraphStore(folder / STORE_FILE, index_stamp(user_key(), wiki.root))
    with contextlib.closing(store):
        store.sync(wiki.root, keep_missing=keep_missing, progress=wiki.progress)
        yield store
