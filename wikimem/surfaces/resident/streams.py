"""Output to a client's own streams, which were passed over the socket.

A reader who is slow (a pager, a suspended terminal) must not keep the next command waiting: what a pipe or a terminal
does not take at once is kept, and written by a thread of its own after the command is done.
"""

from __future__ import annotations

import contextlib
import io
import os
import select
import socket
import stat
import threading
from collections import deque
from typing import TYPE_CHECKING, Final

from wikimem.surfaces.resident import wire

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

PIPE_CHUNK: Final = 4096
"""Bytes that a pipe takes without blocking when it says that it takes some (PIPE_BUF on Linux)."""

TERMINAL_CHUNK: Final = 256
MOST_KEPT: Final = 32_000_000
"""Bytes kept for a slow reader; more, and the command waits for them."""

BROKEN_PIPE: Final = 141
UNAVAILABLE: Final = 6


class Outlet:
    """The two streams of one client. What is written goes on in order, whichever of the two it is for."""

    def __init__(self, channel: socket.socket, out: int, err: int) -> None:
        """Takes over the channel and both descriptors; `close` closes them."""
        self.out = out
        self.err = err
        self._channel = channel
        self._files = {fd for fd in (out, err) if stat.S_ISREG(os.fstat(fd).st_mode)}
        self._chunk = {fd: TERMINAL_CHUNK if os.isatty(fd) else PIPE_CHUNK for fd in (out, err)}
        self._kept: deque[tuple[int, memoryview]] = deque()
        self._kept_bytes = 0
        self._said = False
        self._gone = False

    def write(self, fd: int, data: bytes) -> None:
        """Write, or keep for later. Raises OSError as the stream does.

        KeyboardInterrupt where the client has gone; what comes after that is dropped.
        """
        if self._gone:
            return
        self.check()
        if not self._said:
            self._tell(wire.PRINTS)
            self._said = True
        rest = memoryview(data)
        while rest and not self._kept and self._takes(fd):
            rest = rest[os.write(fd, rest if fd in self._files else rest[: self._chunk[fd]]) :]
        if rest:
            self._kept.append((fd, rest))
            self._kept_bytes += len(rest)
            if self._kept_bytes > MOST_KEPT:
                self._write_kept()

    def check(self) -> None:
        """Raise KeyboardInterrupt where the client has gone: it was interrupted, or killed."""
        try:
            gone = self._channel.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT) == b""
        except BlockingIOError:
            return
        except OSError:
            gone = True
        if gone:
            self._gone = True
            raise KeyboardInterrupt

    def end(self, code: int) -> None:
        """Tell the client its exit code once everything is written, and close; in a thread where a reader is slow."""
        if not self._kept:
            self._end(code)
            return
        threading.Thread(target=self._end, args=(code,), daemon=True, name="wikimem slow reader").start()

    def decline(self) -> None:
        """Tell the client to run the command itself. Only before anything was printed."""
        with contextlib.suppress(KeyboardInterrupt):
            self._tell(wire.NOT_MINE)
        self.close()

    def close(self) -> None:
        for fd in (self.out, self.err):
            with contextlib.suppress(OSError):
                os.close(fd)
        self._channel.close()

    def _takes(self, fd: int) -> bool:
        if fd in self._files:
            return True
        poll = select.poll()
        poll.register(fd, select.POLLOUT)
        return bool(poll.poll(0))

    def _tell(self, word: bytes) -> None:
        try:
            self._channel.sendall(word)
        except OSError as error:
            self._gone = True
            raise KeyboardInterrupt from error

    def _end(self, code: int) -> None:
        try:
            self._write_kept()
        except BrokenPipeError:
            code = BROKEN_PIPE
        except OSError:
            code = UNAVAILABLE
        except KeyboardInterrupt:
            # Nobody is there any more to hear of it.
            self.close()
            return
        with contextlib.suppress(KeyboardInterrupt):
            self._tell(wire.DONE + bytes([code]))
        self.close()

    def _write_kept(self) -> None:
        while self._kept:
            fd, rest = self._kept[0]
            while rest:
                self._wait_for(fd)
                rest = rest[os.write(fd, rest if fd in self._files else rest[: self._chunk[fd]]) :]
            self._kept.popleft()
        self._kept_bytes = 0

    def _wait_for(self, fd: int) -> None:
        """Wait until the stream takes more. KeyboardInterrupt where the client goes meanwhile."""
        poll = select.poll()
        poll.register(self._channel, select.POLLIN)
        if fd not in self._files:
            poll.register(fd, select.POLLOUT)
            poll.poll()
        self.check()


class Relay(io.RawIOBase):
    """One of the two streams as Python's io wants it."""

    def __init__(self, outlet: Outlet, fd: int) -> None:
        self._outlet = outlet
        self._fd = fd

    def writable(self) -> bool:
        return True

    def fileno(self) -> int:
        return self._fd

    def isatty(self) -> bool:
        return os.isatty(self._fd)

    def write(self, data: ReadableBuffer, /) -> int:
        written = bytes(data)
        self._outlet.write(self._fd, written)
        return len(written)
