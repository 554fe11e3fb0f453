"""The properties that wikimem reads: what each means, in a line, and which words its value may be."""

from __future__ import annotations

from typing import Final, Literal

from msgspec import Struct

from wikimem.model.page import MEMORY_TYPES, STATUSES, TRUST_ORDER

Kind = Literal["text", "list", "date", "number", "checkbox", "links"]


class Property(Struct, frozen=True):
    """`choices` are all that the value can be where there are any; `kind` is `links` for lists of quoted wikilinks."""

    meaning: str
    kind: Kind = "text"
    choices: tuple[str, ...] = ()


PROPERTIES: Final[dict[str, Property]] = {
    "title": Property("What the page is called; without it, its first heading or its file's name."),
    "type": Property("What kind of memory the page is; without it, a note.", choices=MEMORY_TYPES),
    "status": Property("Whether it counts; without it, active.", choices=STATUSES),
    "confidence": Property("How sure it is, from 0 to 1.", "number"),
    "valid_from": Property("Since when it holds in the world.", "date"),
    "valid_to": Property("Until when it held; without it, it still holds.", "date"),
    "ttl": Property("How long it holds, such as P90D or P1Y."),
    "confirmed": Property("When somebody last found it to be so; `ttl` counts from here.", "date"),
    "created": Property("When the memory was made.", "date"),
    "sources": Property("Where it comes from: links to observations, URLs, `file:path@commit`, `commit:sha`.", "links"),
    "supersedes": Property("The pages that this one replaces.", "links"),
    "superseded_by": Property("The pages that replace this one.", "links"),
    "project": Property("The code base that it belongs to; without it, the folder says."),
    "tags": Property("Tags, without `#`.", "list"),
    "aliases": Property("Other names of the page.", "list"),
    "trust": Property("Who first said it; without it, human.", choices=tuple(reversed(TRUST_ORDER))),
    "importance": Property("How much it matters, from 0 to 1.", "number"),
    "pinned": Property("Whether it is kept from expiring and offered first.", "checkbox", ("true", "false")),
    "agent": Property("The agent that wrote it."),
    "session": Property("The session that it comes from."),
    "id": Property("The identity of the page: a ULID, which wikimem gives. It survives renames and moves."),
}
"""Every property of wikimem's schema, in the order in which a person may want it."""
