"""Who asks: the names that a write is signed with and a search is scoped by, and who hears of progress."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from msgspec import Struct

Progress = Callable[[str, int, int], None]
"""Called with what is being done, how much is done, and how much there is."""


class Caller(Struct, frozen=True):
    """On whose behalf an operation runs. No agent means that a person acts."""

    agent: str | None = None
    session: str | None = None
    project: str | None = None
    cwd: Path | None = None

    @property
    def trust(self) -> str:
        return "agent" if self.agent else "human"
