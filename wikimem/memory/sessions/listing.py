"""The sessions of a vault, as its pages have them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from wikimem.errors import Invalid, NotFound
from wikimem.memory.sessions.commits import LEAST_HASH, Commit, commit_of, is_same_commit, latest
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
    def commits(self) -> list[tuple[Commit, str]]:
        """The commits of the code base that it made and that stand, each with the id of its line."""
        told = [(commit, each.id) for each in self.seen if (commit := commit_of(each)) is not None]
        lines = {commit.hash: block for commit, block in told}
        return [(commit, lines[commit.hash]) for commit in latest(commit for commit, _ in told)]

    def made(self, commit: str) -> bool:
        """Whether it made this commit, also one that does not stand any more."""
        return any((each := commit_of(seen)) is not None and is_same_commit(each.hash, commit) for seen in self.seen)

    def address(self, block: str) -> str:
        """The wikilink of one of its observations."""
        stem = next((part.stem for part in self.parts if any(each.id == block for each in part.seen)), "")
        return f"[[{stem}#^{block}]]"

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


def that_made(wiki: Wiki, grouped: Iterable[list[PageRow]], commit: str) -> list[list[PageRow]]:
    """Those of `list_sessions` that made a commit, which may be shortened to seven digits.

    Raises Invalid for what is no hash.
    """
    wanted = commit.strip().lower()
    if not re.fullmatch(rf"[0-9a-f]{{{LEAST_HASH},64}}", wanted):
        raise Invalid(
            f"commit: '{commit.strip()[:80]}' is no hash", hint=f"Give {LEAST_HASH} or more digits, as `git log` shows."
        )
    start = wanted[:LEAST_HASH].encode()
    likely = (rows for rows in grouped if any(start in _bytes_of(wiki, row) for row in rows))
    return [rows for rows in likely if (session := read_session(wiki, rows)) is not None and session.made(wanted)]


def _bytes_of(wiki: Wiki, row: PageRow) -> bytes:
    try:
        return (wiki.root / row.path).read_bytes()
    except OSError:
        return b""


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
