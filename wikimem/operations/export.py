"""export: the graph in a format that other tools read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from wikimem.model.graph import ExportFormat, ExportResult
from wikimem.operations.answering import notes_of
from wikimem.operations.registry import Arg, operation

if TYPE_CHECKING:
    from wikimem.wiki import Wiki


@operation(
    "read",
    idempotent=True,
    examples=(
        "wikimem export --format ttl --out graph.ttl",
        "wikimem export --format jsonld --entity library:jose --as-of 2025-03-15",
    ),
)
def export(
    wiki: Wiki,
    format: Annotated[ExportFormat, Arg("nt is N-Triples, ttl is Turtle, jsonld is JSON-LD.")] = "nt",
    out: Annotated[str | None, Arg("Write to this file, outside of the vault.", raw=True, only="cli")] = None,
    entity: Annotated[str | None, Arg("Only the edges of this entity or page.", raw=True)] = None,
    as_of: Annotated[str | None, Arg("Plain triples for what held on this date, instead of today.")] = None,
    project: Annotated[str | None, Arg("Only what belongs to this project, or to none.")] = None,
) -> ExportResult:
    """Write the graph out as RDF: edges with who states them, entities and pages. Secrets are masked.

    It is what `sparql` asks: every edge that is stated is there as a resource, and what holds also as plain
    `subject predicate object`. The same graph always gives the same bytes.
    """
    from wikimem.graph.validity import moment_of
    from wikimem.memory.graphexport import export_graph
    from wikimem.operations.answering import search_scope

    moment = moment_of(as_of, wiki.clock())
    refreshed = wiki.refresh()
    scope, _ = search_scope(wiki, project)
    done = export_graph(wiki, format, moment, project=scope, entity=entity, out=out, keep_missing=bool(refreshed.why))
    return ExportResult(
        format=format, count=done.count, path=done.path, text=done.text, notes=notes_of(wiki, refreshed)
    )
