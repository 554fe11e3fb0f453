"""What becomes of what a model answers: edges whose words stand in the page, and the rest dropped, each for a reason.

A model may be wrong, or be talked into something by the page that it reads. So nothing counts that the page does not
say in the quoted words, in the vocabulary, about things that the page names.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Any, Final

from msgspec import Struct

from wikimem.graph.extraction.found import Extracted, Named
from wikimem.graph.extraction.sentences import Observed, observations_of
from wikimem.graph.naming import normalised
from wikimem.graph.vocabulary import ENTITY_TYPES, GUESSED, INFERRED, RELATIONS
from wikimem.search.graphview import one_line

LONGEST_QUOTE: Final = 600
LEAST_QUOTE: Final = 8
MOST_EDGES: Final = 100
"""Edges that one answer gives."""

SHAPE: Final = "not as it was asked for"
TYPE: Final = "a type outside the vocabulary"
RELATION: Final = "a relation outside the vocabulary"
SELF: Final = "an edge from a thing to itself"
QUOTE: Final = "a quote that is not in the page"
UNNAMED: Final = "a quote that names neither thing"
FOREIGN: Final = "a thing that the page does not name"
TOO_MANY: Final = f"more than {MOST_EDGES} edges in one answer"

_SAME: Final = str.maketrans({"\u2018": "'", "\u2019": "'", "\u201c": '"', "\u201d": '"', "\u2013": "-", "\u2014": "-"})
_DECORATION: Final = frozenset("*_`[]")
_REDACTED: Final = "[redacted:"


class Source(Struct, frozen=True):
    """What an answer is checked against: the part that was sent, and the page as its file has it.

    `about` are other texts that name things: title, aliases, project.
    """

    sent: str
    written: str
    about: tuple[str, ...]
    observed: tuple[Observed, ...]


def source_of(sent: str, written: str, about: Sequence[str]) -> Source:
    """A source from raw texts: runs of blanks become one, as where quotes are compared with their page."""
    observed = tuple(Observed(seen.label, one_line(seen.body), seen.id) for seen in observations_of(written))
    return Source(one_line(sent), one_line(written), tuple(map(one_line, about)), observed)


def misshapen(items: Sequence[Any]) -> int:
    """How many items have not the fields that were asked for, so that asking once more is worth it."""
    return sum(_shaped(item) is None for item in items)


def checked(items: Sequence[Any], source: Source, dropped: Counter[str]) -> list[Extracted]:
    """The edges that the source bears out, each once; `dropped` counts the others by reason."""
    found: dict[tuple[Named, str, Named], Extracted] = {}
    for item in items:
        edge = _edge(item, source)
        if isinstance(edge, str):
            dropped[edge] += 1
            continue
        key = (edge.subject, edge.relation, edge.object)
        if key not in found and len(found) >= MOST_EDGES:
            dropped[TOO_MANY] += 1
        elif key not in found or edge.weight > found[key].weight:
            found[key] = edge
    return list(found.values())


def _edge(item: Any, source: Source) -> Extracted | str:
    """The edge that an item states, or why it counts for nothing."""
    shaped = _shaped(item)
    if shaped is None:
        return SHAPE
    subject, relation, object_, quote = shaped
    if subject.type not in ENTITY_TYPES or object_.type not in ENTITY_TYPES:
        return TYPE
    if relation not in RELATIONS:
        return RELATION
    if _key(subject) == _key(object_):
        return SELF
    span = span_in(source, quote)
    if span is None:
        return QUOTE
    if not (_names(span, subject) or _names(span, object_)):
        return UNNAMED
    if not all(_is_named(end, source) for end in (subject, object_)):
        return FOREIGN
    return Extracted(
        subject,
        relation,
        object_,
        # What a model says is never as good as what a person or a plain sentence states.
        INFERRED if str(item.get("basis", "")).strip().casefold() == "stated" else GUESSED,
        span,
        span_in(source, _text(item.get("reason"))) or "",
        tuple(name for name in _texts(item.get("alternatives")) if _says(source.sent, name)),
        next((seen.id for seen in source.observed if span in seen.body), ""),
    )


def span_in(source: Source, quote: str) -> str | None:
    """The words of the page that `quote` gives, as the page has them; None where it has not.

    A model writes straight quotes for curly ones and leaves marks of Markdown out: the page's own characters count.
    """
    wanted = one_line(quote).strip('"\u201c\u201d ')
    if not LEAST_QUOTE <= len(wanted) <= LONGEST_QUOTE:
        return None
    if wanted in source.sent:
        return wanted if wanted in source.written else None
    plain, places = _plain(source.sent)
    bare, _ = _plain(wanted)
    at = plain.find(bare) if len(bare) >= LEAST_QUOTE else -1
    if at < 0:
        return None
    span = source.sent[places[at] : places[at + len(bare) - 1] + 1].strip()
    return span if len(span) <= LONGEST_QUOTE and span in source.written else None


def _plain(text: str) -> tuple[str, list[int]]:
    """`text` without marks of Markdown and typography, and where each of its characters stands."""
    kept = [(char, place) for place, char in enumerate(text.translate(_SAME)) if char not in _DECORATION]
    return "".join(char for char, _ in kept), [place for _, place in kept]


def _shaped(item: Any) -> tuple[Named, str, Named, str] | None:
    if not isinstance(item, dict):
        return None
    subject, object_ = _named(item.get("subject")), _named(item.get("object"))
    relation, quote = _text(item.get("relation")), _text(item.get("quote"))
    if subject is None or object_ is None or not relation or not quote:
        return None
    return subject, re.sub(r"[\s-]+", "_", relation.casefold()), object_, quote


def _named(value: Any) -> Named | None:
    """A thing as an object with type and name, or as `type:name`."""
    if isinstance(value, dict):
        kind, name = _text(value.get("type")), _text(value.get("name"))
    else:
        kind, _, name = _text(value).partition(":")
    kind, name = kind.strip().casefold(), " ".join(name.split())
    return Named(kind, name) if kind and name else None


def _text(value: Any) -> str:
    return value.strip() if isinstance(value, str) else ""


def _texts(value: Any) -> list[str]:
    """Names from a list; from a text where XML has them, divided by commas."""
    given = value.split(",") if isinstance(value, str) else value if isinstance(value, list) else []
    return list(dict.fromkeys(" ".join(each.split()) for each in given if isinstance(each, str) and each.strip()))


def _key(named: Named) -> tuple[str, str]:
    return named.type, normalised(named.type, named.name)


def _is_named(named: Named, source: Source) -> bool:
    if _REDACTED in named.name:
        return False
    return any(_names(text, named) for text in (source.sent, *source.about))


def _names(text: str, named: Named) -> bool:
    return any(_says(text, name) for name in {named.name, normalised(named.type, named.name)})


def _says(text: str, name: str) -> bool:
    """Whether the text has the name as a word of its own. Letters beyond ASCII may follow: Korean particles do."""
    low = " ".join(name.casefold().split())
    return bool(low) and re.search(rf"(?<![a-z0-9_]){re.escape(low)}(?![a-z0-9_])", text.casefold()) is not None
