"""This user's log of operations on a vault: name, duration, outcome, and no content."""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Final

from wikimem.errors import WikimemError

MOST_BYTES: Final = 4_000_000
"""At this size the log starts anew; the one before is kept."""


@contextlib.contextmanager
def logged(folder: Path, name: str, effect: str) -> Iterator[None]:
    """Append one line to `folder/operations.jsonl` about what runs inside, however it ends."""
    started = time.perf_counter()
    outcome = "ok"
    try:
        yield
    except WikimemError as error:
        outcome = error.kind
        raise
    except BaseException:
        outcome = "bug"
        raise
    finally:
        line = {
            "time": datetime.now().isoformat(timespec="milliseconds"),
            "operation": name,
            "effect": effect,
            "ms": round((time.perf_counter() - started) * 1000),
            "outcome": outcome,
        }
        _append(folder, json.dumps(line))


def _append(folder: Path, line: str) -> None:
    """A full disk or a closed folder must not fail the operation that is logged."""
    file = folder / "operations.jsonl"
    with contextlib.suppress(OSError):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if file.exists() and file.stat().st_size > MOST_BYTES:
            file.replace(folder / "operations.1.jsonl")
        with file.open("a", encoding="utf-8") as log_file:
            log_file.write(line + "\n")
