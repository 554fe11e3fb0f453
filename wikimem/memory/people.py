"""Committing what people edit, once it has come to rest: as the person, page by page what may be committed.

A page is left alone, and said so once, where it holds the markers of a merge or a new secret, where somebody has
staged it, or where it looks like what an interrupted checkout leaves behind (see `wikimem.vault.uncommitted`).
"""

from __future__ import annotations

import json
import math
import re
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct

from wikimem.errors import Conflict, Locked, NotFound, WikimemError
from wikimem.memory.handwriting import CREATED, DELETED, EDITED, PageEdit, message_of, renamed
from wikimem.model.page import CONFLICT_RULE, Page
from wikimem.text.ids import new_ulid, revision_of
from wikimem.text.page import parse_page
from wikimem.vault.renames import match_moves

if TYPE_CHECKING:
    from wikimem.vault.config import UserConfig, VaultConfig
    from wikimem.vault.repository import Repository
    from wikimem.vault.uncommitted import Difference, TakeUp
    from wikimem.wiki import Wiki

DEFAULT_REST_S: Final = 120.0
LOCK_WAIT_S: Final = 5.0
TOGETHER_S: Final = 2.0
"""Pages that come to rest within this time of each other go into one commit."""
MOVED_S: Final = 1.0
GONE_SHARE: Final = 0.5
GONE_LEAST: Final = 20
"""Where at least this share, and this number, of the pages is gone, no deletion is committed: a disk that is not
mounted, or a checkout that was cut off, looks just like that (law 7)."""

_SYNC_COPY: Final = re.compile(
    r"\.sync-conflict-|\(conflicted copy|\(Conflicted copy|^conflict-files-obsidian-git\.md$"
)


class Taken(Struct, frozen=True):
    """One commit of people's edits: its id, its subject, and the pages that it holds."""

    commit: str
    subject: str
    pages: tuple[str, ...]


class Left(Struct, frozen=True):
    """A page that stays uncommitted, and why."""

    path: str
    why: str


class Look(Struct, frozen=True):
    """What one look did: `taken` if it committed, `left` what it leaves alone and has not said before. `again_s` is
    after how many seconds to look again, None where there is nothing to wait for."""

    taken: Taken | None = None
    left: tuple[Left, ...] = ()
    again_s: float | None = None
    notes: tuple[str, ...] = ()


