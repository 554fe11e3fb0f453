"""What `graph`, `link`, `timeline` and `sparql` return. Dates are ISO 8601 texts of the precision that was stated."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

ExportFormat = Literal["nt", "ttl", "jsonld"]
"""N-Triples, Turtle, JSON-LD."""
ImportHost = Literal["nt", "agentmemory", "basic-memory"]
"""Where a graph comes from: N-Triples, agentmemory's export, a folder of basic-memory's notes."""


class GraphEntity(Struct, frozen=True):
    """An entity, or a page that stands for itself. `address` is what to write to mean it; `page` the page about it.

    `distance` counts edges from the entity that was asked about, `score` is 1 there and falls on the way.
    """

    id: str
    type: str
    name: str
    address: str
    project: str | None
    aliases: tuple[str, ...]
    properties: dict[str, str]
    page: str | None
    distance: int
    score: float


class GraphEdge(Struct, frozen=True):
    """An edge. `holds` is yes, or maybe where a date is not exact enough to say; `evidence` counts the independent
    sources, `words` says it all."""

    id: str
    subject: str
    predicate: str
    object: str
    weight: float
    valid_from: str | None
    valid_to: str | None
    holds: str
    reasoning: str
    alternatives: tuple[str, ...]
    sources: tuple[str, ...]
    evidence: int
    known_since: str | None
    words: str


class GraphResult(Struct, frozen=True):
    """`paths` says how each entity is connected, in words. `began` and `ended` are edges that began or ended to hold
    between `since` and `as_of`. `hubs` were reached and not walked through; `more` edges are not shown. `picture` is
    the graph in the format that was asked for."""

    entity: GraphEntity
    entities: tuple[GraphEntity, ...]
    edges: tuple[GraphEdge, ...]
    paths: tuple[str, ...]
    began: tuple[str, ...]
    ended: tuple[str, ...]
    hubs: tuple[str, ...]
    more: int
    as_of: str | None
    project: str | None
    picture: str | None
    problems: tuple[str, ...]
    notes: tuple[str, ...]


class LinkResult(Struct, frozen=True):
    """`edge` is what holds now, null where nobody states it any more. `commit` is null where it was known already, or
    git is busy (see `notes`). `redacted` counts the secrets that were taken out, by kind."""

    edge: GraphEdge | None
    commit: str | None
    existing: bool
    redacted: dict[str, int]
    notes: tuple[str, ...]


class TimelineEntry(Struct, frozen=True):
    """`time` is when it was so in the world, as exactly as it is known; `kind` is began, ended, stated or created."""

    time: str
    kind: str
    title: str
    text: str
    source: str


class TimelineResult(Struct, frozen=True):
    """`entries` in the order of valid time; `undated` says what has no date."""

    about: str
    entries: tuple[TimelineEntry, ...]
    undated: tuple[str, ...]
    notes: tuple[str, ...]


class SparqlResult(Struct, frozen=True):
    """`rows` are texts in the order of `vars`, null where a variable is not bound; `more` says that rows were cut."""

    vars: tuple[str, ...]
    rows: tuple[tuple[str | None, ...], ...]
    more: bool
    seconds: float
    notes: tuple[str, ...]


class ExportResult(Struct, frozen=True):
    """`count` triples in `format`. `text` is all of them, null where they were written to the file at `path`."""

    format: str
    count: int
    path: str | None
    text: str | None
    notes: tuple[str, ...]


class ImportResult(Struct, frozen=True):
    """`edges` were in the files, of which `new` were added (or would be, with `dry_run`) and `known` were there before.

    `foreign` counts the predicates outside the vocabulary that were kept, `reworded` the names of relations that became
    `related_to` with their own words as the reason. `skipped` says what was not taken, and why; `more` are not listed.
    """

    files: int
    edges: int
    new: int
    known: int
    foreign: dict[str, int]
    reworded: dict[str, int]
    skipped: tuple[str, ...]
    more: int
    redacted: dict[str, int]
    commit: str | None
    dry_run: bool
    notes: tuple[str, ...]


class ExtractedEdge(Struct, frozen=True):
    """An edge that a page states; `page` is its path, `quote` its words. `new` where the graph did not have it. `by`
    is rules or llm: who found it."""

    page: str
    subject: str
    predicate: str
    object: str
    weight: float
    quote: str
    reasoning: str
    alternatives: tuple[str, ...]
    new: bool
    by: str


class LlmRequest(Struct, frozen=True):
    """What would be sent about a part of a page: about so many tokens. `text` is empty where several pages are asked
    about."""

    page: str
    part: int
    parts: int
    tokens: int
    text: str


class LlmReceipt(Struct, frozen=True):
    """What a language model did and cost. `model` and `address` say who was asked.

    `parts` of pages were asked about, `known` were not, because nothing has changed since they were. `calls` are
    requests, `asked` and `answered` tokens, of this run and of all that happened today; `estimated` where the server
    did not count. `repaired` answers could be read after a second question, `unread` could not. `dropped` counts what
    was not kept, by reason. `stopped` says why the rest was not asked about. `requests` is what would be sent.
    """

    model: str
    address: str
    parts: int
    known: int
    calls: int
    asked: int
    answered: int
    estimated: bool
    calls_today: int
    tokens_today: int
    repaired: int
    unread: int
    dropped: dict[str, int]
    stopped: str | None
    requests: tuple[LlmRequest, ...]


class ExtractResult(Struct, frozen=True):
    """`edges` in the order of the pages; `more` are not shown. `new` counts those that the graph did not have.

    `written` are pages of entities whose generated section changed, `theirs` those that somebody edited there, which
    stay as they are. `commits` are empty where nothing was new, or with `dry_run`. `llm` is null unless a language
    model was to be asked.
    """

    edges: tuple[ExtractedEdge, ...]
    pages: int
    new: int
    more: int
    written: tuple[str, ...]
    theirs: tuple[str, ...]
    commits: tuple[str, ...]
    dry_run: bool
    llm: LlmReceipt | None
    notes: tuple[str, ...]
