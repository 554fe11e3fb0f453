"""forget: take pages out of the vault. Git keeps what they said; `purge` is what removes that."""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from wikimem.errors import Damaged, Refused, Unavailable, WikimemError
from wikimem.graph.files import FOLDER, page_file, tombstone
from wikimem.graph.reading import read_statements
from wikimem.index.resolve import resolve_link
from wikimem.memory.entitypages import renew_sections
from wikimem.memory.rewrite import edit_links, shown_text
from wikimem.model.hit import PageRow
from wikimem.model.page import TRUST_ORDER, Page
from wikimem.search.graphview import GraphView, open_view
from wikimem.search.pagefacts import entity_of_page
from wikimem.text.page import parse_page

if TYPE_CHECKING:
    from wikimem.graph.statements import Edge
    from wikimem.index.verify import Holdings
    from wikimem.vault.draft import Draft
    from wikimem.wiki import Wiki

WAIT_S: Final = 30.0
"""How long to wait for another process to let go of the index, so that it can be looked into."""
_GUARDED: Final = ("supersedes", "superseded_by")
"""Properties with links that an agent does not change on a page that a person stated."""


class Forgotten(Struct, frozen=True):
    """`removed` is what every part of the index held before and holds no more; None where it could not be looked into.

    `inbound` are pages that still link to what is gone, `unlinked` those whose links were replaced by their text.
    """

    commit: str | None
    inbound: tuple[str, ...]
    unlinked: tuple[str, ...]
    removed: Holdings | None


def check_forgettable(wiki: Wiki, rows: Sequence[PageRow]) -> None:
    """Raises Refused where an agent would forget what a person stated."""
    for row in rows:
        if _outranked(wiki, row.trust):
            raise Refused(
                f"an agent cannot forget '{row.path}', which a person stated",
                hint=f"A person can: `wikimem forget {row.id[-8:]}`.",
            )


def _outranked(wiki: Wiki, trust: str) -> bool:
    return TRUST_ORDER.index(trust) > TRUST_ORDER.index(wiki.caller.trust)


def inbound_links(wiki: Wiki, rows: Sequence[PageRow]) -> tuple[str, ...]:
    """Pages, outside `rows`, that link to one of them."""
    own = {row.path for row in rows}
    sources = {link.source for row in rows for link in wiki.index.links_in(row.path)}
    return tuple(sorted(sources - own))


def plan_forget(wiki: Wiki, rows: Sequence[PageRow]) -> Forgotten:
    """What forgetting these pages would take out of the index, and which pages link to them."""
    from wikimem.index.verify import holdings

    return Forgotten(None, inbound_links(wiki, rows), (), holdings(wiki.index, rows))


def forget(wiki: Wiki, rows: Sequence[PageRow], reason: str | None, *, unlink: bool = False) -> Forgotten:
    """Remove the pages, in one commit, from the vault and from every part of the index.

    With `unlink`, links to them are replaced by their text in that commit. Raises Damaged where some part of the index
    holds something of them afterwards.
    """
    from wikimem.index.verify import holdings

    check_forgettable(wiki, rows)
    inbound = inbound_links(wiki, rows)
    meant = {(link.source, link.target) for row in rows for link in wiki.index.links_in(row.path)}
    before = holdings(wiki.index, rows)
    passages = {passage.id for row in rows for passage in wiki.index.page_passages(row.number)}
    unlinked: list[str] = []
    still: list[str] = [] if unlink else list(inbound)
    with _graph_of(wiki) as view, wiki.transaction("forget") as draft:
        told = _entities_told(wiki, view, draft, rows) if view else set()
        for row in rows:
            draft.read(row.path)
            draft.remove(row.path)
            if draft.exists(page_file(row.id)):
                draft.put(page_file(row.id), tombstone(row.id))
        # Before links are taken off: a section that was changed otherwise is somebody's own.
        renewed = renew_sections(wiki, draft, view, told, gone=rows) if view else ()
        still = [
            path for path in still if path not in renewed or _aimed(wiki, parse_page(path, draft.read(path)), rows)
        ]
        for path in inbound if unlink else ():
            replaced, stay = _unlink(wiki, draft, path, rows)
            unlinked += [path] if replaced else []
            still += [path] if stay else []
        named = rows[0].title if len(rows) == 1 else f"{len(rows)} pages"
        draft.subject = f"forget: {named}" + (f" ({reason})" if reason else "")
        draft.pages = [row.id for row in rows]
    commit = draft.committed.commit if draft.committed else None
    removed = _verified(wiki, rows, passages, before, commit)
    _tell_of_others(wiki, still, meant)
    return Forgotten(commit, tuple(still), tuple(unlinked), removed)