@dataclass(slots=True)
class PeopleEdits:
    """Looks after people's edits in one vault. Between looks it remembers what it saw: only what stayed the same for
    the time of rest is committed."""

    _seen: dict[str, tuple[str, float]] = field(default_factory=dict)
    _told: set[tuple[str, str, str]] = field(default_factory=set)
    _left: set[tuple[str, str]] = field(default_factory=set)
    _first_rested: float | None = None

    def look(self, wiki: Wiki, *, afresh: bool = False) -> Look:
        """Commit what has rested long enough. Errors of git and the disk are raised; a busy vault is waited for.

        What was left alone is judged again when another page may be committed, or `afresh` (git has changed something).
        """
        rest_s, _ = rest_of(wiki)
        if math.isinf(rest_s):
            return Look()
        view = _View(wiki, {})
        if view.busy():
            return Look(again_s=min(rest_s, 30.0))
        resting, again_s = self._resting(view, rest_s)
        if not resting or (not afresh and resting.items() <= self._left):
            return Look(again_s=again_s)
        if again_s is not None and again_s <= self._patience(rest_s):
            # Pages that were changed together are committed together.
            return Look(again_s=again_s)
        self._first_rested = None
        try:
            return self._take(view, resting, again_s)
        except Locked:
            return Look(again_s=min(rest_s, LOCK_WAIT_S))
        except Conflict as error:
            # Somebody was faster: what is there now is looked at anew.
            return Look(again_s=rest_s, notes=(f"people's edits wait: {error.message}",))

    def _patience(self, rest_s: float) -> float:
        """How much longer pages that have rested wait for others. Somebody who never stops does not keep them back."""
        now = time.monotonic()
        self._first_rested = self._first_rested or now
        return min(TOGETHER_S, rest_s / 2) - (now - self._first_rested)

    def _resting(self, view: _View, rest_s: float) -> tuple[dict[str, str], float | None]:
        """Pages that are as they were a time of rest ago (path -> revision), and when to look again for the others."""
        now, seen = time.monotonic(), {}
        resting: dict[str, str] = {}
        waits: list[float] = []
        for path in view.differences:
            revision, changed_s = view.revision(path)
            before = self._seen.get(path)
            since = before[1] if before is not None and before[0] == revision else now
            seen[path] = (revision, since)
            wait_s = rest_s - min(now - since, changed_s)
            if wait_s <= 0:
                resting[path] = revision
            else:
                waits.append(wait_s)
        self._seen = seen
        self._told = {each for each in self._told if each[0] in seen}
        return resting, min(waits, default=None)

    def _take(self, before: _View, resting: Mapping[str, str], again_s: float | None) -> Look:
        from wikimem.vault.lock import write_lock

        wiki = before.wiki
        # Reading history takes its time: agents that write need not wait for that.
        known = before.in_history()
        wiki.folders.state.joinpath("journal").mkdir(mode=0o700, exist_ok=True)
        purpose = "wikimem watch, committing people's edits"
        with write_lock(wiki.repository.lock_path, purpose, timeout_s=LOCK_WAIT_S):
            notes = wiki.committer.recover()
            # Asked again under the lock: an agent may have written, and what it wrote is no person's.
            view = _View(wiki, known)
            if view.busy():
                return Look(again_s=30.0, notes=notes)
            paths = [path for path, revision in resting.items() if view.is_as(path, revision)]
            edits, left = view.judge(paths)
            taken = None
            if edits:
                message = message_of(edits, wiki.redactor.mask)
                pages = {path: view.data(path) for edit in edits for path in edit.paths}
                now = wiki.clock()
                commit = view.take_up.commit(new_ulid(now), pages, message, view.repository.person(), now)
                if commit:
                    taken = Taken(commit, message.partition("\n")[0], tuple(pages))
                else:
                    again_s = 0.0  # the person was quicker with some of them
        new = [each for each in left if (each.path, each.why, resting[each.path]) not in self._told]
        self._told |= {(each.path, each.why, resting[each.path]) for each in left}
        self._left = {(each.path, resting[each.path]) for each in left}
        return Look(taken, tuple(new), again_s, notes)


def rest_of(wiki: Wiki) -> tuple[float, str]:
    """After how many seconds of rest people's edits are committed, and why never (infinity)."""
    repository = wiki.repository
    rest_s, why = _configured(wiki.config, wiki.user)
    if not repository.has_git:
        return math.inf, "git is not installed"
    if repository.prefix and wiki.user.commit_after is None:
        return math.inf, "the vault is a part of a larger repository (set commit_after in your own settings to have it)"
    if not math.isinf(rest_s) and (minutes := obsidian_git_minutes(wiki.root)):
        return math.inf, f"Obsidian Git commits here every {minutes:g} minutes"
    return rest_s, why


def _configured(vault: VaultConfig, user: UserConfig) -> tuple[float, str]:
    """A vault can make the time longer, or infinite, and never shorter (law 12)."""
    mine = DEFAULT_REST_S if user.commit_after is None else user.commit_after
    if math.isinf(mine):
        return mine, "commit_after is off in your settings"
    if math.isinf(vault.commit_after):
        return vault.commit_after, "commit_after is off in the vault's settings"
    return max(mine, vault.commit_after), ""


def obsidian_git_minutes(root: Path) -> float:
    """Every how many minutes the Obsidian Git plugin commits this vault; 0 where it does not."""
    plugins = _read_json(root / ".obsidian/community-plugins.json")
    if not isinstance(plugins, list) or "obsidian-git" not in plugins:
        return 0.0
    settings = _read_json(root / ".obsidian/plugins/obsidian-git/data.json")
    every = settings.get("autoSaveInterval", settings.get("autoBackup", 0)) if isinstance(settings, dict) else 0
    return float(every) if isinstance(every, int | float) and every > 0 else 0.0


def _read_json(path: Path) -> Any:
    """What is in a file of another program; None where there is none: its faults are not wikimem's."""
    try:
        return json.loads(path.read_bytes())
    except (OSError, ValueError):
        return None


