"""The sessions of a vault, as its pages have them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from wikimem.errors import NotFound
from wikimem.memory.sessions.digest import in_time, make_digest
from wikimem.memory.sessions.pages import Part, part_of
from wikimem.text.markdown import section_span
from wikimem.text.oneline import as_written
from wikimem.text.sessionpage import DIGEST, ENDED, Observation, digest_of

if TYPE_CHECKING:
    from wikimem.model.hit import PageFilter, PageRow
    from wikimem.wiki import Wiki


@dataclass(frozen=True, slots=True)
class Session:
    """One session: its name (empty where its page gives none), its parts in order."""

    name: str
    parts: tuple[Part, ...]

    @property
    def seen(self) -> list[Observation]:
        """Its observations, in time."""
        return in_time(each for part in self.parts for each in part.seen)

    @property
    def started(self) -> datetime | None:
        return self.parts[0].page.meta.created

    @property
    def ended(self) -> datetime | None:
        """When it ended; None where its page does not say so, or it went on."""
        seen = self.seen
        return seen[-1].when if seen and seen[-1].label == ENDED else None

    @property
    def outcome(self) -> str:
        """What came of it, in a reader's words: a person's digest where there is one, else by rule."""
        page = self.parts[-1].page
        if digest_of(page.text) is None:
            try:
                _, start, end = section_span(page.text, DIGEST, page.body_start)
            except NotFound:
                pass
            else:
                return page.text[start:end].strip().partition("\n\n")[0].strip()
        return as_written(make_digest(self.seen).outcome)


def list_sessions(wiki: Wiki, where: PageFilter, since: datetime | None) -> list[list[PageRow]]:
    """The pages of each session that fits, the session that began last first. The pages are those of the index."""
    grouped: dict[str, list[PageRow]] = {}
    for row in wiki.index.list_pages(where):
        grouped.setdefault(row.session or row.path, []).append(row)
    found = [sorted(rows, key=lambda row: (row.created or datetime.min, row.path)) for rows in grouped.values()]
    if since is not None:
        found = [rows for rows in found if any(row.created and row.created >= since for row in rows)]
    return sorted(found, key=lambda rows: (rows[0].created or datetime.min, rows[0].path), reverse=True)


def read_session(wiki: Wiki, rows: Sequence[PageRow]) -> Session | None:
    """A session from its pages on disk; None where they are gone."""
    pages = (wiki.page_to_recall(row.path) for row in rows)
    parts = sorted(
        (part_of(page) for page in pages if page is not None), key=lambda part: (part.number, part.page.path)
    )
    return Session(rows[0].session or "", tuple(parts)) if parts else None


def read_sessions(wiki: Wiki, grouped: Iterable[Sequence[PageRow]]) -> list[Session]:
    """Those of `list_sessions` that are still on disk."""
    return [session for rows in grouped if (session := read_session(wiki, rows)) is not None]
