"""`wikimem resident`: show, stop or be the resident process of a vault."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from wikimem.errors import Unavailable

if TYPE_CHECKING:
    from wikimem.surfaces.cli.run import Session
    from wikimem.surfaces.resident.desk import Desk

STOP_WAIT_S: Final = 10.0
"""How long a process that is told to stop has for the command that it is answering."""


def show(session: Session) -> None:
    """Whether there is one, and where what it says of itself can be read."""
    from wikimem.operations.resident import is_running, read_record, resident_line
    from wikimem.surfaces.resident.place import SWITCH, is_off
    from wikimem.surfaces.resident.start import log_file

    wiki = session.wiki()
    state = wiki.folders.state
    record = read_record(state)
    line = resident_line(wiki)
    if is_off():
        line += f"; {SWITCH} keeps commands from using it"
    if session.settings.json:
        running = is_running(state)
        session.output.document(
            {
                "schema": "wikimem/resident/1",
                "vault": str(wiki.root),
                "running": running,
                "why": line,
                "pid": record.pid if record and running else None,
                "log": str(log_file(wiki)),
            }
        )
        return
    session.output.data(f"vault     {wiki.root}\nresident  {line}\nlog       {log_file(wiki)}")


def stop(session: Session) -> None:
    """End it, and wait until it has ended. Raises Unavailable where it does not."""
    from wikimem.operations.resident import is_running, read_record

    state = session.wiki().folders.state
    if not is_running(state):
        show(session)
        return
    until = time.monotonic() + STOP_WAIT_S
    record = read_record(state)
    with contextlib.suppress(ProcessLookupError):
        if record is not None and not record.ended:
            os.kill(record.pid, signal.SIGTERM)
    while is_running(state):
        if time.monotonic() > until:
            raise Unavailable(
                f"the resident process {record.pid if record else ''} does not end",
                hint="It may be busy with a long command; try again, or end it with `kill -9`: nothing is lost.",
            )
        time.sleep(0.02)
    show(session)


def be(session: Session) -> None:
    """Be the resident process until there is a reason to end."""
    import logging

    from wikimem.surfaces.resident.journal import log_to
    from wikimem.surfaces.resident.server import serve

    wiki = session.wiki()
    log_to(logging.getLogger(), wiki.redactor.mask)
    serve(wiki, _answer)


def _answer(arguments: Sequence[str], desk: Desk) -> int:
    """Run a command line, or answer a hook."""
    from wikimem.surfaces.cli.run import run
    from wikimem.surfaces.hooks.alone import answer_in_resident
    from wikimem.surfaces.resident.place import is_injection

    return answer_in_resident(arguments, desk) if is_injection(list(arguments)) else run(arguments, desk)


ACTIONS: Final[Mapping[str, Callable[[Session], None]]] = {"status": show, "stop": stop, "run": be}
