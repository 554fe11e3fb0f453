"""Reads the graph in an export of agentmemory: one JSON document with `graphNodes` and `graphEdges`.

Its types and relations have the names of ours. `tvalid` and `tvalidEnd` are dates of validity; what was superseded or
has gone stale there is left out, and so is everything else in the export: sessions, memories, actions.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Final

from wikimem.errors import Invalid
from wikimem.graph.incoming.edges import (
    Incoming,
    Reading,
    alias_of,
    cut,
    entity_or_why,
    property_name,
    related_between,
)
from wikimem.graph.naming import Entity
from wikimem.graph.vocabulary import RELATIONS, STATED
from wikimem.text.dates import parse_iso
from wikimem.text.triples import Literal

_HINT: Final = "Give the JSON that agentmemory's export gave. Nothing was written."
_TAKEN: Final = ("graphNodes", "graphEdges")


def read_agentmemory(text: str, name: str, source: str, project: str | None) -> Reading:
    """The edges of a file called `name`. Raises Invalid where it is no such export."""
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        where = f"{error.lineno}: {error.msg}" if isinstance(error, json.JSONDecodeError) else f" {error}"
        raise Invalid(f"{name}:{where}", hint=_HINT) from error
    nodes, edges = (_list(document, key, name) for key in _TAKEN)
    found = Reading(files=1)
    entities: dict[str, Entity] = {}
    for number, node in enumerate(nodes):
        place = f"{name}: graphNodes[{number}]"
        entity = _entity(node, project)
        if isinstance(entity, str):
            found.skip(place, entity)
            continue
        entities[str(node.get("id"))] = entity
        found.edges += _said_of(node, entity, place, source)
    for number, edge in enumerate(edges):
        place = f"{name}: graphEdges[{number}]"
        read = _edge(edge, entities, place, source, found)
        if isinstance(read, str):
            found.skip(place, read)
        else:
            found.edges.append(read)
    for key, held in document.items():
        if key not in _TAKEN and isinstance(held, list | dict) and held:
            found.skip(f"{name}: {key}", f"{len(held)} are no part of the graph")
    return found


def _list(document: Any, key: str, name: str) -> list[Mapping[str, Any]]:
    if not isinstance(document, dict) or not (document.keys() & set(_TAKEN) or "version" in document):
        raise Invalid(
            f"{name}: it has neither graphNodes nor graphEdges",
            hint=_HINT,
        )
    listed = document.get(key) or []
    if not isinstance(listed, list) or not all(isinstance(each, dict) for each in listed):
        raise Invalid(f"{name}: {key} is no list of objects", hint="Nothing was written.")
    return listed


def _entity(node: Mapping[str, Any], project: str | None) -> Entity | str:
    if node.get("stale") is True:
        return "it is marked as stale"
    return entity_or_why(str(node.get("type", "")), str(node.get("name", "")), project)


def _said_of(node: Mapping[str, Any], entity: Entity, place: str, source: str) -> list[Incoming]:
    """Its aliases, and its properties as far as they are plain values."""
    aliases = node.get("aliases")
    named = (alias_of(entity, str(each), place, source) for each in (aliases if isinstance(aliases, list) else []))
    found = [each for each in named if each is not None]
    properties = node.get("properties")
    for key, value in properties.items() if isinstance(properties, dict) else ():
        predicate = property_name(str(key))
        plain = isinstance(value, str | int | float) and not isinstance(value, bool)
        if predicate and plain and cut(str(value)):
            found.append(Incoming(entity.iri, predicate, Literal(cut(str(value))), place, source, (entity,)))
    return found


def _edge(
    edge: Mapping[str, Any], entities: Mapping[str, Entity], place: str, source: str, found: Reading
) -> Incoming | str:
    ends = [entities.get(str(edge.get(key))) for key in ("sourceNodeId", "targetNodeId")]
    subject, object_ = ends
    if subject is None or object_ is None:
        return "one of its ends is not in the file, or was not taken"
    if edge.get("stale") is True:
        return "it is marked as stale"
    if edge.get("supersededBy") or (edge.get("isLatest") is False and not edge.get("tvalidEnd")):
        return "a later version took its place"
    relation, first, second = related_between(str(edge.get("type", "")), subject, object_)
    if relation.words:
        found.reworded[relation.words] += 1
    told = edge.get("context")
    context: Mapping[str, Any] = told if isinstance(told, dict) else {}
    start, end = (_date(edge.get(key)) for key in ("tvalid", "tvalidEnd"))
    reasons = [cut(text) for text in (relation.words, str(context.get("reasoning") or "")) if text.strip()]
    alternatives = context.get("alternatives")
    return Incoming(
        first.iri,
        RELATIONS[relation.name].iri,
        second.iri,
        place,
        source,
        (first, second),
        _weight(edge.get("weight")),
        start,
        end,
        (": ".join(reasons),) if reasons else (),
        (cut(str(context["sentiment"])),) if context.get("sentiment") else (),
        tuple(sorted({cut(str(each)) for each in alternatives} - {""})) if isinstance(alternatives, list) else (),
    )


def _date(written: Any) -> str | None:
    """A date of validity as it is stored: a day, or an instant in UTC; None for what is no date."""
    period = parse_iso(written) if isinstance(written, str) else None
    if period is None:
        return None
    if "T" not in str(written):
        return str(written)
    moment: datetime = period.start.astimezone(UTC)
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def _weight(written: Any) -> float:
    if isinstance(written, int | float) and not isinstance(written, bool) and 0 <= written <= 1:
        return float(written)
    return STATED
