"""What `graph`, `link`, `timeline` and `sparql` return. Dates are ISO 8601 texts of the precision that was stated."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class GraphEntity:
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


@dataclass(frozen=True, slots=True)
class GraphEdge:
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


@dataclass(frozen=True, slots=True)
class GraphResult:
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


@dataclass(frozen=True, slots=True)
class LinkResult:
    """`edge` is what holds now, null where nobody states it any more. `commit` is null where it was known already, or
    git is busy (see `notes`). `redacted` counts the secrets that were taken out, by kind."""

    edge: GraphEdge | None
    commit: str | None
    existing: bool
    redacted: dict[str, int]
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TimelineEntry:
    """`time` is when it was so in the world, as exactly as it is known; `kind` is began, ended, stated or created."""

    time: str
    kind: str
    title: str
    text: str
    source: str


@dataclass(frozen=True, slots=True)
class TimelineResult:
    """`entries` in the order of valid time; `undated` says what has no date."""

    about: str
    entries: tuple[TimelineEntry, ...]
    undated: tuple[str, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SparqlResult:
    """`rows` are texts in the order of `vars`, null where a variable is not bound; `more` says that rows were cut."""

    vars: tuple[str, ...]
    rows: tuple[tuple[str | None, ...], ...]
    more: bool
    seconds: float
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ExtractedEdge:
    """An edge that a page states; `page` is its path, `quote` its words. `new` where the graph did not have it."""

    page: str
    subject: str
    predicate: str
    object: str
    weight: float
    quote: str
    reasoning: str
    alternatives: tuple[str, ...]
    new: bool


@dataclass(frozen=True, slots=True)
class ExtractResult:
    """`edges` in the order of the pages; `more` are not shown. `new` counts those that the graph did not have.

    `written` are pages of entities whose generated section changed, `theirs` those that somebody edited there, which
    stay as they are. `commits` are empty where nothing was new, or with `dry_run`.
    """

    edges: tuple[ExtractedEdge, ...]
    pages: int
    new: int
    more: int
    written: tuple[str, ...]
    theirs: tuple[str, ...]
    commits: tuple[str, ...]
    dry_run: bool
    notes: tuple[str, ...]
