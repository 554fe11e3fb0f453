"""forget: take pages out of the vault. Git keeps what they said; `purge` is what removes that."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from wikimem.errors import Refused
from wikimem.model.hit import PageRow
from wikimem.model.page import TRUST_ORDER

if TYPE_CHECKING:
    from wikimem.wiki import Wiki


@dataclass(frozen=True, slots=True)
class Forgotten:
    """`remaining` is what the index still finds of these pages afterwards: always 0, or it would be an error."""

    commit: str | None
    inbound: tuple[str, ...]


def check_forgettable(wiki: Wiki, rows: Sequence[PageRow]) -> None:
    """Raises Refused where an agent would forget what a person stated."""
    mine = TRUST_ORDER.index(wiki.caller.trust)
    for row in rows:
        if TRUST_ORDER.index(row.trust) > mine:
            raise Refused(
                f"an agent cannot forget '{row.path}', which a person stated",
                hint=f"A person can: `wikimem forget {row.id[-8:]}`.",
            )


def inbound_links(wiki: Wiki, rows: Sequence[PageRow]) -> tuple[str, ...]:
    """Pages, outside `rows`, that link to one of them."""
    own = {row.path for row in rows}
    sources = {link.source for row in rows for link in wiki.index.links_in(row.path)}
    return tuple(sorted(sources - own))


def forget(wiki: Wiki, rows: Sequence[PageRow], reason: str | None) -> Forgotten:
    """Remove the pages, in one commit, from the vault and from every part of the index."""
    check_forgettable(wiki, rows)
    inbound = inbound_links(wiki, rows)
    with wiki.transaction("forget") as draft:
        for row in rows:
            draft.read(row.path)
            draft.remove(row.path)
        named = rows[0].title if len(rows) == 1 else f"{len(rows)} pages"
        draft.subject = f"forget: {named}" + (f" ({reason})" if reason else "")
        draft.pages = [row.id for row in rows]
    return Forgotten(draft.committed.commit if draft.committed else None, inbound)
