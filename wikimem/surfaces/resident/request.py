"""A request as the server reads it, and this process made to look like the client's while it is answered."""

from __future__ import annotations

import contextlib
import io
import os
import sys
import time
from collections.abc import Iterator

from msgspec import Struct

from wikimem.errors import Invalid
from wikimem.surfaces.resident import wire
from wikimem.surfaces.resident.streams import Outlet, Relay

_IDENTITY = 5
_FIXED = _IDENTITY + 7


class Request(Struct, frozen=True):
    """What a client asked for. `streams` are encoding and error handling of its output, then of its error stream."""

    identity: tuple[str, ...]
    root: str
    cwd: str
    streams: tuple[str, str, str, str]
    arguments: tuple[str, ...]
    environment: dict[str, str]


def parse_request(data: bytes) -> Request:
    """The request in `data` (without its length). Raises Invalid for what no client sends."""
    fields = [os.fsdecode(field) for field in data.split(b"\0")]
    if len(fields) < _FIXED or fields[0] != wire.PROTOCOL or not fields[_FIXED - 1].isdecimal():
        raise Invalid("this is no request of a wikimem of this version", hint="Run the command again.")
    root, cwd, out, out_errors, err, err_errors, count = fields[_IDENTITY:_FIXED]
    end = _FIXED + int(count)
    pairs = (field.partition("=") for field in fields[end:])
    return Request(
        tuple(fields[:_IDENTITY]),
        root,
        cwd,
        (out, out_errors, err, err_errors),
        tuple(fields[_FIXED:end]),
        {name: value for name, _, value in pairs if wire.counts(name)},
    )


def same_places(environment: dict[str, str]) -> bool:
    """Whether the client's home and XDG folders are those of this process: its vaults and settings lie there."""
    names = {name for name in (*environment, *os.environ) if name == "HOME" or name.startswith("XDG_")}
    return all(environment.get(name) == os.environ.get(name) for name in names)


@contextlib.contextmanager
def in_place_of(request: Request, outlet: Outlet) -> Iterator[None]:
    """Environment, working directory, time zone and streams of the client while the body runs.

    Raises OSError where the working directory cannot be entered any more.
    """
    out, out_errors, err, err_errors = request.streams
    streams = (
        _stream(Relay(outlet, outlet.out), out, out_errors, lines=False),
        _stream(Relay(outlet, outlet.err), err, err_errors, lines=True),
    )
    kept_environment = {name: value for name, value in os.environ.items() if wire.counts(name)}
    kept_streams = sys.stdout, sys.stderr, sys.__stdout__, sys.__stderr__
    try:
        os.chdir(request.cwd)
        _set_environment(request.environment)
        sys.stdout, sys.stderr = streams
        # shutil.get_terminal_size, and with it click's bars, ask the stream that Python began with.
        sys.__stdout__, sys.__stderr__ = streams  # type: ignore[misc]
        yield
        for stream in streams:
            with contextlib.suppress(OSError, ValueError):
                stream.flush()
    finally:
        sys.stdout, sys.stderr, sys.__stdout__, sys.__stderr__ = kept_streams  # type: ignore[misc]
        _set_environment(kept_environment)
        os.chdir("/")


def _stream(relay: Relay, encoding: str, errors: str, *, lines: bool) -> io.TextIOWrapper:
    """As Python makes its own standard streams."""
    return io.TextIOWrapper(
        io.BufferedWriter(relay), encoding, errors or None, newline="\n", line_buffering=lines or relay.isatty()
    )


def _set_environment(wanted: dict[str, str]) -> None:
    zone = os.environ.get("TZ")
    for name in [name for name in os.environ if wire.counts(name) and name not in wanted]:
        del os.environ[name]
    for name, value in wanted.items():
        if os.environ.get(name) != value:
            os.environ[name] = value
    if os.environ.get("TZ") != zone:
        time.tzset()
