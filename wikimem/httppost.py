"""One POST over HTTP to an address that this user's configuration names, within a time and a size.

No redirect is followed: the text and the key go where the configuration says and nowhere else. The whole exchange has
one deadline; a server that answers byte by byte does not prolong it. A proxy is asked only where the caller names one,
for https, through a tunnel that it cannot look into.
"""

from __future__ import annotations

import io
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct

if TYPE_CHECKING:
    import socket
    from http.client import HTTPConnection, HTTPResponse

_PIECE: Final = 65_536


class PostError(Exception):
    """Why there is no answer, in a few words. `sent`: the server may have read and worked on the request."""

    def __init__(self, reason: str, *, sent: bool) -> None:
        super().__init__(reason)
        self.sent = sent


class TooSlow(PostError):
    """The deadline passed."""


class TooLarge(PostError):
    """The answer has more bytes than were allowed."""


class Answer(Struct, frozen=True):
    """What the server said: status, headers by their names in small letters, and the body."""

    status: int
    headers: Mapping[str, str]
    body: bytes


def post(
    url: str,
    body: bytes,
    headers: Mapping[str, str],
    *,
    timeout_s: float,
    most_bytes: int,
    proxy: str | None = None,
) -> Answer:
    """The answer, whatever its status. `proxy`: the URL of an http proxy to tunnel through.

    Raises TooSlow after `timeout_s` seconds, TooLarge for an answer of more than `most_bytes`, PostError where the
    server cannot be reached or breaks off.
    """
    from http.client import HTTPException
    from urllib.parse import urlsplit

    deadline = time.monotonic() + timeout_s
    parts = urlsplit(url)
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    connection = _connection(url, proxy, timeout_s)
    sent = False
    try:
        connection.connect()
        # Until the server has its last byte, each write may take what is left of the time.
        connection.sock.settimeout(_left(deadline))
        sent = True
        connection.request("POST", path, body, dict(headers))
        connection.response_class = _deadline_response(deadline)
        answer = connection.getresponse()
        data = _read(answer, most_bytes)
        return Answer(answer.status, {name.lower(): value for name, value in answer.getheaders()}, data)
    except TimeoutError as error:
        raise TooSlow(f"it did not answer in {timeout_s:g} s", sent=sent) from error
    except (OSError, HTTPException) as error:
        reason = "it broke off" if sent else "it cannot be reached"
        raise PostError(f"{reason}: {error or type(error).__name__}", sent=sent) from error
    finally:
        connection.close()


def _connection(url: str, proxy: str | None, timeout_s: float) -> HTTPConnection:
    from http.client import HTTPConnection, HTTPSConnection
    from urllib.parse import unquote, urlsplit

    parts = urlsplit(url)
    host = parts.hostname or ""
    if parts.scheme != "https":
        return HTTPConnection(host, parts.port, timeout=timeout_s)
    if proxy is None:
        return HTTPSConnection(host, parts.port, timeout=timeout_s)
    through = urlsplit(proxy)
    tunnelled = HTTPSConnection(through.hostname or "", through.port or 80, timeout=timeout_s)
    headers = {}
    if through.username is not None:
        from base64 import b64encode

        pair = f"{unquote(through.username)}:{unquote(through.password or '')}"
        headers["Proxy-Authorization"] = f"Basic {b64encode(pair.encode()).decode('ascii')}"
    tunnelled.set_tunnel(host, parts.port, headers)
    return tunnelled


def _left(deadline: float) -> float:
    left = deadline - time.monotonic()
    if left <= 0:
        raise TimeoutError
    return left


class _Raw(io.RawIOBase):
    """The bytes of a socket, each read of which may take what is left of the time."""

    def __init__(self, sock: socket.socket, raw: Any, deadline: float) -> None:
        super().__init__()
        self._sock = sock
        self._raw = raw
        self._deadline = deadline

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        self._sock.settimeout(_left(self._deadline))
        count: int | None = self._raw.readinto(buffer)
        return count

    def close(self) -> None:
        self._raw.close()
        super().close()


def _deadline_response(deadline: float) -> Any:
    from http.client import HTTPResponse

    class _Response(HTTPResponse):
        """A socket's own time-out begins anew with each read, of headers too."""

        def __init__(self, sock: socket.socket, *args: Any, **more: Any) -> None:
            super().__init__(sock, *args, **more)
            self.fp = io.BufferedReader(_Raw(sock, self.fp.detach(), deadline))

    return _Response


def _read(answer: HTTPResponse, most_bytes: int) -> bytes:
    pieces: list[bytes] = []
    size = 0
    while piece := answer.read(_PIECE):
        pieces.append(piece)
        size += len(piece)
        if size > most_bytes:
            raise TooLarge("its answer is too large", sent=True)
    if answer.length:
        from http.client import IncompleteRead

        raise IncompleteRead(b"", answer.length)
    return b"".join(pieces)
