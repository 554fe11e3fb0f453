"""links: how a page is connected."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from wikimem.model.results import LinkEdge, LinksResult
from wikimem.operations.answering import notes_of, page_ref
from wikimem.operations.registry import Arg, operation

if TYPE_CHECKING:
    from wikimem.index.index import LinkRow
    from wikimem.wiki import Wiki

Direction = Literal["both", "in", "out"]


@operation(
    "read",
    idempotent=True,
    examples=("wikimem links Deploy", "wikimem links Deploy --direction in", "wikimem links Deploy --depth 2"),
)
def links(
    wiki: Wiki,
    page: Annotated[
        str, Arg("The page: id, end of its id, path, title, alias or [[wikilink]].", positional=True, raw=True)
    ],
    direction: Annotated[Direction, Arg("Links to the page, links on it, or both.")] = "both",
    depth: Annotated[int, Arg("How far to go: 1 for the page's own links, 2 for their other ends'.", ge=1, le=3)] = 1,
    limit: Annotated[int, Arg("Most links to return.", ge=1, le=10_000)] = 200,
) -> LinksResult:
    """Show the links of a page, in both directions, broken ones too.

    The same link written twice on a page is shown once.
    """
    refreshed = wiki.refresh()
    row = wiki.find(page)
    edges: dict[LinkRow, int] = {}
    seen, frontier = {row.path}, [row.path]
    for distance in range(1, depth + 1):
        reached: list[str] = []
        for path in frontier:
            if len(edges) > limit:
                break
            for link in _links_of(wiki, path, direction):
                edges.setdefault(link, distance)
                other = link.resolved if link.source == path else link.source
                if other is not None and other not in seen:
                    seen.add(other)
                    reached.append(other)
        frontier = reached
    return LinksResult(
        page=page_ref(wiki, row),
        links=tuple(_edge(wiki, link, distance) for link, distance in list(edges.items())[:limit]),
        more=len(edges) > limit,
        notes=notes_of(wiki, refreshed),
    )


def _links_of(wiki: Wiki, path: str, direction: Direction) -> list[LinkRow]:
    out = wiki.index.links_out(path) if direction != "in" else ()
    into = wiki.index.links_in(path) if direction != "out" else ()
    return [*out, *into]


def _edge(wiki: Wiki, link: LinkRow, distance: int) -> LinkEdge:
    written = f"{link.target}#{link.fragment}" if link.fragment else link.target
    return {
        "from": link.source,
        "to": link.resolved,
        "kind": link.kind,
        "text": wiki.redactor.mask(written),
        "broken": link.broken,
        "depth": distance,
    }
