"""The process that answers one SPARQL query: the query and the triples on standard input, JSON on standard output.

It is started by `sparql.py`, which kills it when its time is over. It only reads: updates, other services and other
data sets are refused from the parsed query, and the process may open no connection whatever a query manages to ask.
"""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

from wikimem.graph.vocabulary import PREFIXES

if TYPE_CHECKING:
    from rdflib import Graph

LONGEST_CELL: Final = 10_000
"""Characters of one value of an answer."""
_REFUSED: Final = {
    "ServiceGraphPattern": "SERVICE asks another server; this graph is all that there is",
    "GraphGraphPattern": "GRAPH asks one graph of several; this graph is all that there is, so leave GRAPH out",
    "DatasetClause": "FROM names other data; this graph is all that there is",
}


def main() -> None:
    """Read the request and its triples, answer, and end."""
    request = json.loads(sys.stdin.buffer.readline())
    _bound(int(request["seconds"]), int(request["bytes"]))
    try:
        answer = answered(request["query"], request["limit"], sys.stdin.buffer.read().decode())
    except RecursionError:
        answer = {"invalid": "the query is nested too deeply"}
    except MemoryError:
        answer = {"unavailable": "the answer needs more memory than a query may have"}
    sys.stdout.write(json.dumps(answer))


def answered(query: str, limit: int, data: str) -> dict[str, Any]:
    """`{vars, rows, more}`, or why not: `{refused}` or `{invalid}`, in words."""
    from pyparsing import ParseException
    from rdflib.plugins.sparql.algebra import translateQuery
    from rdflib.plugins.sparql.evaluate import evalQuery
    from rdflib.plugins.sparql.parser import parseQuery

    try:
        parsed = parseQuery(query)
    except ParseException as error:
        return {"refused": "this only reads: an update changes data"} if _is_update(query) else _invalid(error)
    for name in _names(parsed):
        if name in _REFUSED:
            return {"refused": _REFUSED[name]}
    try:
        translated = translateQuery(parsed, initNs=dict(PREFIXES))
    except Exception as error:  # noqa: BLE001 - rdflib raises bare Exception for what does not make sense
        return {"invalid": str(error)}
    graph = _graph(data)
    _close_network()
    # Not `graph.query`: it leaves out the rows in which no variable is bound.
    result = evalQuery(graph, translated, {})
    if result["type_"] == "ASK":
        return {"vars": ["ask"], "rows": [["true" if result["askAnswer"] else "false"]], "more": False}
    found: Iterable[Iterable[object]] = result.get("graph") or ()
    names = ["subject", "predicate", "object"]
    if result["type_"] == "SELECT":
        variables = result["vars_"]
        names = [str(name) for name in variables]
        found = ([each.get(name) for name in variables] for each in result["bindings"])
    rows: list[list[str | None]] = []
    for row in found:
        if len(rows) >= limit:
            return {"vars": names, "rows": rows, "more": True}
        rows.append([None if term is None else str(term)[:LONGEST_CELL] for term in row])
    return {"vars": names, "rows": rows, "more": False}


def _graph(data: str) -> Graph:
    from rdflib import Graph, Literal, URIRef

    from wikimem.text import triples

    found, _ = triples.read_triples(data)
    graph = Graph()
    for subject, predicate, term in found:
        value = (
            URIRef(term)
            if isinstance(term, str)
            else Literal(
                term.text, lang=term.language or None, datatype=URIRef(term.datatype) if term.datatype else None
            )
        )
        graph.add((URIRef(subject), URIRef(predicate), value))
    return graph


def _is_update(query: str) -> bool:
    from pyparsing import ParseException
    from rdflib.plugins.sparql.parser import parseUpdate

    try:
        parseUpdate(query)
    except ParseException:
        return False
    return True


def _invalid(error: Any) -> dict[str, Any]:
    return {"invalid": f"line {error.lineno}, column {error.column}: {error.msg}"}


def _names(node: Any) -> Iterator[str]:
    """The names of all parts of a parsed query."""
    from pyparsing import ParseResults
    from rdflib.plugins.sparql.parserutils import CompValue

    if isinstance(node, CompValue):
        yield node.name
    # A ParseResults calls itself a mapping, of those of its parts that have names.
    if isinstance(node, Mapping) and not isinstance(node, ParseResults):
        for part in node.values():
            yield from _names(part)
    elif isinstance(node, Iterable) and not isinstance(node, str):
        for part in node:
            yield from _names(part)


def _close_network() -> None:
    def refuse(event: str, arguments: Any) -> None:
        del arguments
        if event.startswith(("socket.", "urllib.", "subprocess.", "os.system", "os.exec", "os.posix_spawn", "os.fork")):
            raise PermissionError("a query may not reach outside")

    sys.addaudithook(refuse)


def _bound(seconds: int, memory: int) -> None:
    """Ask the system to end this process too, should whoever started it be gone."""
    import resource

    for kind, most in ((resource.RLIMIT_CPU, seconds), (resource.RLIMIT_AS, memory)):
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(kind, (most, most))


if __name__ == "__main__":
    main()
