"""A part of the graph as a picture: Mermaid, Graphviz, JSON Canvas (which Obsidian opens) or SVG.

Nodes have names of our own (n0, n1 ...), and every text is escaped for its format: a name cannot draw anything.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from typing import Final
from xml.sax.saxutils import escape

from msgspec import Struct

from wikimem.graph.fold import Fact
from wikimem.graph.vocabulary import relation_name
from wikimem.graph.words import Describe, validity_in_words

PagePath = Callable[[str], str | None]
"""The path of the page about an entity, if there is one."""

_WIDTH: Final = 240
_HEIGHT: Final = 60
_LONGEST: Final = 60
_RING: Final = 12
"""Nodes of the first ring round the middle; each further ring has as many more."""


class _Node(Struct, frozen=True):
    name: str
    iri: str
    label: str
    x: int
    y: int


class _Arrow(Struct, frozen=True):
    start: _Node
    end: _Node
    label: str


def draw(format: str, facts: Sequence[Fact], start: str, describe: Describe, page_path: PagePath) -> str:
    """The facts between entities as a picture round `start`, in one of the formats above."""
    nodes, arrows = _laid_out(facts, start, describe)
    if format == "canvas":
        return _canvas(nodes, arrows, page_path)
    return {"mermaid": _mermaid, "dot": _dot, "svg": _svg}[format](nodes, arrows)


def _laid_out(facts: Sequence[Fact], start: str, describe: Describe) -> tuple[list[_Node], list[_Arrow]]:
    edges = [(fact, fact.edge.subject, fact.edge.object) for fact in facts if isinstance(fact.edge.object, str)]
    order = list(dict.fromkeys([start, *(end for _, subject, object_ in edges for end in (subject, str(object_)))]))
    nodes: dict[str, _Node] = {}
    for number, iri in enumerate(order):
        x, y = _place(number)
        nodes[iri] = _Node(f"n{number}", iri, _short(describe(iri).in_words()), x, y)
    arrows = [
        _Arrow(nodes[subject], nodes[str(object_)], _label(fact))
        for fact, subject, object_ in edges
        if subject != object_
    ]
    return list(nodes.values()), arrows


def _place(number: int) -> tuple[int, int]:
    """The first in the middle, the others in rings round it."""
    ring, before = 0, 1
    while number >= before and number:
        ring += 1
        if number < before + ring * _RING:
            break
        before += ring * _RING
    if not ring:
        return 0, 0
    angle = 2 * math.pi * (number - before) / (ring * _RING)
    return round(ring * 2 * _WIDTH * math.cos(angle)), round(ring * 6 * _HEIGHT * math.sin(angle))


def _label(fact: Fact) -> str:
    validity = validity_in_words(fact.valid_from, fact.valid_to)
    return _short(" ".join(filter(None, [relation_name(fact.edge.predicate), validity])))


def _short(text: str) -> str:
    plain = " ".join("".join(char if char.isprintable() else " " for char in text).split())
    return plain if len(plain) <= _LONGEST else plain[: _LONGEST - 1] + "…"


def _mermaid(nodes: Sequence[_Node], arrows: Sequence[_Arrow]) -> str:
    lines = ["graph LR", *(f'  {node.name}["{_coded(node.label)}"]' for node in nodes)]
    return "\n".join([*lines, *(f'  {each.start.name} -->|"{_coded(each.label)}"| {each.end.name}' for each in arrows)])


def _coded(text: str) -> str:
    """Mermaid takes entity codes; everything but letters, digits and plain punctuation is written as one."""
    return "".join(char if char.isalnum() or char in " .,-_/:=" else f"#{ord(char)};" for char in text)


def _dot(nodes: Sequence[_Node], arrows: Sequence[_Arrow]) -> str:
    lines = ["digraph {", "  rankdir=LR;", "  node [shape=box];"]
    lines += [f"  {node.name} [label={_quoted(node.label)}];" for node in nodes]
    lines += [f"  {each.start.name} -> {each.end.name} [label={_quoted(each.label)}];" for each in arrows]
    return "\n".join([*lines, "}"])


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _canvas(nodes: Sequence[_Node], arrows: Sequence[_Arrow], page_path: PagePath) -> str:
    """JSON Canvas 1.0; a node with a page is that page."""
    cards = []
    for node in nodes:
        path = page_path(node.iri)
        kind = {"type": "file", "file": path} if path else {"type": "text", "text": node.label}
        cards.append({"id": node.name, "x": node.x, "y": node.y, "width": _WIDTH, "height": _HEIGHT, **kind})
    lines = [
        {"id": f"e{number}", "fromNode": each.start.name, "toNode": each.end.name, "label": each.label}
        for number, each in enumerate(arrows)
    ]
    return json.dumps({"nodes": cards, "edges": lines}, ensure_ascii=False, indent=1)


def _svg(nodes: Sequence[_Node], arrows: Sequence[_Arrow]) -> str:
    left, top = (min(values) for values in ([node.x for node in nodes], [node.y for node in nodes]))
    width = max(node.x for node in nodes) - left + 2 * _WIDTH
    height = max(node.y for node in nodes) - top + 3 * _HEIGHT
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{left - _WIDTH} {top - _HEIGHT} {width} {height}"'
        ' font-family="sans-serif" font-size="11" text-anchor="middle">',
        '<defs><marker id="a" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" markerHeight="8" orient="auto">'
        '<path d="M0,0 L8,4 L0,8 z"/></marker></defs>',
    ]
    for each in arrows:
        (x1, y1), (x2, y2) = _edge_points(each)
        lines.append(f'<line x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}" stroke="gray" marker-end="url(#a)"/>')
        lines.append(f'<text x="{(x1 + x2) // 2}" y="{(y1 + y2) // 2 - 4}" fill="gray">{escape(each.label)}</text>')
    for node in nodes:
        x, y = node.x - _WIDTH // 2, node.y - _HEIGHT // 2
        lines.append(
            f'<rect x="{x}" y="{y}" width="{_WIDTH}" height="{_HEIGHT}" rx="6" fill="white" stroke="black"/>'
            f'<text x="{node.x}" y="{node.y + 4}">{escape(node.label)}</text>'
        )
    return "\n".join([*lines, "</svg>"])


def _edge_points(arrow: _Arrow) -> tuple[tuple[int, int], tuple[int, int]]:
    """Where a line from middle to middle leaves the one box and enters the other."""
    start, end = arrow.start, arrow.end
    dx, dy = end.x - start.x, end.y - start.y
    share = min(
        (_WIDTH / 2) / abs(dx) if dx else 1.0,
        (_HEIGHT / 2) / abs(dy) if dy else 1.0,
        0.5,
    )
    off = round(dx * share), round(dy * share)
    return (start.x + off[0], start.y + off[1]), (end.x - off[0], end.y - off[1])