class _View:
    """The uncommitted pages of a vault at one moment, and the judgement on each."""

    def __init__(self, wiki: Wiki, known: dict[tuple[str, bytes], bool]) -> None:
        """`known` says of paths and blobs whether history has them; it is added to."""
        from wikimem.vault.journal import Journal
        from wikimem.vault.uncommitted import TakeUp

        self.wiki = wiki
        self.repository: Repository = wiki.repository
        self.take_up: TakeUp = TakeUp(self.repository, Journal(wiki.folders.state / "journal"))
        self._data: dict[str, bytes | None] = {}
        self._listed = 0
        self._known = known

    def busy(self) -> bool:
        """Whether git is in the midst of something, or was cut off in it."""
        lock = self.repository.git_dir / "index.lock"
        return self.repository.operation() is not None or self.repository.head() is None or lock.exists()

    @cached_property
    def differences(self) -> dict[str, Difference]:
        """Pages that differ from HEAD, of those that the vault has by its own rules."""
        from wikimem.vault.scan import scan
        from wikimem.vault.uncommitted import find_differences

        found = find_differences(self.repository)
        if not found:
            return {}
        listed = scan(self.wiki.root, self.wiki.config.exclude)
        self._listed = len(listed.files)
        return {
            path: each
            for path, each in found.items()
            if path in listed.files or (each.kind == "gone" and not listed.is_unread(path) and self._was_page(path))
        }

    def _was_page(self, path: str) -> bool:
        return self.wiki.index.page(path) is not None or not self._is_excluded(path)

    def _is_excluded(self, path: str) -> bool:
        from wikimem.vault.scan import why_overlooked

        return bool(why_overlooked(self.wiki.root, path, self.wiki.config.exclude))

    def data(self, path: str) -> bytes | None:
        """The bytes on disk, read once; None where there is no file."""
        if path not in self._data:
            try:
                self._data[path] = self.take_up.files.read(path)
            except FileNotFoundError:
                self._data[path] = None
        return self._data[path]

    def revision(self, path: str) -> tuple[str, float]:
        """The page's revision (empty where it is gone), and how many seconds ago its file was changed."""
        data = self.data(path)
        if data is None:
            return "", math.inf
        try:
            age_s = time.time() - (self.wiki.root / path).stat().st_mtime
        except OSError:
            return "", math.inf
        # A time in the future says nothing.
        return revision_of(data), age_s if age_s >= 0 else math.inf

    def is_as(self, path: str, revision: str) -> bool:
        return path in self.differences and self.revision(path)[0] == revision

    # Judging

    def judge(self, paths: Iterable[str]) -> tuple[list[PageEdit], list[Left]]:
        """Which of these pages may be committed, as what; and which are left alone, and why."""
        chosen = {path: self.differences[path] for path in paths}
        gone = [path for path, each in chosen.items() if each.kind == "gone" and not self._is_staged(each)]
        new = [path for path, each in chosen.items() if each.kind == "new"]
        moves = self._moves(gone, new)
        reasons = {path: self._why_left(chosen[path], moves) for path in chosen if path not in gone}
        reasons |= self._why_gone_left(gone, moves, reasons)
        edits = [
            self._edit(path, moves)
            for path, why in reasons.items()
            if not why and not (chosen[path].kind == "gone" and path in moves)
        ]
        return edits, [Left(path, why) for path, why in reasons.items() if why]

    def _is_staged(self, difference: Difference) -> bool:
        """Whether a person has staged it; what an interrupted commit of ours left staged is not theirs."""
        if not difference.staged:
            return False
        noted = self.take_up.interrupted()
        if difference.path not in noted:
            return True
        index = self.repository.index_entries([difference.path])[difference.path]
        return (index.blob if index else b"") != noted[difference.path]

    def _moves(self, gone: list[str], new: list[str]) -> dict[str, str]:
        before = {path: data for path in gone if (data := self._committed(path)) is not None}
        revisions = {path: revision_of(data) for path, data in before.items()}
        return match_moves(
            revisions,
            new,
            lambda path: self.data(path) or b"",
            lambda paths: {path: before[path] for path in paths if path in before},
        )

    def _committed(self, path: str) -> bytes | None:
        entry = self.repository.head_entries([path])[path]
        return self.repository.file_bytes(path, entry.blob) if entry else None

    def _why_left(self, difference: Difference, moves: Mapping[str, str]) -> str:
        """Why a page that is there is not committed; empty where it may be."""
        path, data = difference.path, self.data(difference.path)
        if data is None:
            return "it was removed just now"
        source = next((old for old, new in moves.items() if new == path), None)
        if self._is_staged(difference):
            return "it is staged: that commit is yours to make"
        if _SYNC_COPY.search(path.rpartition("/")[2]):
            return "it is a conflict copy of a sync tool"
        if difference.kind == "new" and source is None and not self._own_vault:
            return "git does not know it yet, and adding files to this repository is yours to do"
        page = parse_page(path, data)
        if any(problem.rule == CONFLICT_RULE for problem in page.problems):
            return "it holds the conflict markers of a merge"
        if secret := self._new_secret(page, source):
            return f"it holds what looks like a secret ({secret})"
        if path in self._old_versions and not (source is not None and self._was_moved(path)):
            return "it is as an earlier commit had it, which an interrupted checkout leaves behind too"
        return ""

    def _was_moved(self, path: str) -> bool:
        """Whether the file was given its name later than its bytes: git writes both at once, a person moves files."""
        try:
            seen = (self.wiki.root / path).stat()
        except OSError:
            return False
        return seen.st_ctime - seen.st_mtime > MOVED_S

    def _why_gone_left(self, gone: list[str], moves: Mapping[str, str], reasons: Mapping[str, str]) -> dict[str, str]:
        from wikimem.vault.uncommitted import lacking_elsewhere

        removed = [path for path in gone if path not in moves]
        pages = self._listed + len(removed)
        many = len(removed) >= max(GONE_LEAST, GONE_SHARE * pages)
        elsewhere = lacking_elsewhere(self.repository, gone)
        found: dict[str, str] = {}
        for path in gone:
            if path in moves and reasons.get(moves[path]):
                found[path] = f"its new place '{moves[path]}' is not committed"
            elif path not in moves and many:
                found[path] = f"{len(removed)} of {pages} pages are gone at once"
            elif path not in moves and (self._old_versions - set(moves.values()) or path in elsewhere):
                found[path] = "an interrupted checkout would remove it too"
            else:
                found[path] = ""
        return found

    @cached_property
    def _own_vault(self) -> bool:
        from wikimem.vault.uncommitted import is_own_vault

        return is_own_vault(self.repository)

    @cached_property
    def _old_versions(self) -> set[str]:
        """Uncommitted pages that are on disk as some commit had them."""
        return {path for (path, _), is_old in self.in_history().items() if is_old and path in self.differences}

    def in_history(self) -> dict[tuple[str, bytes], bool]:
        """Of each uncommitted page that nobody staged: whether some commit has its bytes at its path."""
        from wikimem.vault.uncommitted import known_versions

        blobs = {
            path: self.repository.blob_id(path, data)
            for path, each in self.differences.items()
            if not each.staged and (data := self.data(path)) is not None
        }
        asked = {path: blob for path, blob in blobs.items() if (path, blob) not in self._known}
        old = known_versions(self.repository, asked)
        self._known |= {(path, blob): path in old for path, blob in asked.items()}
        return {(path, blob): self._known[path, blob] for path, blob in blobs.items()}

    def _new_secret(self, page: Page, source: str | None) -> str:
        """The kind of a secret that no commit of this page holds yet; empty where there is none."""
        found = {finding.tag: finding.kind for finding in self.wiki.redactor.find(page.text)}
        if not found:
            return ""
        committed = self._committed(source or page.path) or b""
        known = {finding.tag for finding in self.wiki.redactor.find(committed.decode("utf-8", "replace"))}
        return next((kind for tag, kind in found.items() if tag not in known), "")

    def _edit(self, path: str, moves: Mapping[str, str]) -> PageEdit:
        difference = self.differences[path]
        if difference.kind == "gone":
            before = parse_page(path, self._committed(path) or b"")
            return PageEdit(DELETED, before.title, before.meta.id or self.wiki.origins().page_id(path), (path,))
        page = self.wiki.read_page(path)
        if page is None:
            raise Conflict(f"'{path}' was removed just now")
        source = next((old for old, new in moves.items() if new == path), None)
        if source is not None:
            old_title = parse_page(source, self._committed(source) or b"").title
            return PageEdit(renamed(old_title), page.title, page.id, (source, path))
        return PageEdit(CREATED if difference.kind == "new" else EDITED, page.title, page.id, (path,))


def why_off(wiki: Wiki) -> str:
    """Why people's edits are not committed in this vault; empty where they are."""
    try:
        return rest_of(wiki)[1]
    except (NotFound, WikimemError) as error:
        return error.message