@contextlib.contextmanager
def _graph_of(wiki: Wiki) -> Iterator[GraphView | None]:
    """The graph; None where there is none, or where it cannot be opened, which a note says."""
    if not (wiki.root / FOLDER).is_dir():
        yield None
        return
    with contextlib.ExitStack() as stack:
        view = None
        try:
            view = stack.enter_context(open_view(wiki))
        except (Unavailable, Damaged) as error:
            wiki.notes.append(
                f"pages of entities may still say what it stated ({error.message}): run `wikimem extract all --pages`"
            )
        yield view


def _entities_told(wiki: Wiki, view: GraphView, draft: Draft, rows: Sequence[PageRow]) -> set[str]:
    """The entities whose pages may repeat what these pages state, or name them."""
    view.store.sync(wiki.root)
    found = {end for fact in view.facts_of([entity_of_page(row) for row in rows]).values() for end in _ends(fact.edge)}
    for row in rows:
        path = page_file(row.id)
        if draft.exists(path):
            edges = read_statements(draft.read(path).decode("utf-8", "replace"), path).edges
            found |= {end for edge in edges.values() for end in _ends(edge)}
    return {view.root(iri) for iri in found}


def _ends(edge: Edge) -> list[str]:
    return [end for end in (edge.subject, edge.object) if isinstance(end, str)]


def _unlink(wiki: Wiki, draft: Draft, path: str, rows: Sequence[PageRow]) -> tuple[int, int]:
    """Replace the links on a page to those that go by their text; how many were replaced, and how many stay."""
    data = draft.read(path)
    page = parse_page(path, data)
    aimed = _aimed(wiki, page, rows)
    loose = [place for place in aimed if _may_unlink(wiki, page, place)]
    try:
        draft.put(path, edit_links(page, data, dict.fromkeys(loose, shown_text), dropped=True))
    except WikimemError as error:
        wiki.notes.append(f"the links on '{path}' stay: {error.message}")
        return 0, len(aimed)
    return len(loose), len(aimed) - len(loose)


def _aimed(wiki: Wiki, page: Page, rows: Sequence[PageRow]) -> list[int]:
    """Which links of a page go to one of those."""
    numbers = {row.number for row in rows}
    named = wiki.index.named
    return [
        place
        for place, link in enumerate(page.links)
        if link.target and resolve_link(page.path, link.target, link.kind, named) in numbers
    ]


def _may_unlink(wiki: Wiki, page: Page, place: int) -> bool:
    link = page.links[place]
    if link.kind.lower() in _GUARDED and _outranked(wiki, page.meta.trust):
        return False
    # The text of a reference definition is on other lines, wherever its label is used.
    source = page.text[link.start : link.end]
    return source.startswith(("[[", "![[")) or link.start < page.body_start or "](" in source


def _tell_of_others(wiki: Wiki, paths: Sequence[str], meant: Collection[tuple[str, str]]) -> None:
    """Note the links that meant what is gone, and now find another page of that name."""
    for path in paths:
        for link in wiki.index.links_out(path):
            if (path, link.target) in meant and link.resolved is not None:
                wiki.notes.append(f"the link '{link.target}' on '{path}' means '{link.resolved}' from now on")


def _verified(
    wiki: Wiki, rows: Sequence[PageRow], passages: set[int], before: Holdings, commit: str | None
) -> Holdings | None:
    """What is gone, once every part of the index has been looked into."""
    from wikimem.index.verify import leftovers

    # A file that is there again by now is somebody's new page.
    gone = [row for row in rows if not (wiki.root / row.path).exists()]
    if any(wiki.index.page(row.path) is not None for row in gone):
        refreshed = wiki.refresh(wait_s=WAIT_S)
        if refreshed.why:
            wiki.notes.append(f"the index still has these pages: {refreshed.why}")
            return None
    left = leftovers(wiki.index, gone, passages)
    if left:
        done = f" in {commit[:10]}" if commit else ""
        raise Damaged(
            f"the pages are forgotten{done}, but the index still holds {', '.join(left)}",
            hint="Run `wikimem reindex --full`: the index is made from the pages again.",
        )
    return before
