"""From the spool to session pages: one commit for each session that has something new.

    drain(wiki)      whoever drains: the process on duty, or the next command that writes; never one that reads

An event stays in the spool until it is on a page and in a commit. What is there already, because a drain died between
its commit and its acknowledgement, is known by its block id and changes nothing. No failure here stops the caller: it
becomes a note, and the events wait for the next drain.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Final

from msgspec import structs

from wikimem.errors import Locked, WikimemError
from wikimem.memory.sessions.commits import observe_commits
from wikimem.memory.sessions.observations import Observer, Seen, local_time
from wikimem.memory.sessions.pages import Arrival, find_parts, stem_of, write_parts
from wikimem.text.sessionpage import ENDED, Observation, observation_ids
from wikimem.vault.spool import SPOOL, Spool, parse_name

if TYPE_CHECKING:
    from wikimem.memory.sessions.pages import Part, Written
    from wikimem.model.event import Event
    from wikimem.vault.spool import Batch
    from wikimem.wiki import Wiki

PERSON: Final = "person"
"""The agent of an event that a person recorded by hand."""

MOST_EVENTS: Final = 2000
"""Events of one drain; what is left comes with the next."""

MOST_RIDING: Final = 200
"""Events that a command which writes takes along."""

KEEP_EMPTY: Final = timedelta(hours=1)
"""How long the beginning or the end of a session waits for anything worth a page."""

_FRAMES: Final = frozenset({ENDED, "resumed", "forked", "compacted"})
_FOLLOWS: Final = frozenset({"resume", "fork"})


@dataclass(frozen=True, slots=True)
class Flushed:
    """What one session's flush wrote: where, the commit (None where git was busy), how many observations, and how many
    edges of the graph its end stated (None where the graph could not be read)."""

    session: str
    path: str
    title: str
    commit: str | None
    observations: int
    edges: int | None = 0


@dataclass(frozen=True, slots=True)
class Drained:
    """What a drain did: the pages that it wrote, how many events are done, and what to tell the caller."""

    flushed: tuple[Flushed, ...] = ()
    events: int = 0
    notes: tuple[str, ...] = ()
    waiting: int = 0


def spool_of(wiki: Wiki) -> Spool:
    """The spool of this vault."""
    return Spool(wiki.folders.state / SPOOL)


def ride_along(wiki: Wiki) -> None:
    """Drain before a write, where something waits and nobody else drains; what went wrong is added to `notes`."""
    spool = spool_of(wiki)
    if not spool.names():
        return
    wiki.notes += drain(wiki, limit=MOST_RIDING).notes


def drain(wiki: Wiki, *, limit: int = MOST_EVENTS) -> Drained:
    """Write what waits in the spool onto the pages of its sessions. Raises nothing of what may go wrong with it."""
    try:
        with spool_of(wiki).claim(limit) as batch:
            return _drain(wiki, batch)
    except Locked:
        return Drained()
    except (WikimemError, OSError) as error:
        return Drained(notes=(f"captured events wait in the spool: {getattr(error, 'message', error)}",))


def _drain(wiki: Wiki, batch: Batch) -> Drained:
    notes = [f"a captured event could not be read and was set aside: {reason}" for _, reason in batch.damaged]
    flushed: list[Flushed] = []
    done: list[Event] = []
    for session, events in _by_session(wiki, _timed(batch)).items():
        try:
            finished, written = _flush(wiki, session, events)
        except (WikimemError, OSError) as error:
            message = getattr(error, "message", str(error))
            notes.append(f"{len(events)} captured events of session {session[:40]} wait: {message}")
            continue
        flushed += [written] if written else []
        if written and written.edges is None:
            notes.append(
                f"what session {session[:40]} states is not in the graph, which could not be read: "
                "run `wikimem extract` on its page"
            )
        done += finished
    if done or batch.repeats:
        batch.acknowledge(done)
    masked = tuple(wiki.redactor.mask(note) for note in notes)
    return Drained(tuple(flushed), len(done), masked, len(batch.events) - len(done))


def _timed(batch: Batch) -> Iterator[Event]:
    """The events of a batch; one whose time cannot be read has that of its file."""
    for event, file in zip(batch.events, batch.files, strict=True):
        try:
            local_time(event.time)
        except ValueError:
            name = parse_name(file)
            assert name is not None
            yield replace(event, time=datetime.fromtimestamp(name.time_ns // 10**9).isoformat())
        else:
            yield event


def _by_session(wiki: Wiki, events: Iterable[Event]) -> dict[str, list[Event]]:
    found: dict[str, list[Event]] = {}
    names: dict[str, str] = {}
    for event in events:
        if event.session not in names or not event.session:
            names[event.session] = session_name(wiki, event)
        found.setdefault(names[event.session], []).append(event)
    return found


def session_name(wiki: Wiki, event: Event) -> str:
    """The name of an event's session, fit for commits and frontmatter. Without one: agent, folder and day are it."""
    if event.session:
        return _fit(wiki, "session", event.session)
    place = "\0".join((event.agent, event.cwd or event.ran_in, event.time[:10]))
    return f"unnamed-{_digest(place)}"


def _fit(wiki: Wiki, what: str, name: str) -> str:
    """`name` where a commit and a page's frontmatter may carry it, else a digest of it."""
    if "[[" in name:
        return f"{what}-{_digest(name)}"
    try:
        given = wiki.on_behalf(**{what: name}).caller
    except WikimemError:
        return f"{what}-{_digest(name)}"
    return getattr(given, what) or f"{what}-{_digest(name)}"


