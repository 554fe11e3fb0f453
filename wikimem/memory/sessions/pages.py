"""The pages of one session: where they are, and what they become when observations are added.

A session goes on in a new part where its page is full, or cannot be written any more. A part that is followed by
another is never written again.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from hashlib import blake2b
from typing import TYPE_CHECKING, Final

from wikimem.errors import Damaged, Refused
from wikimem.memory.sessions.assertions import state_edges
from wikimem.memory.sessions.digest import in_time, make_digest, render_digest, render_template, title_of
from wikimem.model.hit import PageFilter
from wikimem.text.frontmatter import set_properties
from wikimem.text.ids import new_ulid
from wikimem.text.page import parse_page, render_page
from wikimem.text.sessionpage import (
    ENDED,
    MOST_OBSERVATIONS,
    Observation,
    add_observations,
    digest_of,
    observation_ids,
    put_digest,
    read_observations,
)
from wikimem.vault.layout import refuse_links
from wikimem.vault.names import check_path, folded, portable_name

if TYPE_CHECKING:
    from wikimem.model.page import Page, PropertyValue
    from wikimem.vault.draft import Draft
    from wikimem.wiki import Wiki

Properties = dict[str, "PropertyValue | bool | float | int"]

_SLUG_WORDS: Final = 6
_SLUG_LENGTH: Final = 48
_PARTLESS: Final = re.compile(r" part \d+\Z")


@dataclass(frozen=True, slots=True)
class Part:
    """One page of a session, as it is on disk."""

    page: Page
    seen: tuple[Observation, ...]

    @property
    def number(self) -> int:
        said = self.page.properties.get("part")
        return int(said) if isinstance(said, str) and said.isdigit() else 1

    @property
    def stem(self) -> str:
        return stem_of(self.page.path)


@dataclass(frozen=True, slots=True)
class Arrival:
    """What is new of a session: observations, sub-agents (id of the item, what it is), how it began.

    `follows` is the stem of the page of the session that this one resumes or is forked from.
    """

    session: str
    agent: str | None
    project: str | None
    observations: tuple[Observation, ...]
    groups: tuple[tuple[str, str], ...] = ()
    follows: str = ""


@dataclass(frozen=True, slots=True)
class Written:
    """What a flush did to a session's pages: the last part, how many observations were new, how many edges of the graph
    they state; None where the graph could not be read."""

    path: str
    page_id: str
    title: str
    added: int
    edges: int | None = 0


def stem_of(path: str) -> str:
    """A page's name without its ending."""
    return path.rpartition("/")[2].removesuffix(".md")


def day_of(page: Page) -> date:
    """The day that the lines of a session page mean where they name none."""
    return (page.meta.created or datetime.min).date()


def part_of(page: Page) -> Part:
    """A session page with its observations."""
    return Part(page, read_observations(page.text, page.body_start, day_of(page)))


def find_parts(wiki: Wiki, session: str) -> list[Part]:
    """The pages of a session in their order, wherever their owner has moved them. Sweeps the vault where none is known
    or one is not where it was."""
    for look in range(2):
        rows = wiki.index.list_pages(_pages_of(wiki, session))
        pages = [wiki.read_page(row.path) for row in rows]
        found = [part_of(page) for page in pages if page is not None and page.meta.session == session]
        if (found and len(found) == len(rows)) or look:
            return sorted(found, key=lambda part: (part.number, part.page.path))
        wiki.refresh()
    return []


def _pages_of(wiki: Wiki, session: str) -> PageFilter:
    return PageFilter(as_of=wiki.clock(), session=session, types=("session",), statuses=(), any_time=True)


