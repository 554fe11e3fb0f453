"""The guard against wikimem recording itself: an agent or LLM that wikimem starts never triggers capture.

Whoever starts one gives it `child_environment()`. Hooks look for the mark in their own environment and in that of
every process above them, since an agent may start its hooks with an environment of its own making.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping

CHILD_MARK = "WIKIMEM_CHILD"
"""The environment variable that marks every process below a wikimem that runs an LLM."""

_MOST_ANCESTORS = 64
_ENVIRON_BYTES = 1 << 20


def child_environment(environment: Mapping[str, str] | None = None) -> dict[str, str]:
    """The environment for an LLM or agent that wikimem starts: `environment` (this process's, if None), marked."""
    marked = dict(os.environ if environment is None else environment)
    marked[CHILD_MARK] = str(os.getpid())
    return marked


def is_child_of_wikimem(environment: Mapping[str, str] | None = None) -> bool:
    """Whether this process runs, at any depth, below an LLM or agent that wikimem started.

    Environments of ancestors are read where the system shows them without starting a process, which is on Linux.
    """
    if (os.environ if environment is None else environment).get(CHILD_MARK):
        return True
    return sys.platform == "linux" and any(_is_marked(process) for process in _ancestors())


def _ancestors() -> list[int]:
    found: list[int] = []
    process = os.getppid()
    while process > 1 and len(found) < _MOST_ANCESTORS:
        found.append(process)
        process = _parent(process)
    return found


def _parent(process: int) -> int:
    stat = _read(f"/proc/{process}/stat")
    # The name of the program stands in parentheses and may hold any character, so the fields count from its end.
    fields = stat[stat.rfind(b")") + 1 :].split()
    return int(fields[1]) if len(fields) > 1 else 0


def _is_marked(process: int) -> bool:
    return f"\0{CHILD_MARK}=".encode() in b"\0" + _read(f"/proc/{process}/environ")


def _read(path: str) -> bytes:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return b""
    try:
        parts = []
        size = 0
        while size < _ENVIRON_BYTES and (part := os.read(descriptor, 65536)):
            parts.append(part)
            size += len(part)
        return b"".join(parts)
    except OSError:
        return b""
    finally:
        os.close(descriptor)
