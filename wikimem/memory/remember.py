"""remember: a new page, and what it does to the pages that it supersedes, in one commit."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from wikimem.errors import Conflict, Invalid, Refused
from wikimem.memory.wording import check_text, checked_tags, checked_title
from wikimem.model.hit import PageRow
from wikimem.model.page import TRUST_ORDER, Page, PropertyValue
from wikimem.text.dates import parse_date, parse_duration, parse_iso
from wikimem.text.frontmatter import set_properties
from wikimem.text.ids import new_ulid
from wikimem.text.page import render_page
from wikimem.text.schema import property_value
from wikimem.vault.names import portable_name

if TYPE_CHECKING:
    from wikimem.vault.draft import Draft
    from wikimem.wiki import Wiki

SIMILAR_LEAST: Final = 0.6
"""Cosine from which a page is reported as similar. Report only: unrelated neighbours and true duplicates overlap in
similarity, so nothing is ever merged or replaced by it."""
SIMILAR_MOST: Final = 3
_CLOSED: Final = ("superseded", "expired", "archived")


class Memory(Struct, frozen=True):
    """What is to be remembered, as the caller gave it; dates may be words such as `last march`."""

    title: str
    text: str
    type: str
    project: str | None
    tags: Sequence[str] = ()
    sources: Sequence[str] = ()
    confidence: float | None = None
    ttl: str | None = None
    valid_from: str | None = None
    valid_to: str | None = None
    supersedes: Sequence[str] = ()
    importance: float | None = None
    pinned: bool = False


class Similar(Struct, frozen=True):
    """A page that is near in meaning; `score` is a cosine from 0 to 1."""

    id: str
    title: str
    path: str
    score: float


class Remembered(Struct, frozen=True):
    """The page that holds the memory; `existing` where the very same one was there already."""

    path: str
    id: str
    title: str
    commit: str | None
    existing: bool
    superseded: tuple[str, ...]
    disputed: tuple[str, ...]
    similar: tuple[Similar, ...]


def remember(wiki: Wiki, memory: Memory) -> Remembered:
    """Make a page of `memory`. An exact repetition changes nothing and returns the page that is there.

    Raises Invalid for values that make no sense, NotFound or Invalid for a page to supersede that is not one page,
    Conflict where another page has that place.
    """
    now = wiki.clock()
    title = checked_title(memory.title)
    text = memory.text.strip("\n")
    check_text(text)
    _check_caller(wiki, memory)
    valid_from, valid_to = _validity(memory, now)
    if memory.ttl is not None:
        parse_duration(memory.ttl, "ttl")
    similar = similar_pages(wiki, f"{title}\n{text}", memory.project)
    old_pages = list({row.path: row for row in map(wiki.find_to_write, memory.supersedes)}.values())
    _check_order(old_pages, valid_from)
    with wiki.transaction("remember") as draft:
        existing = _existing(wiki, title, text, memory)
        if existing is not None:
            return Remembered(existing.path, existing.id, title, None, True, (), (), ())
        title, path = _place(wiki, title, memory, now)
        page_id = new_ulid(now)
        closed, disputed = _split_by_trust(wiki, old_pages)
        properties = _properties(wiki, memory, title, page_id, now, valid_from, valid_to)
        if closed:
            properties["supersedes"] = tuple(f"[[{link_target(wiki, row)}]]" for row in closed)
        if disputed:
            properties["status"] = "disputed"
            text = "\n\n".join(filter(None, [text, _dispute_note(wiki, disputed)]))
        data = render_page(properties, text + "\n" if text else "")
        if draft.exists(path):
            raise Conflict(
                f"a page is there already: '{path}'",
                hint="Edit it with `wikimem edit`, or choose a title that says how this one differs.",
                data={"path": path},
            )
        draft.put(path, data)
        for row in closed:
            close_page(draft, row, successor=_stem(path), on=valid_from or now.date().isoformat())
        if memory.project:
            register_project(wiki, draft, memory.project, now)
        draft.subject = f"remember({memory.type}): {title}"
        draft.pages = [page_id, *(row.id for row in closed)]
    commit = draft.committed.commit if draft.committed else None
    return Remembered(
        path,
        page_id,
        title,
        commit,
        False,
        tuple(row.path for row in closed),
        tuple(row.path for row in disputed),
        tuple(each for each in similar if each.path not in {row.path for row in old_pages}),
    )


def close_page(draft: Draft, row: PageRow, *, successor: str, on: str) -> None:
    """End the validity of a page and point to its successor; an end that was there already stays (law 6)."""
    changes: dict[str, PropertyValue | bool | float | int] = {"status": "superseded"}
    data = draft.read(row.path)
    if row.valid_to is None:
        changes["valid_to"] = on
    from wikimem.text.page import parse_page

    links = parse_page(row.path, data).meta.superseded_by
    link = f"[[{successor}]]"
    if link not in links:
        changes["superseded_by"] = (*links, link)
    draft.put(row.path, set_properties(data, changes, path=row.path))


def similar_pages(wiki: Wiki, text: str, project: str | None) -> tuple[Similar, ...]:
    """The pages nearest in meaning, of this project or of none; empty where the vectors cannot say."""
    from wikimem.search.filters import make_filter
    from wikimem.search.nearest import nearest_pages

    where = make_filter(now=wiki.clock(), project=project)
    return tuple(
        Similar(row.id, row.title, row.path, round(score, 3))
        for row, score in wiki.with_index(lambda: nearest_pages(wiki.index, text, where, limit=SIMILAR_MOST))
        if score >= SIMILAR_LEAST
    )


def link_target(wiki: Wiki, row: PageRow) -> str:
    """What to write between `[[` and `]]` for a page: its name where that is unique, else its path (as Obsidian)."""
    stem = _stem(row.path)
    found = wiki.index.find_pages(f"[[{stem}]]")
    return stem if [other.path for other in found] == [row.path] else row.path.removesuffix(".md")


def _stem(path: str) -> str:
    return path.rpartition("/")[2].removesuffix(".md")


def _validity(memory: Memory, now: datetime) -> tuple[str | None, str | None]:
    valid_from = _date_text("valid_from", memory.valid_from, now)
    valid_to = _date_text("valid_to", memory.valid_to, now)
    if valid_from and valid_to:
        start, end = parse_iso(valid_from), parse_iso(valid_to)
        if start and end and end.start < start.start:
            raise Invalid(f"valid_to ({valid_to}) is before valid_from ({valid_from})", hint="Give the dates in order.")
    return valid_from, valid_to


def _date_text(name: str, text: str | None, now: datetime) -> str | None:
    """An ISO date is kept as it was written; words become the day that they begin on."""
    if text is None:
        return None
    text = text.strip()
    if parse_iso(text) is not None:
        return text
    return parse_date(text, now, name).start.date().isoformat()


def _check_caller(wiki: Wiki, memory: Memory) -> None:
    if wiki.caller.agent is not None and (memory.pinned or memory.importance is not None):
        raise Refused(
            "an agent cannot pin a memory or set its importance",
            hint="Leave it out; a person can: `wikimem edit PAGE --set pinned=true`.",
        )
    if memory.project is not None and portable_name(memory.project) != memory.project:
        raise Invalid(
            f"project: '{memory.project}' is no name for a folder",
            hint=f"Use a name such as '{portable_name(memory.project)}'.",
        )


def _check_order(rows: Sequence[PageRow], valid_from: str | None) -> None:
    period = parse_iso(valid_from) if valid_from else None
    for row in rows:
        if period and row.valid_from and row.valid_to is None and period.start < row.valid_from:
            raise Invalid(
                f"valid_from: {valid_from} is before '{row.title}' began ({row.valid_from:%Y-%m-%d})",
                hint="What supersedes a page begins after it; give a later date, or mend the old page's first.",
            )


def _existing(wiki: Wiki, title: str, text: str, memory: Memory) -> Page | None:
    """A page that says just this already and still holds: same title, type, project and body, and nothing asked for
    that it does not have.
    """
    if memory.supersedes:
        return None
    for row in wiki.index.find_pages(title):
        if row.status != "active" or row.title != title or (row.type, row.project) != (memory.type, memory.project):
            continue
        page = wiki.read_page(row.path)
        if page is not None and page.body.strip() == text.strip() and _asks_nothing_new(page, memory):
            return page
    return None


def _asks_nothing_new(page: Page, memory: Memory) -> bool:
    meta = page.meta
    return (
        set(checked_tags(memory.tags)) <= set(meta.tags)
        and set(memory.sources) <= set(meta.sources)
        and memory.confidence in (None, meta.confidence)
        and memory.ttl in (None, meta.ttl)
        and memory.importance in (None, meta.importance)
        and memory.pinned in (False, meta.pinned)
        and all(
            given is None or property_value(page.properties, key) == given
            for key, given in (("valid_from", memory.valid_from), ("valid_to", memory.valid_to))
        )
    )


def _place(wiki: Wiki, title: str, memory: Memory, now: datetime) -> tuple[str, str]:
    """Title and path of the new page. What was closed keeps its own: the fact that holds again is named by its date."""
    from wikimem.vault.layout import page_path

    try:
        return title, page_path(memory.type, title, memory.project, wiki.root)
    except Conflict as taken:
        closed = [row for row in wiki.index.find_pages(title) if row.title == title and row.status in _CLOSED]
        if not closed or not any(row.path == taken.data.get("path") for row in closed):
            raise
    again = f"{title} ({now.date().isoformat()})"
    return again, page_path(memory.type, again, memory.project, wiki.root)


def _split_by_trust(wiki: Wiki, rows: Sequence[PageRow]) -> tuple[list[PageRow], list[PageRow]]:
    """Pages that the caller may close, and those of higher trust, which it can only dispute."""
    mine = TRUST_ORDER.index(wiki.caller.trust)
    closed = [row for row in rows if TRUST_ORDER.index(row.trust) <= mine]
    return closed, [row for row in rows if row not in closed]


def _dispute_note(wiki: Wiki, disputed: Sequence[PageRow]) -> str:
    links = ", ".join(f"[[{link_target(wiki, row)}]]" for row in disputed)
    said = f"An agent holds that this replaces {links}, which a person stated. A person decides."
    return f"> [!warning] Disputed\n> {said}"


def _properties(
    wiki: Wiki,
    memory: Memory,
    title: str,
    page_id: str,
    now: datetime,
    valid_from: str | None,
    valid_to: str | None,
) -> dict[str, PropertyValue | bool | float | int]:
    values: dict[str, PropertyValue | bool | float | int] = {
        "id": page_id,
        "type": memory.type,
        "title": title,
        "status": "active",
        "confidence": memory.confidence,
        "created": now.replace(microsecond=0, tzinfo=None).isoformat(),
        "valid_from": valid_from,
        "valid_to": valid_to,
        "ttl": memory.ttl,
        "sources": tuple(dict.fromkeys(memory.sources)),
        "project": memory.project,
        "agent": wiki.caller.agent,
        "session": wiki.caller.session,
        "trust": wiki.caller.trust,
        "importance": memory.importance,
        "pinned": memory.pinned or None,
        "tags": checked_tags(memory.tags),
    }
    return {key: value for key, value in values.items() if value is not None and value != ()}


def register_project(wiki: Wiki, draft: Draft, project: str, now: datetime) -> None:
    """A project that the vault does not know yet gets its Profile page, with the remotes that identify it."""
    from wikimem.vault.layout import profile_path

    path = profile_path(project)
    if draft.exists(path) or project in wiki.project_profiles():
        return
    detected, remotes = wiki.detected_project
    properties: dict[str, PropertyValue | bool | float | int] = {
        "id": new_ulid(now),
        "type": "profile",
        "title": project,
        "created": now.replace(microsecond=0, tzinfo=None).isoformat(),
        "project": project,
        "trust": wiki.caller.trust,
    }
    if detected == project and remotes:
        properties["remotes"] = remotes
    draft.put(path, render_page(properties, ""))
