"""search: find pages by words, meaning and links."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final, Literal

from wikimem.errors import Invalid
from wikimem.model.results import HitResult, SearchResult, TraceResult
from wikimem.operations.answering import date_text, notes_of, offset_of, search_scope, vault_state
from wikimem.operations.registry import Arg, operation
from wikimem.text.dates import parse_date

if TYPE_CHECKING:
    from wikimem.search.hits import Hit
    from wikimem.wiki import Wiki

StatusFilter = Literal["active", "superseded", "expired", "quarantined", "archived", "disputed", "any"]

WAIT_S: Final = 60.0
"""How long a past state waits for its index, which nobody else makes: it cannot be answered without."""


@operation(
    "read",
    idempotent=True,
    examples=(
        "wikimem search 'which library verifies our JWTs?'",
        "wikimem search ECONNREFUSED --type error --explain",
        "wikimem search 'auth middleware' --as-of 2025-03-15 --json",
        "wikimem search 'auth middleware' --at 'last march'",
    ),
)
def search(
    wiki: Wiki,
    query: Annotated[str, Arg('A question or words, in any language; a "quoted phrase" counts more.', positional=True)],
    limit: Annotated[int, Arg("Most hits to return.", ge=1, le=100)] = 10,
    project: Annotated[str | None, Arg("Only this project's pages, and those of no project.")] = None,
    type: Annotated[str | None, Arg("Only pages of this type.")] = None,
    tag: Annotated[list[str], Arg("Only pages with this tag; repeat for several, all of which must be there.")] = [],  # noqa: B006
    agent: Annotated[str | None, Arg("Only pages that this agent made.")] = None,
    session: Annotated[str | None, Arg("Only pages from this session.")] = None,
    status: Annotated[StatusFilter | None, Arg("Only pages of this status; active where nothing is said.")] = None,
    as_of: Annotated[str | None, Arg("What held on this date: 2025-03-15, or words such as 'last march'.")] = None,
    at: Annotated[str | None, Arg("What the vault said at this revision or date.")] = None,
    explain: Annotated[bool, Arg("Say how each hit was found and ranked.")] = False,
    streams: Annotated[list[str], Arg("Ask only these streams: words, vectors, graph.")] = [],  # noqa: B006
    group: Annotated[
        Literal["page", "passage"], Arg("What a hit is: a page with its best passages, or a passage.")
    ] = "page",
    now: Annotated[str | None, Arg("The date that 'today' means in this search.")] = None,
    cursor: Annotated[str | None, Arg("Go on after an earlier answer: its `cursor`.")] = None,
) -> SearchResult:
    """Find pages by words, meaning and links.

    Hits come best first, each with the passage that answers, its sources and when it holds. Only what is active
    and holds now is found, unless --status or --as-of ask otherwise. With --at the vault answers as it would have then:
    that state is checked out and indexed first, which takes as long as a first index.
    """
    from wikimem.search.current import unchanged_in
    from wikimem.search.edges import asserted_edges
    from wikimem.search.filters import make_filter
    from wikimem.search.reranker import reranker_of
    from wikimem.search.search import search as run
    from wikimem.search.streams import STREAM_NAMES
    from wikimem.search.synonyms import vault_table

    if not query.strip():
        raise Invalid("query: there is nothing to look for", hint="Give words or a question.")
    asked = tuple(name.strip() for part in streams for name in part.split(",")) or STREAM_NAMES
    with vault_state(wiki, at) as (vault, then):
        moment = parse_date(now, then, "now").start if now else then
        refreshed = vault.refresh(wait_s=WAIT_S if at else 0.0)
        scope, _ = search_scope(vault, project)
        where = make_filter(
            now=moment,
            as_of=parse_date(as_of, moment, "as_of") if as_of else None,
            status=status,
            project=scope,
            types=(type,) if type else (),
            tags=tag,
            agent=agent,
            session=session,
        )
        with asserted_edges(vault, where, keep_missing=bool(refreshed.why)) as edges:
            outcome = run(
                vault.index,
                query,
                where,
                now=moment,
                read_page=vault.page_to_recall,
                mask=vault.redactor.mask,
                unchanged=unchanged_in(vault.root),
                limit=limit,
                offset=offset_of(cursor),
                streams=asked,
                group=group,
                edges=edges,
                reranker=reranker_of(vault.user),
                synonyms=vault_table(vault.root),
            )
        return SearchResult(
            query=vault.redactor.mask(query),
            hits=tuple(_hit(hit, explain=explain) for hit in outcome.hits),
            streams=dict(outcome.answered),
            behind=refreshed.behind,
            stale=outcome.stale,
            project=scope,
            cursor=str(outcome.next_offset) if outcome.next_offset is not None else None,
            notes=notes_of(vault, refreshed),
        )


def _hit(hit: Hit, *, explain: bool) -> HitResult:
    ranks = hit.trace.ranks
    trace = TraceResult(
        ranks.get("words"),
        ranks.get("vectors"),
        ranks.get("graph"),
        hit.trace.parts,
        hit.trace.boosts,
        hit.trace.graph_path,
    )
    return HitResult(
        id=hit.id,
        path=hit.path,
        title=hit.title,
        type=hit.type,
        status=hit.status,
        score=hit.score,
        passage=hit.passage,
        heading=hit.heading,
        more=tuple(excerpt.text for excerpt in hit.more),
        sources=hit.sources,
        valid_from=date_text(hit.valid_from),
        valid_to=date_text(hit.valid_to),
        confidence=hit.confidence,
        trust=hit.trust,
        project=hit.project,
        revision=hit.revision,
        trace=trace if explain else None,
    )
