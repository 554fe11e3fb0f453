"""The open vault: the handle that every operation receives.

A read first brings the index up to date with what is on disk (`refresh`); a write goes through `transaction`, which
ends in one commit and then shows the change to the index.
"""

from __future__ import annotations

import contextlib
import copy
import os
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

from msgspec.structs import replace

from wikimem.errors import Invalid, Locked, NotFound, Refused, WikimemError
from wikimem.model.caller import Caller, Progress
from wikimem.model.hit import PageRow
from wikimem.model.page import Page
from wikimem.text.ids import new_ulid
from wikimem.text.redact import Redactor
from wikimem.vault.config import UserConfig, VaultConfig

if TYPE_CHECKING:
    from wikimem.index.index import Index
    from wikimem.refresh import Refreshed, Refresher
    from wikimem.vault.commit import Committer
    from wikimem.vault.draft import Draft
    from wikimem.vault.folders import VaultFolders
    from wikimem.vault.hints import Hints
    from wikimem.vault.origins import Origins, OriginStore
    from wikimem.vault.repository import Person, Repository

__all__ = ["Caller", "Wiki", "open_wiki"]

T = TypeVar("T")

MOST_OF_A_NAME: Final = 200
"""Characters of an agent's, session's or project's name: it goes into file names and commit trailers."""

SWEEP_WAIT_S: Final = 10.0
"""How long a write that needs a sweep waits for another process that is indexing."""


