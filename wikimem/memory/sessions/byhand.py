"""An observation that somebody records by hand: an event like any other, through the spool."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from wikimem.errors import Invalid, Unavailable
from wikimem.memory.sessions.drain import PERSON, Flushed, drain, session_name, spool_of
from wikimem.memory.sessions.observations import Observer
from wikimem.model.event import KINDS, Event
from wikimem.vault.duty import duty_holder
from wikimem.vault.folders import private_folder
from wikimem.vault.spool import NO_ID, event_name, put

if TYPE_CHECKING:
    from wikimem.wiki import Wiki

MOST_TEXT: Final = 16_000
"""Characters of what is observed."""

_FIELDS: Final = {"prompt": "prompt", "expansion": "prompt", "task_start": "title", "task_end": "title",
                  "session_end": "reason"}  # fmt: skip
_TOOLS: Final = ("tool", "tool_failed")
_CONTENT_BYTES: Final = 8


@dataclass(frozen=True, slots=True)
class Given:
    """What is to be recorded: `kind` is one of an event's kinds, or a word of the caller's own such as `decision`."""

    kind: str
    text: str
    files: Sequence[str] = ()
    command: str = ""


@dataclass(frozen=True, slots=True)
class Observed:
    """The observation's id and session; `flushed` where it went onto its page at once. `notes` say what went wrong."""

    observation: str
    session: str
    flushed: Flushed | None
    notes: tuple[str, ...]


def observe(wiki: Wiki, given: Given) -> Observed:
    """Keep an observation in the spool, durably. Where no process drains it in the background, it goes onto its page.

    Raises Invalid for one that says nothing, Unavailable where the spool cannot be written.
    """
    event = _event(wiki, given)
    session = session_name(wiki, event)
    seen = Observer(session, event.cwd, wiki.redactor.mask).see(event).observations
    if not seen:
        raise Invalid(
            f"there is nothing to record of this {event.event}",
            hint="Give a kind such as decision, prompt, error or note, and a text.",
        )
    _put(wiki, event)
    if duty_holder(wiki.folders.state) is not None:
        return Observed(seen[0].id, session, None, ())
    drained = drain(wiki)
    flushed = next((each for each in drained.flushed if each.session == session), None)
    return Observed(seen[0].id, session, flushed, drained.notes)


def _event(wiki: Wiki, given: Given) -> Event:
    kind = given.kind.strip().lower()
    if not kind.replace("-", "").replace("_", "").isalnum():
        raise Invalid(
            f"kind: '{given.kind[:40]}' is no word", hint="Say decision, prompt, error, note or another word."
        )
    if len(given.text) > MOST_TEXT:
        raise Invalid(f"text: more than {MOST_TEXT} characters", hint="Say what is worth recalling.")
    event = Event(
        kind=kind if kind in KINDS else "other",
        agent=wiki.caller.agent or PERSON,
        event=kind,
        time=wiki.clock().astimezone().isoformat(),
        key="",
        session=wiki.caller.session or "",
        cwd=str(wiki.caller.cwd or ""),
        files=tuple(given.files),
        command=given.command,
    )
    event = replace(event, **_said(event.kind, given))
    unique = "\0".join((event.agent, event.session, kind, given.text, str(time.time_ns())))
    return replace(event, key=blake2b(unique.encode("utf-8", "replace"), digest_size=16).hexdigest())


def _said(kind: str, given: Given) -> dict[str, Any]:
    """The fields of an event of that kind in which what was said belongs."""
    if kind in _TOOLS:
        action = "run" if given.command else "edit"
        failure = {"error": given.text} if kind == "tool_failed" else {"output": given.text}
        return {"tool": action, "action": action, "input": given.text, **failure}
    field = _FIELDS.get(kind, "text")
    named = "" if field == "title" else " ".join(f"`{name}`" for name in (given.command, *given.files) if name)
    return {field: f"{given.text} {named}".strip()}


def _put(wiki: Wiki, event: Event) -> None:
    now = time.time_ns()
    content = blake2b(f"by hand\0{event.key}".encode(), digest_size=_CONTENT_BYTES).hexdigest()
    folder = private_folder(Path(spool_of(wiki).folder))
    agent = "".join(char if char.isascii() and (char.isalnum() or char in "-.") else "-" for char in event.agent)[:60]
    data = json.dumps(event.to_document(), ensure_ascii=True, separators=(",", ":")).encode("ascii") + b"\n"
    try:
        put(str(folder), event_name(now, content, NO_ID, agent), data)
    except OSError as error:
        raise Unavailable(
            f"the observation cannot be kept: {error.strerror or error}", hint="Free some space, then try again."
        ) from error
