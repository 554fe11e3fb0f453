"""The log of hooks: what was not kept, and what was wrong with a payload. No line repeats anything of a payload."""

from __future__ import annotations

import os
import time

from wikimem.agents.agent import MODULES, agent_named
from wikimem.vault.locate import private_folder, state_folder
from wikimem.vault.spool import LOG

LOG_BYTES = 1_000_000
"""The log is turned over at this size; one older log is kept, as `hooks.log.1`."""


def note(agent: str, event: str, said: str) -> None:
    """Add a line. Names that no table knows are not repeated, since they could be anything. OSError where it fails."""
    table = agent_named(agent)
    known = (table.event_named(event) if table else None) or "unknown-event"
    name = agent if agent in MODULES else "unknown-agent"
    line = f"{time.strftime('%Y-%m-%dT%H:%M:%S%z')} {name} {known}: {said}\n"
    path = f"{private_folder(state_folder())}/{LOG}"
    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        os.write(descriptor, line.encode("utf-8", "replace"))
        if os.fstat(descriptor).st_size > LOG_BYTES:
            os.replace(path, f"{path}.1")
    finally:
        os.close(descriptor)
