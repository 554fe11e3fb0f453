"""Hooks of an agent in this process: payloads in, events of the vault's spool out."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from wikimem.agents.capture import Outcome, capture
from wikimem.model.event import Event
from wikimem.vault.folders import vault_folders, vault_key
from wikimem.vault.spool import SPOOL, Spool

if TYPE_CHECKING:
    from tests.conftest import Home

Hook = Callable[..., Outcome]


@pytest.fixture
def spool(vault: Path) -> Spool:
    """The spool of the user's default vault."""
    return Spool(vault_folders(vault_key(vault)).state / SPOOL)


@pytest.fixture
def hook(vault: Path) -> Hook:
    """Report an event: `hook("claude", "Stop", session_id="s1")`, or with `data=b"..."` as it is."""

    def report(agent: str, event: str, *, data: bytes | None = None, tail: bytes = b"", **payload: Any) -> Outcome:
        return capture(agent, event, json.dumps(payload).encode() if data is None else data, tail)

    return report


@pytest.fixture
def last(hook: Hook) -> Callable[..., Event]:
    """Report an event and give it as it was kept."""

    def report(agent: str, event: str, **payload: Any) -> Event:
        outcome = hook(agent, event, **payload)
        assert outcome.file is not None, outcome.reason
        return Event.from_document(json.loads(Path(outcome.file).read_bytes()))

    return report


@pytest.fixture
def on_disk(home: Home) -> Callable[[], bytes]:
    """All bytes of every file in the home, one after the other."""
    return lambda: b"\0".join(file.read_bytes() for file in home.path.rglob("*") if file.is_file())
