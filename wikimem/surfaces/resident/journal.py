"""Where the messages of the server's modules go: to the client whose command they are about, else to the log."""

from __future__ import annotations

import logging
import sys
import threading
from collections.abc import Callable
from typing import TextIO


class Messages(logging.Handler):
    """In the thread that answers, a warning is shown as it would be in the client's own process."""

    def __init__(self, stream: TextIO, mask: Callable[[str], str]) -> None:
        super().__init__()
        self._stream = stream
        self._mask = mask
        self.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))

    def emit(self, record: logging.LogRecord) -> None:
        """Write one message, masked."""
        answering = sys.stderr is not self._stream and threading.current_thread() is threading.main_thread()
        if answering and logging.lastResort is not None:
            if record.levelno >= logging.lastResort.level:
                logging.lastResort.handle(record)
            return
        try:
            self._stream.write(self._mask(self.format(record)) + "\n")
            self._stream.flush()
        except (OSError, ValueError):
            # A full disk: the log is only for people.
            return


def log_to(root: logging.Logger, mask: Callable[[str], str]) -> None:
    """Send all messages of this process, from INFO on, to its standard error or to a client."""
    root.addHandler(Messages(sys.stderr, mask))
    root.setLevel(logging.INFO)
