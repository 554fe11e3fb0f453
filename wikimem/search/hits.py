"""What a search gives: pages with their best passages, or passages, as they stand on disk at this moment."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime

from msgspec import Struct

from wikimem.model.hit import PageRow, Trace


class Excerpt(Struct, frozen=True):
    """One passage of a page as it is given out: masked, with its heading path. `start` is its place in the page."""

    text: str
    heading: str
    start: int


class Hit(Struct, frozen=True):
    """A page, or one passage of it, that answers a query. `more` holds further passages of the page, best first.

    `id` is what every operation takes as PAGE. Text fields are masked. `score` is the sum of the trace's parts and
    boosts. `project` and `session` say where it belongs; `tokens` estimates what the whole page costs.
    """

    id: str
    path: str
    title: str
    type: str
    status: str
    score: float
    passage: str
    heading: str
    sources: tuple[str, ...]
    valid_from: datetime | None
    valid_to: datetime | None
    confidence: float | None
    trust: str
    revision: str
    trace: Trace
    start: int = 0
    more: tuple[Excerpt, ...] = ()
    project: str | None = None
    session: str | None = None
    pinned: bool = False
    tokens: int = 0


def hit_of(row: PageRow, excerpts: Sequence[Excerpt], trace: Trace, score: float, mask: Callable[[str], str]) -> Hit:
    """Make a hit of a page's row and its excerpts, best first and masked already; there is at least one."""
    return Hit(
        id=row.id,
        path=row.path,
        title=mask(row.title),
        type=row.type,
        status=row.status,
        score=score,
        passage=excerpts[0].text,
        heading=excerpts[0].heading,
        sources=tuple(mask(source) for source in row.sources),
        valid_from=row.valid_from,
        valid_to=row.valid_to,
        confidence=row.confidence,
        trust=row.trust,
        revision=row.revision,
        trace=trace,
        start=excerpts[0].start,
        more=tuple(excerpts[1:]),
        project=row.project,
        session=row.session,
        pinned=row.pinned,
        tokens=row.tokens,
    )
