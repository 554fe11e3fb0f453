"""What each operation returns: the keys of `--json`, of MCP's structured content and of REST.

Dates are ISO 8601 texts; None where there is none. Texts that come from pages have secrets masked. Keys are added
within a version of a schema, never renamed.
"""

from __future__ import annotations

from typing import TypedDict

from msgspec import Struct


class PageRef(Struct, frozen=True):
    """What every result says of a page."""

    id: str
    path: str
    title: str
    type: str


class PageSummary(Struct, frozen=True):
    id: str
    path: str
    title: str
    type: str
    status: str
    project: str | None
    tags: tuple[str, ...]
    confidence: float | None
    trust: str
    pinned: bool
    created: str | None
    changed: str | None
    valid_from: str | None
    valid_to: str | None


class TraceResult(Struct, frozen=True):
    """Rank (from 1) and share of the score in each stream, what boosted it, and the graph's path in words."""

    words: int | None
    vectors: int | None
    graph: int | None
    parts: dict[str, float]
    boosts: dict[str, float]
    graph_path: str


class HitResult(Struct, frozen=True):
    id: str
    path: str
    title: str
    type: str
    status: str
    score: float
    passage: str
    heading: str
    more: tuple[str, ...]
    sources: tuple[str, ...]
    valid_from: str | None
    valid_to: str | None
    confidence: float | None
    trust: str
    project: str | None
    revision: str
    trace: TraceResult | None = None


class SearchResult(Struct, frozen=True):
    """`streams` says which answered and why the others did not; `behind` counts pages not yet indexed."""

    query: str
    hits: tuple[HitResult, ...]
    streams: dict[str, str]
    behind: int
    stale: int
    project: str | None
    cursor: str | None
    notes: tuple[str, ...]


class ContextItem(Struct, frozen=True):
    """One memory in the block: which page, which part of it, and what it cost in tokens."""

    id: str
    path: str
    title: str
    type: str
    heading: str
    whole: bool
    tokens: int
    confidence: float | None
    trust: str
    valid_from: str | None
    valid_to: str | None
    revision: str


class ContextResult(Struct, frozen=True):
    """`text` is the block to give to a model: data, fenced and cited. `tokens` never exceeds the budget;
    `vault_tokens` is what all pages would have cost. Both are estimates."""

    text: str
    items: tuple[ContextItem, ...]
    tokens: int
    vault_tokens: int
    budget: int
    project: str | None
    behind: int
    streams: dict[str, str]
    notes: tuple[str, ...]


class LinkOut(Struct, frozen=True):
    """A link as written; `path` is where it leads, null where nothing is there."""

    text: str
    kind: str
    path: str | None


class LinkIn(Struct, frozen=True):
    path: str
    kind: str


class ReadResult(Struct, frozen=True):
    """`body` and `frontmatter` have secrets masked; `revision` is what `edit --base` takes."""

    id: str
    path: str
    title: str
    type: str
    frontmatter: dict[str, str | tuple[str, ...] | None]
    body: str
    revision: str
    writable: bool
    links_out: tuple[LinkOut, ...]
    links_in: tuple[LinkIn, ...]
    problems: tuple[str, ...]
    notes: tuple[str, ...]


class SimilarPage(Struct, frozen=True):
    """A page that is near in meaning; `score` is a cosine from 0 to 1."""

    id: str
    title: str
    path: str
    score: float


class RememberResult(Struct, frozen=True):
    """`commit` is null where the very same memory was there already, or git is busy (then `notes` says so).

    `redacted` counts the secrets that were taken out, by kind; `similar` are pages near in meaning, never changed.
    """

    page: PageRef
    commit: str | None
    existing: bool
    superseded: tuple[str, ...]
    disputed: tuple[str, ...]
    similar: tuple[SimilarPage, ...]
    redacted: dict[str, int]
    notes: tuple[str, ...]


class EditResult(Struct, frozen=True):
    """`revision` is the page's new one; `commit` is null where nothing changed, or git is busy (see `notes`)."""

    page: PageRef
    commit: str | None
    revision: str
    redacted: dict[str, int]
    notes: tuple[str, ...]


class Removed(Struct, frozen=True):
    """What the index held of some pages, and holds no more: the pages, their passages, the links on them."""

    pages: int
    passages: int
    links: int


class ForgetResult(Struct, frozen=True):
    """`pages` are gone, or with `dry_run` would be; `links_in` are pages that still link to them.

    `removed` was counted before, and verified in every part of the index after; it is null where another process kept
    the index. `unlinked` are pages where the links were replaced by their text.
    """

    pages: tuple[PageRef, ...]
    commit: str | None
    dry_run: bool
    links_in: tuple[str, ...]
    removed: Removed | None
    unlinked: tuple[str, ...]
    notes: tuple[str, ...]


class MoveResult(Struct, frozen=True):
    """`rewritten` are the pages whose links were changed, `links` how many links that were.

    `left` says which pages keep a link that leads nowhere now, and why. `commit` is null where the page was there
    already, or git is busy (see `notes`).
    """

    page: PageRef
    moved_from: str
    commit: str | None
    rewritten: tuple[str, ...]
    links: int
    left: tuple[str, ...]
    notes: tuple[str, ...]


