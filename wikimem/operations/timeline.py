"""timeline: what happened to an entity, a page or a topic, in the order of valid time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from wikimem.model.graph import TimelineEntry, TimelineResult
from wikimem.operations.answering import notes_of, search_scope
from wikimem.operations.registry import Arg, operation
from wikimem.text.dates import parse_date

if TYPE_CHECKING:
    from wikimem.wiki import Wiki


@operation(
    "read",
    idempotent=True,
    examples=("wikimem timeline library:jose", "wikimem timeline 'Use jose for JWT verification' --since 2025-06"),
)
def timeline(
    wiki: Wiki,
    about: Annotated[str, Arg("An entity, a page, or words to look for.", positional=True, raw=True)],
    since: Annotated[str | None, Arg("Only what happened since this date.")] = None,
    until: Annotated[str | None, Arg("Only what happened up to this date.")] = None,
    project: Annotated[str | None, Arg("Only what belongs to this project, or to none.")] = None,
    limit: Annotated[int, Arg("Most entries to return, the latest.", ge=1, le=10_000)] = 200,
) -> TimelineResult:
    """Show what happened to an entity, a page or a topic, in order: when edges began and ended, when pages held.

    The order is that of the world, not that of the commits; see `log` for those.
    """
    from wikimem.memory.timeline import timeline_of
    from wikimem.search.graphview import open_view

    now = wiki.clock()
    refreshed = wiki.refresh()
    scope, _ = search_scope(wiki, project)
    with open_view(wiki, scope, keep_missing=bool(refreshed.why)) as view:
        found = timeline_of(
            view,
            about,
            start=parse_date(since, now, "since").start if since else None,
            end=parse_date(until, now, "until").end if until else None,
        )
    mask = wiki.redactor.mask
    entries = found.entries[-limit:]
    return TimelineResult(
        about=mask(found.about),
        entries=tuple(
            TimelineEntry(each.time, each.kind, mask(each.title), mask(each.text), mask(each.source))
            for each in entries
        ),
        undated=tuple(map(mask, found.undated)),
        notes=notes_of(wiki, refreshed),
    )
