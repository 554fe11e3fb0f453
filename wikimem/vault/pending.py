"""Which writes the journal still holds, by the names of its files alone: every command looks, few need more."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Final, Literal

State = Literal["write", "wait", "undo", "done"]
STATES: Final[tuple[State, ...]] = ("write", "wait", "undo", "done")

_NAME: Final = re.compile(rf"({'|'.join(STATES)})-.+\.json")


def pending_files(folder: Path) -> list[Path]:
    """The journal's files in `folder`, oldest write first."""
    try:
        names = [name for name in os.listdir(folder) if _NAME.fullmatch(name)]
    except FileNotFoundError:
        return []
    return [folder / name for name in sorted(names, key=lambda name: name.partition("-")[2])]


def interrupted(folder: Path) -> bool:
    """Whether a write is to be finished or taken back, or is under way just now."""
    return any(file.name.startswith(("write-", "undo-")) for file in pending_files(folder))
