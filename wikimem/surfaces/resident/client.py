"""The client: hand a command over to the resident process of its vault, before anything heavy is imported.

Whatever goes wrong here is no error: the command then runs in this process, as it does where there is no server.
`_socket` is what `socket` is made of; that module and what it imports would add half of Python's own start.
"""

from __future__ import annotations

import os
import sys

from wikimem.surfaces.resident import place, wire

TYPE_CHECKING = False
if TYPE_CHECKING:
    import _socket

INTERRUPTED = 130
_PEERCRED_BYTES = 12
_LOCAL_PEERCRED = 1
_XUCRED_BYTES = 76


class ServerDied(Exception):
    """The server ended in the middle of its output."""


def hand_over(arguments: list[str]) -> int | None:
    """The exit code of the command, which has been done and printed; None where it is to be run in this process.

    Raises ServerDied where the server ended after it had begun to print.
    """
    if place.is_off() or not place.is_offered(arguments) or sys.stdout is None or sys.stderr is None:
        return None
    try:
        channel = _connected(arguments)
        if channel is None:
            return None
        return _asked(*channel)
    except KeyboardInterrupt:
        os.write(2, b"\n")
        return INTERRUPTED
    except (OSError, UnicodeError, ValueError):
        return None


def _connected(arguments: list[str]) -> tuple[_socket.socket, bytes] | None:
    """A connection to this user's own server for the vault that is probably meant, and the request for it."""
    folder = place.socket_folder()
    if not folder or not place.is_private(folder):
        return None
    cwd = os.getcwd()
    root = place.probable_root(arguments, cwd, folder)
    if not root or place.is_within(folder, root):
        return None
    channel = connect(folder, root)
    return None if channel is None else (channel, wire.request(root, cwd, arguments))


def connect(folder: str, root: str) -> _socket.socket | None:
    """A connection to the server of the vault at `root`; None where there is none, or it is another user's."""
    import _socket

    channel = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    channel.settimeout(wire.PATIENCE_S)
    try:
        with place.Reached(folder, place.socket_name(root)) as address:
            channel.connect(address)
        if peer_uid(channel) == os.geteuid():
            return channel
    except OSError:
        # No server, a stale socket, or one that is too busy to answer.
        pass
    channel.close()
    return None


def peer_uid(channel: _socket.socket) -> int:
    """The user at the other end, as the kernel knows them; -1 where it cannot say."""
    import _socket

    order = sys.byteorder
    if hasattr(_socket, "SO_PEERCRED"):
        seen = channel.getsockopt(_socket.SOL_SOCKET, _socket.SO_PEERCRED, _PEERCRED_BYTES)
        return int.from_bytes(seen[4:8], order)
    if sys.platform == "darwin":
        # struct xucred: version, uid, groups; the level SOL_LOCAL is 0.
        seen = channel.getsockopt(0, _LOCAL_PEERCRED, _XUCRED_BYTES)
        return int.from_bytes(seen[4:8], order)
    return -1


def _asked(channel: _socket.socket, request: bytes) -> int | None:
    import _socket

    try:
        channel.sendall(request)
        answer = channel.recv(1)
        if answer == wire.WAIT:
            channel.settimeout(wire.QUEUE_S)
            answer = channel.recv(1)
        if answer != wire.TAKEN:
            return None
        order = sys.byteorder
        streams = sys.stdout.fileno().to_bytes(4, order) + sys.stderr.fileno().to_bytes(4, order)
        channel.settimeout(None)
        channel.sendmsg([wire.GO], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, streams)])
        return _followed(channel)
    finally:
        channel.close()


def _followed(channel: _socket.socket) -> int | None:
    """Wait until the server is done; it writes to this process's own streams."""
    printed = False
    while True:
        try:
            said = channel.recv(1)
            code = channel.recv(1) if said == wire.DONE else b""
        except OSError:
            said = code = b""
        if code:
            return code[0]
        if said == wire.PRINTS:
            printed = True
        elif printed:
            raise ServerDied
        else:
            return None
