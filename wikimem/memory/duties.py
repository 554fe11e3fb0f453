"""A vault's background work, by the one process that has its duty: indexing what changes, committing people's edits.

What a write of wikimem's did comes in as an event like any other; the index has it already, its content is the same,
so nothing is done and nothing loops.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct, field

from wikimem.errors import WikimemError
from wikimem.memory.people import Look, PeopleEdits, rest_of
from wikimem.memory.sessions.watching import SpoolWatch
from wikimem.vault.duty import Duty, Rank
from wikimem.vault.feed import ChangeFeed, Changes
from wikimem.vault.hints import Hints

if TYPE_CHECKING:
    from wikimem.wiki import Wiki

log = logging.getLogger(__name__)

SWEEP_EVERY_S: Final = 60.0
"""The events of a full queue are lost without a word, and those in a new folder may be: a sweep finds them."""
SWEEP_AFTER_REFS_S: Final = 2.0
CAUGHT_UP_S: Final = 5.0
RETRY_S: Final = 1.0
LOOK_AFTER_S: Final = 5.0
"""How long after a change people's edits are looked at, at most; while somebody types, no more often than that."""
_MOST_RETRY_S: Final = 60.0


class Deed(Struct, frozen=True):
    """One thing that was done, or stands in the way: a word for programs, a line for people, and what it is about."""

    event: str
    text: str
    about: Mapping[str, Any] = field(default_factory=dict)


