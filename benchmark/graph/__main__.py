"""`python -m benchmark.graph 1000 100000`: figures of the graph at so many edges, each part in a process of its own.

Edges are spread over pages of 200 each, between a tenth as many entities, with one hub of 10,000 where there are more.
Times are CPU seconds of that process unless a name says otherwise; memory is the growth of its peak. rdflib stands
beside it up to 100,000 edges.
"""

from __future__ import annotations

import json
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from datetime import datetime
from itertools import groupby
from pathlib import Path
from typing import Any, Final, TypeVar

from wikimem.graph.files import page_file, with_triples
from wikimem.graph.naming import make_entity, page_iri
from wikimem.graph.statements import Assertion, Edge, entity_triples, time_text
from wikimem.graph.store import GraphStore
from wikimem.graph.vocabulary import RELATIONS
from wikimem.graph.walk import walk
from wikimem.text.ids import derived_id
from wikimem.text.triples import Triple, render_triples

EDGES_OF_A_PAGE: Final = 200
HUB: Final = 10_000
WALKS: Final = 50
RDFLIB_MOST: Final = 100_000
T = TypeVar("T")


class Timed:
    """CPU seconds of what was done, by name."""

    def __init__(self) -> None:
        self.figures: dict[str, float] = {}

    def took(self, name: str, work: Callable[[], T], times: int = 1) -> T:
        began = time.process_time()
        for _ in range(times):
            result = work()
        self.figures[name] = round((time.process_time() - began) / times, 5)
        return result


