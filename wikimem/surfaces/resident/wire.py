"""What client and server say to each other. Cheap to import.

    client  length (4 bytes), then the request: fields that hold no NUL, joined by NUL
    server  WAIT (others come first), TAKEN, or DECLINED
    client  GO, and with it its standard output and standard error
    server  PRINTS before the first byte of output, NOT_MINE where it is another vault's; DONE and the exit code

The client passes its streams only when it has been told that its turn has come. One that has lost patience before has
gone away with them, so that no output can come twice.
"""

from __future__ import annotations

import os
import sys

from wikimem import __version__

WAIT, TAKEN, DECLINED = b"w", b"t", b"n"
GO = b"g"
PRINTS, NOT_MINE, DONE = b"o", b"e", b"x"

PATIENCE_S = 0.15
"""How long a client waits for a sign of life."""

QUEUE_S = 1.5
"""How long a client waits for its turn: about what the command takes without a server on a busy machine."""

MOST_BYTES = 4_000_000
"""Of a request: more than a system takes as arguments and environment."""

PREFIXES = ("WIKIMEM_", "GIT_", "LC_", "XDG_")
NAMES = frozenset(
    ("HOME", "PATH", "LANG", "LANGUAGE", "TZ", "TERM", "COLUMNS", "LINES", "NO_COLOR", "FORCE_COLOR", "EMAIL", "USER",
     "LOGNAME", "TMPDIR")
)  # fmt: skip
"""Environment variables that a command's answer can depend on; no other leaves the client."""

PROTOCOL = "wikimem-resident 1"


def identity() -> list[str]:
    """Which wikimem this is, under which Python: client and server must be equal in each."""
    package = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    return [PROTOCOL, __version__, package, f"{sys.implementation.name} {sys.hexversion:x} {sys.prefix}",
            sys.getfilesystemencoding()]  # fmt: skip


def counts(name: str) -> bool:
    """Whether this environment variable is part of a request."""
    return name in NAMES or name.startswith(PREFIXES)


def request(root: str, cwd: str, arguments: list[str]) -> bytes:
    """The request of this process, with its length. Standard output and standard error must be open."""
    streams = [sys.stdout.encoding, sys.stdout.errors or "", sys.stderr.encoding, sys.stderr.errors or ""]
    environment = [f"{name}={value}" for name, value in os.environ.items() if counts(name)]
    fields = [*identity(), root, cwd, *streams, str(len(arguments)), *arguments, *environment]
    data = b"\0".join([os.fsencode(field) for field in fields])
    return len(data).to_bytes(4, "big") + data