def write_parts(wiki: Wiki, draft: Draft, parts: Sequence[Part], arrival: Arrival) -> Written | None:
    """Put what is new on the session's pages; None where nothing is. `parts` are as `find_parts` gave them."""
    current = [part_of(parse_page(part.page.path, draft.read(part.page.path))) for part in parts]
    known = frozenset[str]().union(*(observation_ids(part.page.text) for part in current))
    new = sorted((each for each in arrival.observations if each.id not in known), key=lambda each: (each.when, each.id))
    if not new:
        return None
    writing = _Writing(wiki, draft, arrival, current)
    for chunk in writing.chunks(new):
        writing.put(chunk)
    path, page = writing.last
    return Written(path, page.id, page.title, len(new), state_edges(wiki, draft, writing.parts))


class _Writing:
    """A flush of one session under way; `parts` grows as parts are added."""

    def __init__(self, wiki: Wiki, draft: Draft, arrival: Arrival, parts: list[Part]) -> None:
        self.wiki = wiki
        self.draft = draft
        self.arrival = arrival
        self.parts = parts

    @property
    def last(self) -> tuple[str, Page]:
        return self.parts[-1].page.path, self.parts[-1].page

    def chunks(self, new: Sequence[Observation]) -> list[Sequence[Observation]]:
        """What fits on the last page, then a page at a time."""
        room = max(0, MOST_OBSERVATIONS - len(self.parts[-1].seen)) if self.parts else MOST_OBSERVATIONS
        rest = new[room:]
        pages = [rest[at : at + MOST_OBSERVATIONS] for at in range(0, len(rest), MOST_OBSERVATIONS)]
        return [chunk for chunk in (new[:room], *pages) if chunk]

    def put(self, chunk: Sequence[Observation]) -> None:
        full = bool(self.parts) and len(self.parts[-1].seen) >= MOST_OBSERVATIONS
        if self.parts and not full:
            try:
                return self._put_on(self.parts[-1], chunk)
            except (Damaged, Refused):
                # Its owner left it in a state that nobody may write to.
                pass
        path, data = self._new_part(chunk)
        self.draft.put(path, data)
        self.parts.append(part_of(parse_page(path, data)))
        return self._put_on(self.parts[-1], chunk)

    def _put_on(self, part: Part, chunk: Sequence[Observation]) -> None:
        path = part.page.path
        before = self.draft.read(path)
        earlier = [each for other in self.parts if other is not part for each in other.seen]
        old_title = self.title([*earlier, *part.seen])
        data = before
        if part.page.meta.created is not None:
            created = min([part.page.meta.created, *(each.when for each in chunk)])
            data = set_properties(before, {"created": _seconds(created)}, path=path)
        page = parse_page(path, data)
        days = day_of(part.page), day_of(page)
        text = add_observations(page.text, page.body_start, days, chunk, self._groups([*part.seen, *chunk]))
        everything = in_time([*earlier, *read_observations(text, page.body_start, days[1])])
        text = self._with_digest(text, page, part, everything)
        data = _encoded(text, before)
        changes, gone = self._properties(page, part, old_title, everything)
        data = set_properties(data, changes, remove=gone, path=path)
        self.draft.put(path, data)
        self.parts[self.parts.index(part)] = part_of(parse_page(path, data))

    def _groups(self, seen: Sequence[Observation]) -> list[tuple[str, str]]:
        here = {each.group for each in seen} | {each.id for each in seen}
        return [(group, body) for group, body in self.arrival.groups if group in here]

    def _with_digest(self, text: str, page: Page, part: Part, everything: Sequence[Observation]) -> str:
        if not any(each.label == ENDED for each in everything):
            return text
        had = digest_of(page.text) is not None or any(each.label == ENDED for each in part.seen)
        homes = {each.id: other.stem for other in self.parts if other is not part for each in other.seen}
        digest = render_digest(make_digest(everything), lambda block: f"[[{homes.get(block, '')}#^{block}]]")
        return put_digest(text, page.body_start, self.wiki.redactor.mask(digest), may_add=not had)

    def _properties(
        self, page: Page, part: Part, old_title: str, everything: Sequence[Observation]
    ) -> tuple[Properties, list[str]]:
        """What the page's own properties become; the title where it is not a person's."""
        changes: Properties = {}
        gone: list[str] = []
        title = self.title(everything)
        ours = page.meta.title in (old_title, self._plain_title(), None)
        if ours and title != page.meta.title:
            changes["title"] = title
        last = everything[-1]
        changes["open"] = last.label != ENDED
        if last.label == ENDED:
            changes["ended"] = _seconds(last.when)
        else:
            gone.append("ended")
        if self.arrival.follows and "continues" not in page.properties and part.number == 1:
            changes["continues"] = f"[[{self.arrival.follows}]]"
        return changes, gone

    def title(self, seen: Sequence[Observation]) -> str:
        return self.wiki.redactor.mask(title_of(seen) or self._plain_title())

    def _plain_title(self) -> str:
        return f"Session of {self.arrival.agent or 'a person'}"

    # A new page

    def _new_part(self, chunk: Sequence[Observation]) -> tuple[str, bytes]:
        created = min(each.when for each in chunk)
        earlier = [each for part in self.parts for each in part.seen]
        title = self.title([*earlier, *chunk])
        number = self.parts[-1].number + 1 if self.parts else 1
        path = self._new_path(created, title_of([*earlier, *chunk]), number)
        continues = f"[[{self.parts[-1].stem}]]" if self.parts else ""
        values: Properties = {
            "id": new_ulid(created),
            "type": "session",
            "title": title,
            "status": "active",
            "created": _seconds(created),
            "open": True,
            "part": number if number > 1 else None,
            "continues": continues or None,
            "project": self.arrival.project,
            "agent": self.arrival.agent,
            "session": self.arrival.session,
            "trust": "agent" if self.arrival.agent else "human",
        }
        properties = {key: value for key, value in values.items() if value is not None}
        return path, render_page(properties, render_template("page.md.j2", continues=continues))

    def _new_path(self, created: datetime, title: str, number: int) -> str:
        if self.parts:
            folder = self.parts[-1].page.path.rpartition("/")[0]
            stem = _PARTLESS.sub("", self.parts[-1].stem)
        else:
            project = self.arrival.project
            home = f"projects/{portable_name(project)}" if project else "global"
            folder = f"{home}/sessions/{created:%Y/%m}"
            stem = portable_name(f"{created:%Y-%m-%d %H%M} {self.arrival.agent or 'person'} {slug_of(title)}".strip())
        part = f" part {number}" if number > 1 else ""
        sign = blake2b(self.arrival.session.encode("utf-8", "replace"), digest_size=4).hexdigest()
        path = ""
        for name in (f"{stem}{part}", f"{stem} {sign[:4]}{part}", f"{stem} {sign}{part}"):
            path = check_path(f"{folder}/{name}.md")
            if not self._is_taken(folder, f"{name}.md"):
                break
        refuse_links(self.wiki.root, path)
        return path

    def _is_taken(self, folder: str, name: str) -> bool:
        place = self.wiki.root / folder
        names = {folded(file.name) for file in place.iterdir()} if place.is_dir() else set()
        return folded(name) in names or self.draft.exists(f"{folder}/{name}")


def slug_of(title: str) -> str:
    """A few words of a title as a part of a file name."""
    words = re.findall(r"\w+(?:['’]\w+)?", title.casefold())[:_SLUG_WORDS]
    slug = ""
    for word in words:
        if slug and len(slug) + len(word) >= _SLUG_LENGTH:
            break
        slug = f"{slug}-{word[:_SLUG_LENGTH]}" if slug else word[:_SLUG_LENGTH]
    return slug


def _seconds(when: datetime) -> str:
    return when.isoformat(timespec="seconds")


def _encoded(text: str, before: bytes) -> bytes:
    mark = "\ufeff" if before.startswith(b"\xef\xbb\xbf") else ""
    return (mark + text).encode("utf-8")