def _digest(text: str) -> str:
    return blake2b(text.encode("utf-8", "replace"), digest_size=6).hexdigest()


# One session


def _flush(wiki: Wiki, session: str, events: Sequence[Event]) -> tuple[Sequence[Event], Flushed | None]:
    """Write what is new of a session; returns the events that are done with, and what was written."""
    parts = find_parts(wiki, session)
    view = _view_for(wiki, session, events, parts)
    folder = _folder_of(view)
    observer = Observer(session, folder, wiki.redactor.mask)
    seen = [(event, observer.see(event)) for event in events]
    frames = [event for event, each in seen if all(one.label in _FRAMES for one in each.observations)]
    if not parts and len(frames) == len(events):
        return [event for event in frames if _is_old(wiki, event)], None
    made = _commits(view, session, events, parts)
    told = [*(each for _, each in seen), Seen(made)]
    return events, _write(view, session, _arrival(view, session, events, told, parts), parts)


def _commits(view: Wiki, session: str, events: Sequence[Event], parts: Sequence[Part]) -> tuple[Observation, ...]:
    """The commits of the code base that the session made since it was seen last."""
    known = frozenset[str]().union(*(observation_ids(part.page.text) for part in parts))
    last = max((each.when for part in parts for each in part.seen), default=None)
    mask = view.redactor.mask
    return observe_commits(session, events, known=known, last=last, vault=view.root, mask=mask)


def _is_old(wiki: Wiki, event: Event) -> bool:
    """Whether what only frames a session has waited long enough; one that leaves no line at all need not wait."""
    now = wiki.clock().replace(tzinfo=None)
    framing = event.kind in ("session_end", "pre_compact") or event.source in _FOLLOWS
    return not framing or abs(now - local_time(event.time)) > KEEP_EMPTY


def _arrival(view: Wiki, session: str, events: Sequence[Event], seen: Sequence[Seen], parts: Sequence[Part]) -> Arrival:
    project = parts[-1].page.meta.project if parts else view.project
    resumes = any(event.kind == "session_start" and event.source in _FOLLOWS for event in events)
    agent = view.caller.agent
    return Arrival(
        session,
        agent,
        project,
        tuple({each.id: each for one in seen for each in one.observations}.values()),
        tuple(dict.fromkeys(one.group for one in seen if one.group)),
        _followed(view, session, agent, project, events) if resumes and not parts else "",
    )


def _followed(view: Wiki, session: str, agent: str | None, project: str | None, events: Sequence[Event]) -> str:
    """The page of the session that a resumed or forked one with a name of its own goes on from: the last that this
    agent had in this project before it began."""
    from wikimem.model.hit import PageFilter

    began = min(local_time(event.time) for event in events)
    where = PageFilter(
        as_of=view.clock(), project=project, with_global=project is None, types=("session",), statuses=(),
        any_time=True, agent=agent,
    )  # fmt: skip
    rows = [
        row for row in view.index.list_pages(where) if row.session != session and row.created and row.created <= began
    ]
    newest = max(rows, key=lambda row: (row.created or datetime.min, row.path), default=None)
    return stem_of(newest.path) if newest else ""


def _write(view: Wiki, session: str, arrival: Arrival, parts: Sequence[Part]) -> Flushed | None:
    from wikimem.memory.remember import register_project

    written: Written | None = None
    with view.transaction("session", purpose="wikimem, writing what was captured") as draft:
        written = write_parts(view, draft, parts, arrival)
        if written is not None:
            if arrival.project and not parts:
                register_project(view, draft, arrival.project, view.clock())
            lines = "1 observation" if written.added == 1 else f"{written.added} observations"
            draft.subject = f"session: {written.title} ({lines})"
            draft.pages = [written.page_id]
    if written is None:
        return None
    commit = draft.committed.commit if draft.committed else None
    return Flushed(session, written.path, written.title, commit, written.added, written.edges)


def _view_for(wiki: Wiki, session: str, events: Sequence[Event], parts: Sequence[Part]) -> Wiki:
    """This wiki as the session's agent has it, in the folder that it works in."""
    agent = parts[-1].page.meta.agent if parts else _agent_of(events)
    name = None if agent in (None, PERSON) else _fit(wiki, "agent", agent or "")
    view = wiki.on_behalf(session=session)
    cwd = next((event.cwd or event.ran_in for event in events if event.cwd or event.ran_in), "")
    view.caller = structs.replace(view.caller, agent=name, project=None, cwd=Path(cwd) if cwd else None)
    for known in ("project", "detected_project"):
        view.__dict__.pop(known, None)
    return view


def _agent_of(events: Sequence[Event]) -> str:
    """Who reports most; of two that report alike, the first by name."""
    counts: dict[str, int] = {}
    for event in events:
        counts[event.agent] = counts.get(event.agent, 0) + 1
    return min(counts, key=lambda name: (-counts[name], name))


def _folder_of(view: Wiki) -> str:
    """The top of the code base that a session works in, else its folder."""
    from wikimem.vault.project import detect_project

    if view.caller.cwd is None:
        return ""
    identity = detect_project(view.caller.cwd, view.root)
    return str(identity.folder if identity else view.caller.cwd)


def add_by_rule(wiki: Wiki, session: str, seen: Observation, parts: Sequence[Part]) -> Flushed | None:
    """Add an observation that no event told to the pages of a session."""
    meta = parts[-1].page.meta
    view = wiki.on_behalf(session=session)
    view.caller = structs.replace(view.caller, agent=meta.agent, project=meta.project, cwd=None)
    return _write(view, session, Arrival(session, meta.agent, meta.project, (seen,)), parts)