LinkEdge = TypedDict(
    "LinkEdge",
    {"from": str, "to": str | None, "kind": str, "text": str, "broken": bool, "depth": int},
)
"""A link from page to page: `text` as it is written, `to` the path that it means, null where that is no page.

`broken` is true where it means no page and no file of another kind. `depth` is 1 for links of the page asked about.
A dictionary, since a field of a class cannot be called `from`.
"""


class LinksResult(Struct, frozen=True):
    """`more` is true where there are more links than were asked for."""

    page: PageRef
    links: tuple[LinkEdge, ...]
    more: bool
    notes: tuple[str, ...]


class ListResult(Struct, frozen=True):
    """`next` is the cursor of the rest, null at the end; `total` counts all pages that fit."""

    pages: tuple[PageSummary, ...]
    next: str | None
    total: int
    notes: tuple[str, ...]


class SessionCommit(Struct, frozen=True):
    """A commit of the code base that a session made: `commit` is its hash, shortened; `source` the line that says so.

    `kind` is `commit` where its message was written in the session, `merge` or `pick` (a cherry-pick, a rebase) where
    it may be somebody else's, and `printed commit` where only a command's output tells of it.
    """

    commit: str
    time: str
    kind: str
    subject: str
    source: str


class LogEntry(Struct, frozen=True):
    """One commit. `op`, `agent` and `session` are null where a person committed without wikimem."""

    commit: str
    time: str
    op: str | None
    agent: str | None
    session: str | None
    author: str
    subject: str
    pages: tuple[str, ...]


class LogResult(Struct, frozen=True):
    """`made`: where one session is meant, what it committed to its code base, newest first."""

    entries: tuple[LogEntry, ...]
    notes: tuple[str, ...]
    made: tuple[SessionCommit, ...] = ()


class IndexStatus(Struct, frozen=True):
    """`streams` says which can answer; `behind` counts pages that are not indexed yet."""

    behind: int
    passages: int
    links: int
    broken_links: int
    streams: dict[str, str]
    model: str | None
    folder: str


class GitStatus(Struct, frozen=True):
    """`dirty` counts files with changes that are not committed; `ahead` and `behind` are null without an upstream."""

    branch: str | None
    commit: str | None
    dirty: int
    ahead: int | None
    behind: int | None
    operation: str | None


class DiskStatus(Struct, frozen=True):
    """Bytes: of the pages, of git's objects (those of the whole repository), of the search index."""

    pages: int
    git: int
    index: int


class MergeLeftover(Struct, frozen=True):
    """What is to be mended on a page after a merge; `commit` and `author` are those of a merge that wikimem did not
    make, null where no such commit brought it."""

    path: str
    what: str
    commit: str | None
    author: str | None


class TokenStatus(Struct, frozen=True):
    """What `context` gave in all, and what the whole vault would have cost instead, less that. Estimates."""

    given: int
    saved: int


class ProblemResult(Struct, frozen=True):
    rule: str
    path: str
    line: int | None
    message: str


class CheckProblem(Struct, frozen=True):
    """`severity` is error, warning or note; `fixable` says that `fix` mends it, `remedy` what to do else."""

    rule: str
    path: str
    line: int | None
    message: str
    fixable: bool
    severity: str
    remedy: str


class CheckResult(Struct, frozen=True):
    """`problems` are at most `limit` of `total`; `counts` has how many there are by rule.

    `fixed` says what was mended, or with `dry_run` would be, `left` what could not be, and why. `failed` is true with
    `strict` where an error or a warning is left: the command then exits with 1.
    """

    problems: tuple[CheckProblem, ...]
    total: int
    counts: dict[str, int]
    fixed: tuple[str, ...]
    left: tuple[str, ...]
    commit: str | None
    dry_run: bool
    failed: bool
    notes: tuple[str, ...]


class CaptureStatus(Struct, frozen=True):
    """What agents' hooks brought. `waiting` events are in the spool, since `oldest` (a date); `set_aside` could not be
    read; `not_kept` are those of all vaults that hooks lost lately, as their log says. `hooks` says in words, for each
    agent that was connected, whether it still is."""

    waiting: int
    oldest: str | None
    set_aside: int
    not_kept: int
    hooks: dict[str, str]


class StatusResult(Struct, frozen=True):
    """`pages` counts by type; `problems` are at most 50 of `problem_count`, `to_mend` at most 20.

    `watching` and `resident` say in words which process does the background work and which answers; `llm` which
    language model may be asked and what was spent today, null where none is configured.
    """

    vault: str
    pages: dict[str, int]
    total: int
    project: str | None
    projects: tuple[str, ...]
    index: IndexStatus
    git: GitStatus
    resident: str
    watching: str
    disk: DiskStatus
    tokens: TokenStatus
    capture: CaptureStatus
    llm: str | None
    to_mend: tuple[MergeLeftover, ...]
    problems: tuple[ProblemResult, ...]
    problem_count: int
    notes: tuple[str, ...]


class ReindexResult(Struct, frozen=True):
    """`differences` is what `verify` found between the index and one made anew: empty when it is right."""

    indexed: int
    removed: int
    seconds: float
    differences: tuple[str, ...]
    skipped: tuple[str, ...]
    notes: tuple[str, ...]
