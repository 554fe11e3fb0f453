"""The open vault: the handle that every operation receives.

A read first brings the index up to date with what is on disk (`refresh`); a write goes through `transaction`, which
ends in one commit and then shows the change to the index.
"""

from __future__ import annotations

import contextlib
import copy
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wikimem.errors import Invalid, NotFound, Refused
from wikimem.model.caller import Caller, Progress
from wikimem.model.hit import PageRow
from wikimem.model.page import Page
from wikimem.text.ids import new_ulid
from wikimem.text.redact import Redactor
from wikimem.vault.config import UserConfig, VaultConfig

if TYPE_CHECKING:
    from wikimem.index.index import Index
    from wikimem.refresh import Refreshed, Refresher
    from wikimem.vault.commit import Committer, FileChange
    from wikimem.vault.draft import Draft
    from wikimem.vault.folders import VaultFolders
    from wikimem.vault.repository import Person, Repository

__all__ = ["Caller", "Wiki", "open_wiki"]


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
        self.redactor = Redactor(key, tuple(user.redact.items()))
        self.caller = caller
        self.clock = clock
        self.progress = progress
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
        value = self.redactor.mask(value).strip()
        if not value or any(ord(char) < 32 for char in value) or len(value) > 200:
            raise Invalid(f"{what}: '{value[:40]}' is no name", hint="Use one line of at most 200 characters.")
        return value

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
        profiles: dict[str, tuple[str, ...]] = {}
        for file in sorted((self.root / "projects").glob("*/Profile.md")):
            page = self._parse(f"projects/{file.parent.name}/Profile.md", file.read_bytes())
            remotes = page.properties.get("remotes")
            profiles[page.meta.project or file.parent.name] = (
                (remotes,) if isinstance(remotes, str) else tuple(remotes or ())
            )
        return profiles

    # The redaction gate

    def gate(self, value: Any, *, where: str = "text") -> Any:
        """`value` with every secret in its texts replaced; what was found is counted in `redacted` (law 4)."""
        if isinstance(value, str):
            text, findings = self.redactor.redact(value)
            self.redacted.update(finding.kind for finding in findings)
            return text
        if isinstance(value, list | tuple):
            return type(value)(self.gate(item, where=where) for item in value)
        return value

    def operating(self, name: str, effect: str) -> contextlib.AbstractContextManager[None]:
        """Log one line about the operation that runs inside."""
        from wikimem.vault.operationlog import logged

        return logged(self.folders.state / "log", name, effect)

    # Reading

    @property
    def _refresher(self) -> Refresher:
        from wikimem.refresh import Refresher

        return Refresher(self.root, self.config.exclude, self.index, self.redactor, self.progress)

    def refresh(self, *, full: bool = False, wait_s: float = 0.0) -> Refreshed:
        """Bring the index up to date with the files on disk: see `Refresher.refresh`."""
        refreshed = self._refresher.refresh(full=full, wait_s=wait_s)
        self._hear_index()
        return refreshed

    def _hear_index(self) -> None:
        """Pass on what the index says of itself, each thing once."""
        self.notes.extend(note for note in self.index.notes if note not in self._heard)
        self._heard.update(self.index.notes)

    def _parse(self, path: str, data: bytes) -> Page:
        from wikimem.text.page import parse_page

        return parse_page(path, data)

    def find(self, address: str) -> PageRow:
        """The one page that `address` names (PAGE of the contract). Raises NotFound, or Invalid where several fit."""
        rows = self.index.find_pages(address)
        if not rows:
            raise NotFound(f"no page '{address}'", hint=self._near(address))
        if len(rows) > 1:
            listed = ", ".join(f"{row.path} ({row.id[-8:]})" for row in rows[:8])
            raise Invalid(
                f"'{address}' names {len(rows)} pages: {listed}",
                hint="Use the path or the end of the id.",
                data={"candidates": [row.path for row in rows]},
            )
        return rows[0]

    def _near(self, address: str) -> str:
        import difflib

        titles = {row.title.casefold(): row.title for row in self.index.list_pages(None)}
        close = difflib.get_close_matches(address.casefold(), titles, n=3, cutoff=0.5)
        if not close:
            return f"See `wikimem search '{address}'` or `wikimem list`."
        return "Closest: " + ", ".join(f"'{titles[name]}'" for name in close) + "."

    def read_page(self, path: str) -> Page | None:
        """The page as it is on disk now; None where it is gone."""
        file = self.root / path
        try:
            return self._parse(path, file.read_bytes())
        except (FileNotFoundError, NotADirectoryError):
            return None

    # Writing

    @contextlib.contextmanager
    def transaction(self, op: str, *, purpose: str = "") -> Iterator[Draft]:
        """One write, one commit. The body fills the draft under the vault's write lock; on its end the pages are
        written, committed and shown to the index. An exception in the body leaves everything as it was.

        Earlier writes that a crash interrupted are finished first; what that did is added to `notes`.
        """
        from wikimem.vault.draft import Draft
        from wikimem.vault.lock import write_lock

        self.folders.state.joinpath("journal").mkdir(mode=0o700, exist_ok=True)
        with write_lock(self.repository.lock_path, purpose or f"wikimem {op}"):
            committer = self.committer
            self.notes.extend(committer.recover())
            draft = Draft(self.root)
            yield draft
            changes = draft.changes()
            if not changes:
                return
            self._refuse_new_secrets(changes)
            draft.committed = committer.commit(
                new_ulid(self.clock()), changes, self._message(op, draft), self._author(), self.clock()
            )
            if draft.committed.deferred:
                self.notes.append(
                    f"git is in the middle of a {draft.committed.deferred}: the page is written, "
                    "and wikimem commits it with the next write after that has ended"
                )
            if not self._refresher.show([change.path for change in changes]):
                self.notes.append("another process is indexing; the change is committed and becomes findable after it")

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

    def _refuse_new_secrets(self, changes: Iterable[FileChange]) -> None:
        """The gate's second look: two harmless texts may make a secret once they stand together on a page."""
        for change in changes:
            if change.new is None:
                continue
            old = change.old or b""
            tags = {finding.tag for finding in self.redactor.find(old.decode("utf-8", "replace"))}
            for finding in self.redactor.find(change.new.decode("utf-8", "replace")):
                if finding.tag not in tags:
                    raise Refused(
                        f"'{change.path}' would then hold a secret ({finding.kind})",
                        hint="Write that a credential exists and where it is kept, not its value.",
                    )


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
