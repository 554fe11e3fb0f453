"""extract: find what pages state, and keep it in the graph."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final

from wikimem.model.graph import ExtractedEdge, ExtractResult
from wikimem.operations.answering import notes_of
from wikimem.operations.registry import Arg, operation

if TYPE_CHECKING:
    from wikimem.memory.extraction import FromPage
    from wikimem.wiki import Wiki

EVERYTHING: Final = "all"
WAIT_S: Final = 10.0


@operation(
    "write",
    idempotent=True,
    examples=(
        "wikimem extract 'Use jose for JWT verification' --dry-run",
        "wikimem extract all",
        "wikimem extract all --pages",
    ),
)
def extract(
    wiki: Wiki,
    page: Annotated[str, Arg("A page, or `all` for every page.", positional=True, raw=True)],
    pages: Annotated[bool, Arg("Also write what is known of entities on their pages.")] = False,
    dry_run: Annotated[bool, Arg("Only say what would be added.")] = False,
    limit: Annotated[int, Arg("Most edges to list; all are kept.", ge=1, le=100_000)] = 200,
) -> ExtractResult:
    """Find entities and relations in a page by rules, and keep them as assertions of that page, in one commit.

    Each cites the page and its words, and counts while the page says them. Nothing leaves this machine. With pages,
    entities that have a page or three independent sources get a section that lists what is known of them.
    """
    from wikimem.memory.entitypages import write_entity_pages
    from wikimem.memory.extraction import extract_pages

    refreshed = wiki.refresh(wait_s=WAIT_S)
    rows = wiki.index.list_pages(None) if page == EVERYTHING else [wiki.find(page)]
    done = extract_pages(wiki, sorted(rows, key=lambda row: row.path), dry_run=dry_run)
    written = write_entity_pages(wiki, dry_run=dry_run) if pages else None
    edges = [edge for each in done.pages for edge in _edges(wiki, each)]
    commits = (done.commit, written.commit if written else None)
    return ExtractResult(
        edges=tuple(edges[:limit]),
        pages=sum(bool(each.stated) for each in done.pages),
        new=sum(len(each.fresh) for each in done.pages),
        more=max(0, len(edges) - limit),
        written=written.pages if written else (),
        theirs=written.theirs if written else (),
        commits=tuple(commit for commit in commits if commit),
        dry_run=dry_run,
        notes=notes_of(wiki, refreshed),
    )


def _edges(wiki: Wiki, said: FromPage) -> list[ExtractedEdge]:
    mask = wiki.redactor.mask
    fresh = {each.assertion.id for each in said.fresh}
    return [
        ExtractedEdge(
            page=mask(said.row.path),
            subject=mask(each.ends[0].address),
            predicate=each.found.relation,
            object=mask(each.ends[1].address),
            weight=each.found.weight,
            quote=mask(" ".join(each.found.quote.split())),
            reasoning=mask(each.found.reasoning),
            alternatives=tuple(map(mask, each.found.alternatives)),
            new=each.assertion.id in fresh,
        )
        for each in said.stated
    ]