class Wiki:
    """One vault, opened for one caller. Not safe for use by two threads at once; any number of processes may."""

    def __init__(
        self,
        root: Path,
        folders: VaultFolders,
        *,
        config: VaultConfig,
        user: UserConfig,
        key: bytes,
        stamp: str,
        caller: Caller,
        clock: Callable[[], datetime] = datetime.now,
        progress: Progress | None = None,
    ) -> None:
        self.root = root
        self.folders = folders
        self.config = config
        self.user = user
        self.redactor = Redactor(key, (*user.redact.items(), *config.redact.items()))
        self.caller = replace(
            caller,
            agent=self._name("agent", caller.agent) if caller.agent else None,
            session=self._name("session", caller.session) if caller.session else None,
            project=self._name("project", caller.project) if caller.project else None,
        )
        self.clock = clock
        self.progress = progress
        self.hints: Hints | None = None
        self.notes: list[str] = []
        self.redacted: Counter[str] = Counter()
        self._stamp = stamp
        self._heard: set[str] = set()
        self._parts: dict[str, Any] = {}

    # Parts, opened when first needed and shared by every caller's view

    @property
    def index(self) -> Index:
        if "index" not in self._parts:
            from wikimem.index.index import Index

            index = Index.open(self.folders.index, stamp=self._stamp, model=self.user.model)
            self._parts["index"] = index
            self._hear_index()
        opened: Index = self._parts["index"]
        return opened

    @property
    def repository(self) -> Repository:
        if "repository" not in self._parts:
            from wikimem.vault.repository import Repository

            self._parts["repository"] = Repository(self.root)
        opened: Repository = self._parts["repository"]
        return opened

    @property
    def committer(self) -> Committer:
        from wikimem.vault.commit import Committer
        from wikimem.vault.journal import Journal

        return Committer(self.repository, Journal(self.folders.state / "journal"))

    def close(self) -> None:
        for part in self._parts.values():
            part.close()
        self._parts.clear()

    def hand_over(self, successor: Wiki) -> bool:
        """Close, but leave the open index to `successor` where settings and key are the same; whether they are."""
        other = successor.root, successor.config, successor.user, successor._stamp
        same = other == (self.root, self.config, self.user, self._stamp)
        if same and "index" in self._parts:
            successor._parts["index"], successor._heard = self._parts.pop("index"), self._heard
        self.close()
        return same

    # What only this user's state knows

    def count_tokens(self, *, given: int, whole: int) -> None:
        """Count what a context gave, and what the whole vault would have cost instead."""
        from wikimem.vault.state import StateStore

        StateStore(self.folders.state).add(tokens_given=given, tokens_saved=max(0, whole - given))

    def counted_tokens(self) -> tuple[int, int]:
        """Tokens given by contexts, and saved by them, since this user has had the vault."""
        from wikimem.vault.state import StateStore

        state = StateStore(self.folders.state)
        return state.counter("tokens_given"), state.counter("tokens_saved")

    # The caller

    def on_behalf(self, *, agent: str | None = None, session: str | None = None, project: str | None = None) -> Wiki:
        """This wiki for a caller with these names where they are given."""
        view = copy.copy(self)
        view.caller = replace(
            self.caller,
            agent=self._name("agent", agent) if agent is not None else self.caller.agent,
            session=self._name("session", session) if session is not None else self.caller.session,
            project=self._name("project", project) if project is not None else self.caller.project,
        )
        view.__dict__.pop("project", None)
        view.redacted = Counter()
        return view

    def _name(self, what: str, value: str) -> str:
        masked = self.redactor.mask(value).strip()
        if masked != value.strip():
            raise Refused(f"{what}: this looks like a secret", hint="Give a name that may be seen in commits.")
        if not masked or not masked.isprintable() or len(masked) > MOST_OF_A_NAME or set(masked) & set("<>"):
            raise Invalid(
                f"{what}: {masked[:40]!r} is no name",
                hint=f"Use one line of at most {MOST_OF_A_NAME} characters, without < and >.",
            )
        return masked

    @cached_property
    def project(self) -> str | None:
        """The project that the caller works in: named, or that of the working directory's repository."""
        if self.caller.project:
            return self.caller.project
        return self.detected_project[0]

    @cached_property
    def detected_project(self) -> tuple[str | None, tuple[str, ...]]:
        """The working directory's project by the vault's registry (its Profile pages), and its remotes."""
        from wikimem.vault.project import choose_project_name, detect_project

        if self.caller.cwd is None:
            return None, ()
        identity = detect_project(self.caller.cwd, self.root)
        if identity is None:
            return None, ()
        return choose_project_name(identity, self.project_profiles()), identity.remotes

    def project_profiles(self) -> dict[str, tuple[str, ...]]:
        """The registry of projects: each project's name and the remotes that its Profile page lists."""
        from wikimem.text.schema import property_texts

        names = sorted(file.parent.name for file in (self.root / "projects").glob("*/Profile.md"))
        paths = {name: f"projects/{name}/Profile.md" for name in names}
        pages = {name: self._parse(path, (self.root / path).read_bytes()) for name, path in paths.items()}
        return {page.meta.project or name: property_texts(page.properties, "remotes") for name, page in pages.items()}

    # The redaction gate

    def gate(self, value: Any) -> Any:
        """`value` with every secret in its texts replaced; what was found is counted in `redacted` (law 4)."""
        if isinstance(value, str):
            text, findings = self.redactor.redact(value)
            self.redacted.update(finding.kind for finding in findings)
            return text
        if isinstance(value, list | tuple):
            return type(value)(self.gate(item) for item in value)
        return value

    def operating(self, name: str, effect: str) -> contextlib.AbstractContextManager[None]:
        """Log one line about the operation that runs inside."""
        from wikimem.vault.operationlog import logged

        return logged(self.folders.state / "log", name, effect)

    # Reading

    @property
    def _refresher(self) -> Refresher:
        from wikimem.refresh import Refresher

        return Refresher(self.root, self.config.exclude, self.index, self.redactor, self.progress, self.identity)

    def refresh(self, *, full: bool = False, wait_s: float = 0.0) -> Refreshed:
        """Bring the index up to date with the files on disk: see `Refresher.refresh`.

        A write that a crash interrupted is finished, or taken back, first.
        """
        self._recover()
        refreshed = self.with_index(lambda: self._refresher.refresh(full=full, wait_s=wait_s, hints=self.hints))
        self._hear_index()
        return refreshed

    def with_index(self, work: Callable[[], T]) -> T:
        """Do what needs the index, and again with a new one where somebody deleted it meanwhile: it is derived."""
        for _ in range(2):
            try:
                return work()
            except (OSError, WikimemError):
                if self.folders.index.joinpath("stamp.json").exists():
                    raise
                self._parts.pop("index").close()
        return work()

    def _recover(self) -> None:
        """Where a crash interrupted a write, the next command ends it, a reading one too; it never waits for that."""
        from wikimem.vault.lock import write_lock
        from wikimem.vault.pastfolder import remove_left_folders
        from wikimem.vault.pending import interrupted

        remove_left_folders(self.folders.cache)
        if not interrupted(self.folders.state / "journal"):
            return
        try:
            with write_lock(self.repository.lock_path, "wikimem, ending an interrupted write", timeout_s=0):
                self.notes.extend(self.committer.recover())
        except Locked:
            return  # its process is alive and writing, or another command sees to it
        except WikimemError as error:
            self.notes.append(f"a write was interrupted, and cannot be ended now: {error.message}")

    def _hear_index(self) -> None:
        """Pass on what the index says of itself, each thing once."""
        self.notes.extend(note for note in self.index.notes if note not in self._heard)
        self._heard.update(self.index.notes)

    def _parse(self, path: str, data: bytes) -> Page:
        from wikimem.text.page import parse_page

        page = parse_page(path, data)
        return page if page.meta.id else replace(page, id=self.origins().page_id(path))

    def origins(self) -> Origins:
        """What the ids of pages that give none are derived from."""
        return self.identity.read()

    @cached_property
    def identity(self) -> OriginStore:
        """What keeps the ids of pages that give none through renames."""
        from wikimem.vault.origins import OriginStore

        return OriginStore(self.root, self.folders.state, self.folders.cache)

    @contextlib.contextmanager
    def over_index(self, folder: Path) -> Iterator[Wiki]:
        """This wiki over another index, in `folder`: what it answers there was not there before."""
        from wikimem.index.index import Index

        view = copy.copy(self)
        with contextlib.closing(Index.open(folder, stamp=self._stamp, model=self.user.model)) as index:
            view._parts = {**self._parts, "index": index}  # noqa: SLF001 - a view of this very class
            # Git's account is kept when the vault's own index has it, which this one is not.
            view.hints = None
            view.__dict__["identity"] = replace(self.identity, lasting=False)
            yield view

    def find(self, address: str) -> PageRow:
        """The one page that `address` names (PAGE of the contract). Raises NotFound, or Invalid where several fit."""
        rows = self.index.find_pages(self._inside(address))
        if not rows:
            from wikimem.index.address import near_titles

            raise NotFound(f"no page '{address}'", hint=near_titles(self.index.list_pages(None), address))
        if len(rows) > 1:
            listed = ", ".join(f"{row.path} ({row.id[-8:]})" for row in rows[:8])
            twins = len({row.id for row in rows}) < len(rows)
            own = "; `wikimem check --fix` gives the copy an id of its own." if twins else " or the end of the id."
            raise Invalid(
                f"'{address}' names {len(rows)} pages: {listed}",
                hint=f"Use the path{own}",
                data={"candidates": [row.path for row in rows]},
            )
        return rows[0]

    def _inside(self, address: str) -> str:
        """An absolute path of the vault as one from its root, an embed as the link that it is."""
        root = str(self.root) + "/"
        return address.removeprefix(root).removeprefix("!" if address.startswith("![[") else "")

    def find_to_write(self, address: str) -> PageRow:
        """As `find`, before a write: a path or an id needs no sweep of the vault, so that its cost follows the change.

        Any other address may have become another page's since the last sweep, or an ambiguous one: that is looked at.
        """
        address = self._inside(address)
        rows = self.index.find_pages(address)
        exact = [row for row in rows if address in (row.path, row.id) or row.id.endswith(address[-26:].upper())]
        if len(rows) == len(exact) == 1 and os.path.isfile(self.root / rows[0].path):
            return rows[0]
        refreshed = self.refresh(wait_s=SWEEP_WAIT_S)
        try:
            return self.find(address)
        except NotFound as error:
            if not refreshed.behind:
                raise
            raise Locked(f"no page '{address}' in the index, and {refreshed.why}", hint="Try again shortly.") from error

    def prepare_to_write(self) -> None:
        """Make the first index where there is none yet; a write looks there for what it must not repeat."""
        if self.index.is_empty():
            self.refresh()

    def read_page(self, path: str) -> Page | None:
        """The page as it is on disk now; None where it is gone, or closed to this user."""
        try:
            return self._parse(path, (self.root / path).read_bytes())
        except (FileNotFoundError, NotADirectoryError, PermissionError):
            return None

    def page_to_recall(self, path: str) -> Page | None:
        """As `read_page`, for answers from memory: of an unresolved merge, the last clean revision."""
        page = self.read_page(path)
        if page is not None and page.has_conflict:
            from wikimem.vault.lastclean import to_recall

            self.notes.append(f"{path} holds an unresolved merge; what it said before is given")
            page = to_recall(self.root, page)
        return page

    # Writing

    @contextlib.contextmanager
    def transaction(self, op: str, *, purpose: str = "") -> Iterator[Draft]:
        """One write, one commit. The body fills the draft under the vault's write lock; on its end the pages are
        written, committed and shown to the index. An exception in the body leaves everything as it was.

        Earlier writes that a crash interrupted are finished first; what that did is added to `notes`.
        """
        from wikimem.vault.draft import Draft
        from wikimem.vault.layout import is_page_name
        from wikimem.vault.lock import write_lock
        from wikimem.vault.secretcheck import SecretCheck

        self.folders.state.joinpath("journal").mkdir(mode=0o700, exist_ok=True)
        with write_lock(self.repository.lock_path, purpose or f"wikimem {op}"):
            committer = self.committer
            self.notes.extend(committer.recover())
            draft = Draft(self.root)
            yield draft
            changes = draft.changes()
            if not changes:
                return
            SecretCheck(self.redactor, self.repository).check(changes)
            draft.committed = committer.commit(
                new_ulid(self.clock()), changes, self._message(op, draft), self._author(), self.clock()
            )
            if draft.committed.deferred:
                self.notes.append(
                    f"git is busy ({draft.committed.deferred}): the page is written, "
                    "and wikimem commits it with the next write after that has ended"
                )
            self._show_to_index([change.path for change in changes if is_page_name(change.path)])

    def _show_to_index(self, paths: Sequence[str]) -> None:
        """The write is done and stays so, whatever happens here: the index catches up with the next read."""
        try:
            if not self.with_index(lambda: self._refresher.show(paths)):
                self.notes.append("another process is indexing; the change is committed and becomes findable after it")
        except (OSError, WikimemError) as error:
            self.notes.append(f"the change is committed and not yet findable: {error}")

    def _message(self, op: str, draft: Draft) -> str:
        subject = " ".join(draft.subject.split())
        trailers = [("Wikimem-Op", op), ("Wikimem-Agent", self.caller.agent), ("Wikimem-Session", self.caller.session)]
        trailers += [("Wikimem-Page", page) for page in draft.pages]
        lines = "".join(f"{name}: {value}\n" for name, value in trailers if value)
        return f"{self.redactor.mask(subject)}\n\n{self.redactor.mask(lines)}"

    def _author(self) -> Person:
        from wikimem.vault.repository import Person

        if self.caller.agent is None:
            return self.repository.person()
        local = "".join(char if char.isalnum() or char in "-_." else "-" for char in self.caller.agent)
        return Person(self.caller.agent, f"{local}@agents.wikimem.invalid")


def open_wiki(
    named: str | None,
    *,
    cwd: Path,
    caller: Caller,
    clock: Callable[[], datetime] = datetime.now,
    progress: Progress | None = None,
) -> Wiki:
    """Open the vault that a command means: `named` (a path), else that of `cwd`, else the user's default.

    Raises Refused for a vault that this user never made or trusted, NotFound where there is none.
    """
    from wikimem.vault.config import read_user_config, read_vault_config
    from wikimem.vault.folders import index_stamp, user_folders, user_key, vault_folders, vault_key
    from wikimem.vault.registry import VaultRegistry, default_root, resolve_vault

    folders = user_folders()
    user = read_user_config(folders.config)
    registry = VaultRegistry(folders.config)
    default = default_root(user.default_vault, registry, Path.home())
    root = resolve_vault(named, cwd=cwd, registry=registry, default=default)
    key = user_key()
    return Wiki(
        root,
        vault_folders(vault_key(root)),
        config=read_vault_config(root),
        user=user,
        key=key,
        stamp=index_stamp(key, root),
        caller=caller,
        clock=clock,
        progress=progress,
    )
