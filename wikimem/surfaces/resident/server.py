"""The server: it answers one command at a time, in the main thread; another thread takes in who comes next."""

from __future__ import annotations

import importlib
import logging
import os
import queue
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Final

from wikimem.errors import Invalid, Unavailable
from wikimem.operations.attending import Attendance, Turn
from wikimem.operations.resident import only_one, record_end, record_start, warm
from wikimem.surfaces.resident import place, wire
from wikimem.surfaces.resident.client import peer_uid
from wikimem.surfaces.resident.desk import Desk, LoadedCode, NotServed
from wikimem.surfaces.resident.request import Request, in_place_of, parse_request, same_places
from wikimem.surfaces.resident.streams import Outlet
from wikimem.wiki import Caller, open_wiki

if TYPE_CHECKING:
    from wikimem.wiki import Wiki

log = logging.getLogger(__name__)

Run = Callable[[Sequence[str], Desk], int]
"""Runs one command line with the vault of a desk, on the streams of this process; returns the exit code."""

MOST_MEMORY: Final = 600_000_000
"""Bytes; a process that has come to use more ends after its answer, and the next command starts a new one."""

TICK_S: Final = 20.0
"""How often a server that nobody asks looks whether it is still of use."""

LONG_S: Final = 1.0
"""A command that has taken this long may take much longer (a first index): others are not kept waiting for it."""

_REQUEST_S: Final = 0.5
_BACKLOG: Final = 64


class Server:
    """The resident process of one vault. `serve` is all there is to it."""

    def __init__(self, root: Path, idle_s: float, run: Run) -> None:
        self._desk = Desk(root)
        self._idle_s = idle_s
        self._run = run
        self._identity = tuple(wire.identity())
        self._code = LoadedCode()
        self._jobs: queue.SimpleQueue[tuple[socket.socket, Request] | None] = queue.SimpleQueue()
        self._turn = Turn()
        self._why_end = ""

    def begin(self, wiki: Wiki) -> Attendance:
        """Take over the open vault, and begin its background work."""
        self._desk.take(wiki)
        self._desk.finish()
        root = os.fspath(wiki.root)
        attendance = Attendance(wiki, lambda: open_wiki(root, cwd=Path("/"), caller=Caller(cwd=Path("/"))), self._turn)
        self._desk.attendance = attendance
        return attendance

    def serve(self, listening: socket.socket, address: Path) -> str:
        """Answer until there is a reason to end; returns it."""
        mine = address.stat()
        door = threading.Thread(target=self._take_in, args=(listening,), daemon=True, name="wikimem door")
        door.start()
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._stop)
        asked = time.monotonic()
        while not self._why_end:
            left = asked + self._idle_s - time.monotonic()
            if left <= 0:
                return f"idle for {self._idle_s / 60:g} minutes"
            try:
                job = self._jobs.get(timeout=min(left, TICK_S))
            except queue.Empty:
                self._why_end = self._of_no_use(address, mine)
                continue
            if job is not None:
                asked = time.monotonic() if self._answer(*job) else asked
        return self._why_end

    def close(self) -> None:
        """Let go of the vault."""
        self._desk.drop()

    def _stop(self, number: int, frame: FrameType | None) -> None:
        del frame
        self._why_end = f"stopped by {signal.Signals(number).name}"
        self._jobs.put(None)

    def _of_no_use(self, address: Path, mine: os.stat_result) -> str:
        try:
            if not os.path.samestat(address.stat(), mine):
                return "its socket was replaced"
        except OSError:
            return "its socket is gone"
        if not self._desk.root.is_dir():
            return "the vault is gone"
        return "its code was replaced" if self._code.is_replaced() else ""

    # Who comes

    def _take_in(self, listening: socket.socket) -> None:
        while True:
            try:
                channel, _ = listening.accept()
            except OSError:
                return
            try:
                self._greet(channel)
            except (OSError, Invalid) as error:
                log.info("a request was not understood: %s", error)
                channel.close()

    def _greet(self, channel: socket.socket) -> None:
        if peer_uid(channel) != os.geteuid():
            channel.close()
            return
        channel.settimeout(_REQUEST_S)
        length = int.from_bytes(_received(channel, 4), "big")
        if length > wire.MOST_BYTES:
            raise Invalid("the request is too long", hint="")
        request = parse_request(_received(channel, length))
        since = self._turn.since
        if since is not None and time.monotonic() - since > LONG_S:
            channel.sendall(wire.DECLINED)
            channel.close()
            return
        if since is not None or not self._jobs.empty():
            channel.sendall(wire.WAIT)
        self._jobs.put((channel, request))

    # Whose turn it is

    def _answer(self, channel: socket.socket, request: Request) -> bool:
        """Answer one request; False where it was declined, or its client had gone already."""
        with self._turn:
            outlet = self._taken(channel, request)
            if outlet is None:
                channel.close()
                return False
            self._work(outlet, request)
            return True

    def _taken(self, channel: socket.socket, request: Request) -> Outlet | None:
        """The streams of a client whose turn it is; None where it is declined, or lost patience and has gone."""
        reason = self._declines(request)
        try:
            channel.sendall(wire.DECLINED if reason else wire.TAKEN)
            if not reason:
                return _outlet(channel)
        except OSError:
            return None
        log.info("declined: %s", reason)
        return None

    def _declines(self, request: Request) -> str:
        """Why this request is none for this process, in words; empty where it is one."""
        if self._why_end:
            return "ending"
        if self._code.is_replaced():
            self._why_end = "its code was replaced"
            return self._why_end
        if request.identity != self._identity:
            if request.identity[2] == self._identity[2] and request.identity[1] != self._identity[1]:
                self._why_end = f"version {request.identity[1]} was installed"
            return "another wikimem, or another Python"
        if request.root != os.fspath(self._desk.root):
            return "another vault"
        if not same_places(request.environment):
            return "another home, or other XDG folders"
        arguments = list(request.arguments)
        taken = place.is_offered(arguments) or place.is_injection(arguments)
        return "" if taken else "a command that is not handed over"

    def _work(self, outlet: Outlet, request: Request) -> None:
        self._desk.outlet = outlet
        code: int | None = None
        try:
            with in_place_of(request, outlet):
                code = self._run(request.arguments, self._desk)
            self._desk.finish()
        except NotServed:
            log.info("declined: another vault is meant")
        except KeyboardInterrupt:
            code = INTERRUPTED
        except OSError as error:
            log.info("declined: %s", error)
        finally:
            self._desk.outlet = None
        if code is None:
            outlet.decline()
            return
        if code == INTERRUPTED:
            # Wherever it was: what is open may be in the middle of something.
            self._desk.drop()
        outlet.end(code)
        self._after()

    def _after(self) -> None:
        wiki = self._desk.wiki
        if self._desk.settings_changed:
            self._why_end = self._why_end or "the settings have changed"
        if wiki is not None and not os.environ.get(place.SWITCH):
            self._idle_s = wiki.user.resident * 60
            if not self._idle_s:
                self._why_end = self._why_end or "switched off in your settings"
        used = memory_used()
        if used > MOST_MEMORY:
            self._why_end = self._why_end or f"{used // 1_000_000} MB of memory in use"


