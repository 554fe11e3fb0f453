"""A progress bar on standard error for what takes longer than half a second."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Any, Final, TextIO

import click

if TYPE_CHECKING:
    from click._termui_impl import ProgressBar

DELAY_S: Final = 0.5
"""What is done sooner shows no bar."""


class Progress:
    """Called by the wiki with what is being done, how much is done, and how much there is."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = stream
        self._started = time.monotonic()
        self._label = ""
        self._bar: ProgressBar[Any] | None = None
        self._shown = 0

    def __call__(self, what: str, done: int, total: int) -> None:
        if what != self._label:
            if self._label:
                self.close()
                self._started = time.monotonic()
            self._label = what
        if self._bar is None and done < total and time.monotonic() - self._started >= DELAY_S:
            self._bar = click.progressbar(length=total, label=what, file=self._stream or sys.stderr, show_pos=True)
            self._bar.render_progress()
            self._shown = 0
        if self._bar is not None:
            self._bar.update(done - self._shown)
            self._shown = done
            if done >= total:
                self.close()

    def close(self) -> None:
        """End the bar's line."""
        if self._bar is not None:
            self._bar.render_finish()
            self._bar = None
