"""Triples as N-Triples, Turtle and JSON-LD. The same triples always give the same text, whatever order they come in."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from itertools import groupby
from typing import Any, Final

from wikimem.graph.naming import quoted_iri
from wikimem.graph.vocabulary import PREFIXES, TYPE, XSD
from wikimem.model.graph import ExportFormat
from wikimem.text.lazyregex import lazily
from wikimem.text.triples import Literal, Term, Triple, render_term, render_triples

_LOCAL: Final = lazily(r"[A-Za-z][A-Za-z0-9_]*")
"""Local names that Turtle takes as they are; others are written as whole IRIs."""


def serialize(triples: Iterable[Triple], format: ExportFormat) -> str:
    """All triples, each once, in UTF-8's order of code points. Raises Invalid for an IRI that is none."""
    if format == "nt":
        return render_triples(triples)
    ordered = sorted(set(triples), key=_order)
    return _turtle(ordered) if format == "ttl" else _json_ld(ordered)


def masked(triples: Iterable[Triple], mask: Callable[[str], str]) -> Iterator[Triple]:
    """The triples with every secret in their texts and names replaced by `mask`."""
    known: dict[str, str] = {}

    def shown(text: str) -> str:
        if text not in known:
            known[text] = mask(text)
        return known[text]

    def iri(text: str) -> str:
        seen = shown(text)
        return text if seen == text else quoted_iri(seen)

    for subject, predicate, object_ in triples:
        term = iri(object_) if isinstance(object_, str) else object_._replace(text=shown(object_.text))
        yield Triple(iri(subject), iri(predicate), term)


def _order(triple: Triple) -> tuple[str, bool, str, str]:
    return triple.subject, triple.predicate != TYPE, triple.predicate, render_term(triple.object)


def _turtle(ordered: list[Triple]) -> str:
    blocks: list[str] = []
    used: set[str] = set()

    def short(term: Term) -> str:
        if not isinstance(term, str):
            typed = term.datatype
            plain = render_term(term._replace(datatype=""))
            return f"{plain}^^{short(typed)}" if typed and not term.language else render_term(term)
        for name, space in PREFIXES.items():
            if term.startswith(space) and _LOCAL.fullmatch(term, len(space)):
                used.add(name)
                return f"{name}:{term[len(space) :]}"
        return render_term(term)

    for subject, said in groupby(ordered, key=lambda triple: triple.subject):
        lines = []
        for predicate, same in groupby(said, key=lambda triple: triple.predicate):
            objects = ", ".join(short(triple.object) for triple in same)
            lines.append(f"{'a' if predicate == TYPE else short(predicate)} {objects}")
        blocks.append(f"{short(subject)} " + " ;\n    ".join(lines) + " .\n")
    head = "".join(f"@prefix {name}: <{PREFIXES[name]}> .\n" for name in PREFIXES if name in used)
    return "\n".join([head, *blocks] if head else blocks)


def _json_ld(ordered: list[Triple]) -> str:
    nodes: list[dict[str, Any]] = []
    for subject, said in groupby(ordered, key=lambda triple: triple.subject):
        node: dict[str, Any] = {"@id": subject}
        for predicate, same in groupby(said, key=lambda triple: triple.predicate):
            terms = [triple.object for triple in same]
            # A type is an IRI; a text for one, which RDF allows, needs the predicate's own name.
            if predicate == TYPE and all(isinstance(term, str) for term in terms):
                node["@type"] = [_compact(str(term)) for term in terms]
            else:
                node[_compact(predicate)] = [_node(term) for term in terms]
        nodes.append(node)
    lines = ",\n".join(json.dumps(node, ensure_ascii=False) for node in nodes)
    context = json.dumps(PREFIXES, ensure_ascii=False)
    return f'{{"@context": {context},\n"@graph": [\n{lines}\n]}}\n'


def _compact(iri: str) -> str:
    for name, space in PREFIXES.items():
        if iri.startswith(space) and len(iri) > len(space):
            return f"{name}:{iri[len(space) :]}"
    return iri


def _node(term: Term) -> dict[str, str]:
    if isinstance(term, str):
        return {"@id": term}
    return _value(term)


def _value(term: Literal) -> dict[str, str]:
    if term.language:
        return {"@value": term.text, "@language": term.language}
    if term.datatype:
        kind = term.datatype.removeprefix(XSD)
        return {"@value": term.text, "@type": term.datatype if kind == term.datatype else f"xsd:{kind}"}
    return {"@value": term.text}