INTERRUPTED: Final = 130


def serve(wiki: Wiki, run: Run) -> str:
    """Be the resident process of the vault that `wiki` has open, until there is a reason to end; returns it.

    Raises Unavailable where the folder of sockets cannot be used.
    """
    state = wiki.folders.state
    folder = place.made_folder()
    if not folder or place.is_within(folder, os.fspath(wiki.root)):
        raise Unavailable(
            f"the folder '{folder or place.socket_folder()}' cannot hold a socket",
            hint="It must be yours alone (mode 0700) and lie outside of the vault.",
        )
    idle_s = idle_minutes(wiki.user.resident) * 60
    if not idle_s:
        return "switched off"
    with only_one(state) as first:
        if not first:
            return "the vault has a resident process already"
        os.chdir("/")
        server = Server(wiki.root, idle_s, run)
        warm(wiki)
        importlib.import_module("wikimem.present.text")
        name = place.socket_name(os.fspath(wiki.root))
        address = Path(folder, name)
        with _listening(folder, name) as listening:
            record = record_start(state, os.fspath(address))
            why = "a bug"
            attendance = server.begin(wiki)
            try:
                why = server.serve(listening, address)
            finally:
                address.unlink(missing_ok=True)
                attendance.close()
                server.close()
                record_end(state, record, why)
                log.info("ended: %s", why)
        return why


def idle_minutes(configured: float) -> float:
    """After how many idle minutes to end: what the environment says, else the setting. 0 for not at all."""
    said = os.environ.get(place.SWITCH, "")
    if place.is_off():
        return 0.0
    try:
        return max(0.0, float(said))
    except ValueError:
        return configured


def memory_used() -> int:
    """Bytes of memory that this process has in use; where the system cannot say, the most that it ever had."""
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        import resource

        most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return most if sys.platform == "darwin" else most * 1024


def _listening(folder: str, name: str) -> socket.socket:
    """A listening socket in place of whatever a server before left there. The caller holds the lock of the one."""
    listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    before = os.umask(0o077)
    try:
        Path(folder, name).unlink(missing_ok=True)
        with place.Reached(folder, name) as address:
            listening.bind(address)
        listening.listen(_BACKLOG)
    finally:
        os.umask(before)
    return listening


def _received(channel: socket.socket, count: int) -> bytes:
    data = bytearray()
    while len(data) < count:
        part = channel.recv(count - len(data))
        if not part:
            raise ConnectionError("the client has gone")
        data += part
    return bytes(data)


def _outlet(channel: socket.socket) -> Outlet | None:
    """The client's streams; None where it has gone before its turn."""
    flags = getattr(socket, "MSG_CMSG_CLOEXEC", 0)
    word, descriptors, _, _ = socket.recv_fds(channel, 1, 2, flags)
    if word != wire.GO or len(descriptors) != 2:
        for descriptor in descriptors:
            os.close(descriptor)
        return None
    for descriptor in descriptors:
        os.set_inheritable(descriptor, False)
    channel.setblocking(True)
    return Outlet(channel, *descriptors)