def statements(count: int) -> Iterator[tuple[str, Edge, list[Triple]]]:
    """Page, edge and triples of `count` made-up assertions, the same every time."""
    chance = random.Random(count)
    entities = [make_entity("library", f"lib {number}") for number in range(max(10, count // 10))]
    relations = [RELATIONS[name].iri for name in ("uses", "depends_on", "related_to", "fixes")]
    made = time_text(datetime(2025, 1, 1))
    for number in range(count):
        subject, object_ = chance.choice(entities), chance.choice(entities)
        if count > HUB and number < HUB:
            object_ = entities[0]
        page = derived_id(f"page {number // EDGES_OF_A_PAGE}")
        edge = Edge(
            subject.iri, chance.choice(relations), object_.iri, f"{chance.randint(2018, 2025)}-0{number % 9 + 1}"
        )
        part = Assertion(
            edge.id,
            page_iri(page),
            frozenset({chance.choice([1.0, 0.5])}),
            reasoning=frozenset({f"because of {number % 97}"}),
            valid_to=frozenset({"2026"}) if number % 3 == 0 else frozenset(),
            generated=frozenset({made}),
        )
        yield page, edge, [*edge.triples(), *part.triples(), *entity_triples(subject), *entity_triples(object_)]


class Facts:
    """The store as a walk takes it."""

    def __init__(self, store: GraphStore) -> None:
        self.facts_of = store.facts_of
        self.store = store

    def hubs(self, iris: Any, most: int) -> set[str]:
        return {iri for iri, number in self.store.degrees(iris).items() if number > most}


def peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def write(count: int, folder: Path) -> dict[str, float]:
    """The files, in a process of their own: what making them costs is no part of the figures."""
    for page, stated in groupby(statements(count), key=lambda each: each[0]):
        file = folder / page_file(page)
        file.parent.mkdir(parents=True, exist_ok=True)
        triples = (triple for _, _, of_edge in stated for triple in of_edge)
        file.write_text(render_triples(triples), encoding="utf-8")
    return {}


def measure(count: int, folder: Path) -> dict[str, float]:
    """wikimem's own figures."""
    timed = Timed()
    last = page_file(derived_id(f"page {(count - 1) // EDGES_OF_A_PAGE}"))
    before = peak_mb()
    store = GraphStore(folder / "graph.db", "benchmark")
    timed.took("load", lambda: store.sync(folder))
    timed.took("sync without a change", lambda: store.sync(folder), 5)
    new = Edge("urn:wikimem:concept:new", RELATIONS["uses"].iri, "urn:wikimem:library:lib-1")
    part = Assertion(new.id, "urn:wikimem:stated:x", generated=frozenset({time_text(datetime(2025, 1, 1))}))

    def add() -> None:
        data = (folder / last).read_bytes()
        (folder / last).write_bytes(with_triples(data, [*new.triples(), *part.triples()]))
        store.sync(folder)

    timed.took("add one and sync its file", add)
    source, chance = Facts(store), random.Random(1)
    starts = [make_entity("library", f"lib {chance.randrange(1, max(10, count // 10))}").iri for _ in range(WALKS)]
    now, then = datetime(2026, 1, 1), datetime(2020, 7, 1)
    began = time.process_time()
    reached = [len(walk(source, {iri: 1.0}, 2, moment=now).reached) for iri in starts]
    timed.figures["walk to depth 2"] = round((time.process_time() - began) / WALKS, 5)
    timed.figures["reached by a walk"] = sum(reached) / WALKS
    began = time.process_time()
    for iri in starts:
        walk(source, {iri: 1.0}, 2, moment=then)
    timed.figures["walk as of 2020"] = round((time.process_time() - began) / WALKS, 5)
    if count > HUB:
        hub = make_entity("library", "lib 0").iri
        timed.took("walk from the hub", lambda: walk(source, {hub: 1.0}, 2, moment=now))
    timed.figures["memory MB, growth"] = round(peak_mb() - before, 1)
    held = timed.took("all that held in 2020", lambda: sum(f.holds(then) != "no" for f in store.each_fact()))
    timed.figures["held in 2020"] = held
    timed.figures["memory MB, growth, all facts in turn"] = round(peak_mb() - before, 1)
    timed.figures["files MB"] = round(sum(f.stat().st_size for f in folder.glob("graph/*/*.nt")) / 1e6, 1)
    timed.figures["store MB"] = round(sum(f.stat().st_size for f in folder.glob("graph.db*")) / 1e6, 1)
    return timed.figures


def measure_rdflib(count: int, folder: Path) -> dict[str, float]:
    """rdflib in memory, from the same files, with the plain triples for its walk."""
    from rdflib import Graph, URIRef

    timed, graph = Timed(), Graph()
    before = peak_mb()

    def load() -> None:
        for file in sorted(folder.glob("graph/*/*.nt")):
            graph.parse(file, format="nt")

    timed.took("load", load)
    for _, edge, _ in statements(count):
        graph.add((URIRef(edge.subject), URIRef(edge.predicate), URIRef(str(edge.object))))
    chance, relations = random.Random(1), {URIRef(each.iri) for each in RELATIONS.values()}

    def two_hops() -> int:
        seen: set[Any] = {URIRef(make_entity("library", f"lib {chance.randrange(1, max(10, count // 10))}").iri)}
        for _ in range(2):
            seen |= {o for s in list(seen) for p, o in graph.predicate_objects(s) if p in relations}
            seen |= {s for o in list(seen) for s, p in graph.subject_predicates(o) if p in relations}
        return len(seen)

    timed.took("walk to depth 2, plain edges, no dates or weights", two_hops, WALKS)
    timed.figures["memory MB, growth"] = round(peak_mb() - before, 1)
    timed.figures["triples"] = len(graph)
    return timed.figures


def main(arguments: list[str]) -> None:
    """With `--part NAME COUNT FOLDER` one part, printed as JSON; else every part of each size."""
    if arguments[:1] == ["--part"]:
        work = {"files": write, "wikimem": measure, "rdflib": measure_rdflib}[arguments[1]]
        print(json.dumps(work(int(arguments[2]), Path(arguments[3]))))
        return
    for count in map(int, arguments or ["1000", "100000"]):
        with tempfile.TemporaryDirectory() as folder:
            for part in ("files", "wikimem", "rdflib") if count <= RDFLIB_MOST else ("files", "wikimem"):
                command = [sys.executable, "-m", "benchmark.graph", "--part", part, str(count), folder]
                done = subprocess.run(command, capture_output=True, text=True, check=True)
                print(f"{count} edges, {part}")
                for name, figure in json.loads(done.stdout).items():
                    print(f"  {name:<52}{figure:>12g}")


if __name__ == "__main__":
    main(sys.argv[1:])
