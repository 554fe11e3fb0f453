"""Asking the resident process for a hook: the same request as a command's, answered into a pipe of our own.

As cheap to import as the client, and never longer than a deadline.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Sequence

from wikimem.surfaces.resident import place, wire
from wikimem.surfaces.resident.client import connect

TYPE_CHECKING = False
if TYPE_CHECKING:
    import _socket

MOST_ANSWER = 200_000
"""Bytes of an answer; a pipe takes them in a few goes."""

is_off = place.is_off


def arguments(root: str, cwd: str, asked: str) -> list[str]:
    """The arguments of the request: not a command that anybody types."""
    return ["--vault", root, place.INJECT, cwd, asked]


def parts(given: Sequence[str]) -> tuple[str, str, str]:
    """Root, working directory and question of such arguments. Raises ValueError for any others."""
    _, root, _, cwd, asked = given
    return root, cwd, asked


def ask(root: str, cwd: str, asked: str, deadline: float) -> bytes | None:
    """The answer; empty where it took too long, None where no resident process of this vault takes the question.

    `deadline` is a time of `time.monotonic`.
    """
    folder = place.socket_folder()
    # Without standard streams of its own the hook has nobody to tell.
    if not folder or not place.is_private(folder) or place.is_within(folder, root) or not (sys.stdout and sys.stderr):
        return None
    channel = connect(folder, root)
    if channel is None:
        return None
    try:
        return _answer(channel, wire.request(root, "/", arguments(root, cwd, asked)), deadline)
    except TimeoutError:
        return b""
    except (OSError, UnicodeError, ValueError):
        return None
    finally:
        channel.close()


def _answer(channel: _socket.socket, request: bytes, deadline: float) -> bytes | None:
    import _socket

    def left() -> float:
        seconds = deadline - time.monotonic()
        if seconds <= 0:
            raise TimeoutError
        return seconds

    channel.settimeout(left())
    channel.sendall(request)
    word = channel.recv(1)
    if word == wire.WAIT:
        channel.settimeout(left())
        word = channel.recv(1)
    if word != wire.TAKEN:
        return None
    out, into = os.pipe()
    try:
        nowhere = os.open(os.devnull, os.O_WRONLY | os.O_CLOEXEC)
        try:
            streams = into.to_bytes(4, sys.byteorder) + nowhere.to_bytes(4, sys.byteorder)
            channel.sendmsg([wire.GO], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, streams)])
        finally:
            os.close(nowhere)
            os.close(into)
        answer = _read(out, left)
    finally:
        os.close(out)
    channel.settimeout(left())
    return None if channel.recv(1) == wire.NOT_MINE else answer


def _read(descriptor: int, left: Callable[[], float]) -> bytes:
    """Everything up to the end of the pipe. Raises TimeoutError where that does not come in time."""
    import select

    parts: list[bytes] = []
    size = 0
    while size < MOST_ANSWER:
        ready, _, _ = select.select([descriptor], [], [], left())
        part = os.read(descriptor, 65536) if ready else b""
        if ready and not part:
            break
        parts.append(part)
        size += len(part)
    return b"".join(parts)
