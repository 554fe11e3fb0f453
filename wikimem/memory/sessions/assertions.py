"""What a session that has ended states as edges of the graph: found by rules, each citing its observation and words.

Only what person and agent said, changed and ran is asked. What a tool printed or a web page said gives no edge, but for
the name of an error that was gone after an edit; its trust is the page's, which is an agent's at most.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from wikimem.errors import WikimemError
from wikimem.graph.extraction.sentences import Observed
from wikimem.model.hit import PageRow
from wikimem.text.sessionpage import ENDED, Observation

if TYPE_CHECKING:
    from wikimem.memory.sessions.pages import Part
    from wikimem.vault.draft import Draft
    from wikimem.wiki import Wiki

ASKED: Final = frozenset({"prompt", "said", "decision", "decided", "Edit", "Write", "Bash", "Shell", "Run"})
"""Labels of observations that may state something."""


def state_edges(wiki: Wiki, draft: Draft, parts: Sequence[Part]) -> int | None:
    """Add what the pages of a session that has ended state to the draft that writes them; how many edges are new.

    None where the graph cannot be read: the pages are written all the same, and `extract` finds the edges later.
    """
    from wikimem.memory.extraction import add_stated, assertions_of, known_names
    from wikimem.search.graphview import open_view

    if not any(each.label == ENDED for part in parts for each in part.seen):
        return 0
    try:
        known = known_names(wiki)
        with open_view(wiki) as view:
            stated = [
                each
                for part in parts
                if part.page.meta.id is not None
                for each in assertions_of(wiki, _row(part), list(_asked(part.seen)), known)
            ]
            return add_stated(view, draft, stated)
    except WikimemError:
        return None


def _row(part: Part) -> PageRow:
    """The page as the index will have it, as far as extraction asks."""
    page, meta = part.page, part.page.meta
    return PageRow(0, page.path, page.id, page.title, "session", "active", "", "", project=meta.project)


def _asked(seen: Sequence[Observation]) -> Iterator[Observed]:
    for each in seen:
        if each.label in ASKED:
            yield Observed(each.label, each.body, each.id)
