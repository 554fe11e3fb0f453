"""A vault into which sessions are captured: events in its spool, pages that come of them."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from wikimem.agents.capture import capture
from wikimem.memory.sessions.drain import Drained, drain, spool_of
from wikimem.model.caller import Caller
from wikimem.model.event import Event
from wikimem.operations import OPERATIONS
from wikimem.vault.spool import event_name, put
from wikimem.wiki import Wiki, open_wiki

if TYPE_CHECKING:
    from tests.conftest import Home

BY_NAME = {operation.name: operation for operation in OPERATIONS}
START = datetime(2027, 3, 1, 9, 0, 0)


def event_at(seconds: float, kind: str, **fields: Any) -> Event:
    """An event that came so many seconds after nine o'clock."""
    when = START + timedelta(seconds=seconds)
    unique = json.dumps([seconds, kind, sorted(fields.items())], default=str)
    defaults = {
        "agent": "claude-code",
        "event": kind,
        "session": "s1",
        "key": hashlib.sha256(unique.encode()).hexdigest()[:32],
    }
    return Event(**{**defaults, "kind": kind, "time": when.isoformat() + "+00:00", **fields})


@dataclass
class Yard:
    """One vault and one code base; `now` is the vault's clock."""

    root: Path
    code: Path
    now: datetime = START + timedelta(hours=1)
    _open: dict[str | None, Wiki] = field(default_factory=dict)
    _count: int = 0

    def wiki(self, agent: str | None = None) -> Wiki:
        if agent not in self._open:
            caller = Caller(agent=agent, cwd=self.code)
            self._open[agent] = open_wiki(str(self.root), cwd=self.code, caller=caller, clock=lambda: self.now)
        return self._open[agent]

    def spool(self, *events: Event) -> None:
        """Put events into the spool as hooks do."""
        folder = Path(spool_of(self.wiki()).folder)
        folder.mkdir(mode=0o700, exist_ok=True)
        for event in events:
            self._count += 1
            when = self._count if " " in event.time else int(datetime.fromisoformat(event.time).timestamp() * 10**9)
            name = event_name(when, f"{self._count:016x}", "n", "claude-code")
            put(str(folder), name, json.dumps(event.to_document()).encode())

    def report(self, name: str, agent: str = "claude", session: str = "s1", **payload: Any) -> str | None:
        """What a hook does with an event of an agent; returns the file in the spool, or None where it kept nothing."""
        fields = {"session_id": session, "cwd": str(self.code), "hook_event_name": name, **payload}
        return capture(agent, name, json.dumps(fields).encode()).file

    def drain(self) -> Drained:
        return drain(self.wiki())

    def waiting(self) -> int:
        return spool_of(self.wiki()).counts().pending

    def pages(self) -> list[Path]:
        return sorted(self.root.rglob("sessions/**/*.md"))

    @property
    def page(self) -> Path:
        """The only session page."""
        (page,) = self.pages()
        return page

    @property
    def text(self) -> str:
        return self.page.read_text("utf-8")

    def run(self, name: str, by: str | None = None, **arguments: Any) -> Any:
        return BY_NAME[name].run(self.wiki(by), arguments)

    def git(self, *args: str) -> str:
        done = subprocess.run(["git", "-C", str(self.root), *args], capture_output=True, text=True, check=True)
        return done.stdout.strip()

    def close(self) -> None:
        for wiki in self._open.values():
            wiki.close()


@pytest.fixture
def yard(home: Home, vault: Path) -> Iterator[Yard]:
    code = home.path / "work" / "shop-api"
    remote = "git@host.example:a/shop-api.git"
    for command in (["init", "-q", str(code)], ["-C", str(code), "remote", "add", "origin", remote]):
        subprocess.run(["git", *command], check=True, env=os.environ)
    yard = Yard(vault, code)
    yield yard
    yard.close()


@pytest.fixture
def make_event() -> Callable[..., Event]:
    return event_at