class Duties:
    """The background work of one vault. Used by one thread; `tell` is called with each deed, in that thread.

    `make_wiki` opens the vault; it is asked again where settings have changed. A `feed` that is given stays its
    owner's; without one there is one while the duty is held.
    """

    def __init__(
        self,
        make_wiki: Callable[[], Wiki],
        rank: Rank,
        tell: Callable[[Deed], None],
        *,
        feed: ChangeFeed | None = None,
        poll: bool = False,
    ) -> None:
        """Opens the vault. Raises what `make_wiki` raises."""
        self._make_wiki = make_wiki
        self._tell = tell
        self._poll = poll
        self._given = feed
        self._own: ChangeFeed | None = None
        self._wiki = make_wiki()
        self._settings = self._read_settings()
        self.duty = Duty(self._wiki.folders.state, rank)
        self._people = PeopleEdits()
        self._captured = SpoolWatch()
        self._told = Changes()
        self._sweep_at = 0.0
        self._look_at = 0.0
        self._begun = False
        self._afresh = True
        self._retry_s = RETRY_S
        self._said: dict[str, str] = {}

    @property
    def state_folder(self) -> Path:
        """The vault's state folder, where the duty's lock lies."""
        return self._wiki.folders.state

    def run(self, stop: threading.Event) -> None:
        """Do the work until `stop` is set; within a second after that everything is let go of."""
        try:
            while not stop.is_set():
                if not self.step():
                    stop.wait(0.5)
        finally:
            self.close()

    def step(self, wait_s: float = 1.0) -> bool:
        """Wait up to `wait_s` seconds for something to do, and do it; False where another process has the duty."""
        if not self._on_duty():
            return False
        try:
            self._reread_settings()
            changes = self._told = self._feed().changes(wait_s)
            self._note_changes(changes)
            self._index(changes)
            self._drain_spool()
            self._look_after_people()
        except (WikimemError, OSError) as error:
            # The vault's folder is away, the disk is full, git fails: all of it may pass.
            self._say_once("error", "trouble", getattr(error, "message", str(error)))
            self._sweep_at = self._look_at = time.monotonic() + self._retry_s
            self._retry_s = min(self._retry_s * 2, _MOST_RETRY_S)
            return True
        if self._retry_s > RETRY_S and self._sweep_at > time.monotonic():
            self._retry_s = RETRY_S
            self._said.pop("trouble", None)
        return True

    def close(self) -> None:
        """Give up the duty and close the vault."""
        self._let_go()
        self.duty.release()
        self._wiki.close()

    # The duty

    def _on_duty(self) -> bool:
        if self.duty.is_held and self.duty.is_wanted():
            self._let_go()
            self.duty.release()
            self._say("handed over", "another process takes over")
            self._begun = False
        if not self.duty.take():
            return False
        if not self._begun:
            self._begun = True
            self._sweep_at = self._look_at = 0.0
            self._afresh = True
            self._say("watching", f"watching {self._wiki.root}", vault=str(self._wiki.root))
        return True

    def _let_go(self) -> None:
        if self._own is not None:
            self._wiki.hints = None
            self._own.close()
            self._own = None

    def _feed(self) -> ChangeFeed:
        if self._given is not None:
            if self._wiki.hints is None:
                self._wiki.hints = Hints(self._take_told)
            return self._given
        if self._own is None:
            wiki = self._wiki
            cookies = wiki.folders.state / "cookies"
            self._own = ChangeFeed(wiki.root, cookies, wiki.config.exclude, poll=self._poll)
        if self._wiki.hints is None:
            self._wiki.hints = Hints(partial(self._own.caught_up, CAUGHT_UP_S))
        why = self._own.why_polling
        self._say_once("polling", "polling", f"looking through the disk every second: {why}" if why else "", why=why)
        return self._own

    def _take_told(self) -> Changes:
        """What the feed said at last, once: who asks another way would hear it a second time."""
        told, self._told = self._told, Changes()
        return told

    # Settings

    def _read_settings(self) -> tuple[object, ...]:
        from wikimem.vault.folders import user_folders

        places = (self._wiki.root / ".wikimem/config.toml", user_folders().config / "config.toml")
        return tuple(_stamp(place) for place in places)

    def _reread_settings(self) -> None:
        settings = self._read_settings()
        if settings == self._settings or not self._wiki.root.is_dir():
            return
        self._settings = settings
        wiki = self._make_wiki()
        self._wiki.close()
        excluded = wiki.config.exclude != self._wiki.config.exclude
        self._wiki = wiki
        if excluded:
            self._let_go()
        self._sweep_at = self._look_at = 0.0
        self._say("settings", "the settings were read again")

    # Indexing

    def _note_changes(self, changes: Changes) -> None:
        now = time.monotonic()
        if changes.sweep:
            self._sweep_at = now
        if changes.refs:
            self._sweep_at = min(self._sweep_at, now + SWEEP_AFTER_REFS_S)
            self._afresh = True
        if changes:
            rest_s, _ = rest_of(self._wiki)
            self._look_at = min(self._look_at, now + min(LOOK_AFTER_S, rest_s / 2))

    def _index(self, changes: Changes) -> None:
        sweep = time.monotonic() >= self._sweep_at
        if not sweep and not changes.paths:
            return
        if sweep:
            self._sweep_at = time.monotonic() + SWEEP_EVERY_S
            if self._wiki.hints is not None:
                self._wiki.hints.sweep_next = True
        done = self._wiki.refresh()
        if "indexing" in done.why:
            # An agent's write, most often: over in a moment.
            self._sweep_at = time.monotonic() + RETRY_S
        else:
            text = f"{_pages(done.behind)} not indexed: {done.why}" if done.why else ""
            self._say_once("behind", "behind", text, pages=done.behind)
        if done.indexed or done.removed:
            words = [f"indexed {_pages(done.indexed)}"] if done.indexed else []
            words += [f"took out {_pages(done.removed)}"] if done.removed else []
            self._say("indexed", ", ".join(words), indexed=done.indexed, removed=done.removed)
        self._pass_on_notes()

    def _pass_on_notes(self) -> None:
        notes, self._wiki.notes[:] = list(self._wiki.notes), []
        for note in notes:
            self._say("note", note)

    # People's edits

    def _look_after_people(self) -> None:
        if time.monotonic() < self._look_at:
            return
        _, why = rest_of(self._wiki)
        self._say_once("commits off", "commits", f"people's edits are not committed: {why}" if why else "", why=why)
        look = self._people.look(self._wiki, afresh=self._afresh)
        self._afresh = False
        self._look_at = time.monotonic() + (SWEEP_EVERY_S if look.again_s is None else look.again_s)
        self._report(look)

    def _report(self, look: Look) -> None:
        for note in look.notes:
            self._say_once("note", f"people {note[:20]}", note)
        if look.taken is not None:
            taken = look.taken
            self._say(
                "committed", f"committed {taken.commit[:10]} {taken.subject}", commit=taken.commit,
                subject=taken.subject, pages=list(taken.pages),
            )  # fmt: skip
        for left in look.left:
            self._say("left alone", f"not committed: '{left.path}': {left.why}", path=left.path, why=left.why)

    # What hooks captured

    def _drain_spool(self) -> None:
        drained = self._captured.look(self._wiki)
        for each in drained.flushed if drained else ():
            text = f"session {each.title}: {each.observations} observations"
            self._say("session", text, path=each.path, commit=each.commit, observations=each.observations)
        for note in drained.notes if drained else ():
            self._say_once("note", f"spool {note[:20]}", note)

    # Telling

    def _say(self, event: str, text: str, **about: Any) -> None:
        mask = self._wiki.redactor.mask
        log.info("%s: %s", event, mask(text))
        self._tell(Deed(event, mask(text), about))

    def _say_once(self, event: str, about: str, text: str, **more: Any) -> None:
        """Say what stays true for a while when it begins; an empty text ends it."""
        if self._said.get(about, "") == text:
            return
        self._said[about] = text
        if text:
            self._say(event, text, **more)


def _pages(count: int) -> str:
    return "1 page" if count == 1 else f"{count} pages"


def _stamp(path: Path) -> object:
    try:
        seen = path.stat()
    except OSError:
        return None
    return seen.st_mtime_ns, seen.st_size, seen.st_ino
