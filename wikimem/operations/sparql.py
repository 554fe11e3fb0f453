"""sparql: query the graph."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Annotated

from wikimem.model.graph import SparqlResult
from wikimem.operations.answering import notes_of
from wikimem.operations.registry import Arg, operation

if TYPE_CHECKING:
    from wikimem.wiki import Wiki


@operation(
    "read",
    idempotent=True,
    examples=(
        "wikimem sparql 'SELECT ?file WHERE { ?file wm:uses <urn:wikimem:library:jose> }'",
        "wikimem sparql --as-of 2025-03-15 -",
    ),
)
def sparql(
    wiki: Wiki,
    query: Annotated[
        str, Arg("SELECT, ASK, CONSTRUCT or DESCRIBE; - reads standard input.", positional=True, stdin=True, raw=True)
    ],
    as_of: Annotated[str | None, Arg("Edges that held on this date, instead of those that hold today.")] = None,
    project: Annotated[str | None, Arg("Only what belongs to this project, or to none.")] = None,
    limit: Annotated[int, Arg("Most rows to return.", ge=1, le=100_000)] = 1_000,
    timeout: Annotated[float, Arg("Seconds after which the query is stopped.", ge=1, le=600)] = 30.0,
) -> SparqlResult:
    """Query the graph with SPARQL 1.1: edges, assertions, entities and pages. It only reads.

    What holds is there as plain `subject predicate object`; the prefixes wm, prop, rdf, rdfs, owl, xsd, skos, prov,
    schema and dct are known.
    """
    from wikimem.graph.sparql import run_query
    from wikimem.graph.validity import moment_of
    from wikimem.search.graphtriples import graph_triples
    from wikimem.search.graphview import open_view

    moment = moment_of(as_of, wiki.clock())
    refreshed = wiki.refresh()
    began = time.monotonic()
    with open_view(wiki, project or wiki.caller.project, keep_missing=bool(refreshed.why)) as view:
        answer = run_query(graph_triples(view, moment), query, limit=limit, timeout_s=timeout)
    mask = wiki.redactor.mask
    return SparqlResult(
        vars=answer.vars,
        rows=tuple(tuple(None if cell is None else mask(cell) for cell in row) for row in answer.rows),
        more=answer.more,
        seconds=round(time.monotonic() - began, 3),
        notes=notes_of(wiki, refreshed),
    )
