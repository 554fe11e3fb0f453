"""Writing to standard output and standard error: data, documents, notes, errors."""

from __future__ import annotations

import codecs
import contextlib
import json
import os
import re
import sys
import traceback
from collections.abc import Callable, Mapping
from typing import Any, Final, TextIO

import click

from wikimem.errors import Unavailable, WikimemError
from wikimem.present.failure import bug_document, bug_message, error_document
from wikimem.surfaces.cli.settings import Settings, wants_color

_ENCODING_ERRORS: Final = "wikimem-output"
_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_UNSAFE: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")
"""What a terminal may act on: control characters, less tab and newline, and bytes of file names that are no text."""


def _encode_rest(error: UnicodeError) -> tuple[bytes, int]:
    """Bytes of a file name that are no text go out as they were; other characters as backslash escapes."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    rest = b"".join(
        bytes([ord(char) - 0xDC00]) if "\udc80" <= char <= "\udcff" else char.encode("ascii", "backslashreplace")
        for char in error.object[error.start : error.end]
    )
    return rest, error.end


codecs.register_error(_ENCODING_ERRORS, _encode_rest)


class ReaderGone(Exception):
    """Whoever read a stream has closed it. No BrokenPipeError, which click would turn into an exit code of its own."""


def _mask_without_key(text: str) -> str:
    from wikimem.text.redact import mask_without_key

    return mask_without_key(text)


class Output:
    """The two streams. `mask` takes secrets out of messages: that of the vault, once one is open."""

    def __init__(self, settings: Settings, environment: Mapping[str, str]) -> None:
        self.settings = settings
        self.environment = environment
        self.mask: Callable[[str], str] = _mask_without_key

    def data(self, text: str) -> None:
        """Text for standard output, ending in one newline."""
        _write(_standard_output(), _shown(sys.stdout, text.rstrip("\n") + "\n"))

    def document(self, document: Mapping[str, Any]) -> None:
        """One JSON object for standard output: always UTF-8, whatever the terminal says."""
        _write(_standard_output(), json_text(document, indent=2) + "\n", encoding="utf-8")

    def notes(self, notes: tuple[str, ...]) -> None:
        """What the caller should be told besides the result."""
        if self.settings.quiet:
            return
        for note in notes:
            self._line("note", "yellow", self.mask(note))

    def message(self, text: str) -> None:
        """Words of a dialogue, on standard error so that they never mix with data."""
        _write(sys.stderr, _shown(sys.stderr, text.rstrip("\n") + "\n"))

    def error(self, error: WikimemError) -> None:
        """What happened and what to do next."""
        if self.settings.json:
            _write(sys.stderr, json_text(error_document(error, self.mask)) + "\n", encoding="utf-8")
            return
        self._line("error", "red", self.mask(error.message))
        if error.hint:
            self._line("hint", "cyan", self.mask(error.hint))

    def bug(self, error: BaseException, report_at: str) -> None:
        """An error that wikimem did not foresee; the traceback only with --debug."""
        hint = f"This is a bug. Report it at {report_at} with the output of the same command and --debug."
        if self.settings.debug:
            self.message(self.mask("".join(traceback.format_exception(error))))
        if self.settings.json:
            _write(sys.stderr, json_text(bug_document(error, hint, self.mask)) + "\n", encoding="utf-8")
            return
        self._line("error", "red", self.mask(bug_message(error)))
        self._line("hint", "cyan", hint)

    def _line(self, label: str, color: str, text: str) -> None:
        styled = click.style(f"{label}:", fg=color, bold=True) if self.colored(sys.stderr) else f"{label}:"
        body = _shown(sys.stderr, " ".join(text.splitlines()))
        _write(sys.stderr, f"{styled} {body}\n")

    def colored(self, stream: TextIO | None) -> bool:
        return wants_color(is_terminal(stream), self.settings.no_color, self.environment)


def is_terminal(stream: TextIO | None) -> bool:
    return stream is not None and not stream.closed and stream.isatty()


def json_text(document: Mapping[str, Any], *, indent: int | None = None) -> str:
    """JSON that can always be encoded: bytes of file names that are no text stay escaped."""
    text = json.dumps(document, ensure_ascii=False, indent=indent, allow_nan=False)
    return _SURROGATE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def _shown(stream: TextIO | None, text: str) -> str:
    """The text as it is, but for a terminal, which must not be steered by what a page holds."""
    if not is_terminal(stream):
        return text
    return _UNSAFE.sub(lambda found: found[0].encode("unicode_escape").decode("ascii"), text)


def _standard_output() -> TextIO:
    if sys.stdout is None:
        raise Unavailable("standard output is closed", hint="What was asked for is done.")
    return sys.stdout


def _write(stream: TextIO | None, text: str, *, encoding: str | None = None) -> None:
    if stream is None:
        return
    data = text.encode(encoding or stream.encoding or "utf-8", _ENCODING_ERRORS)
    try:
        stream.flush()
        stream.buffer.write(data)
        stream.buffer.flush()
    except BrokenPipeError as error:
        _give_up(stream)
        raise ReaderGone from error
    except OSError as error:
        _give_up(stream)
        name = "standard output" if stream is sys.stdout else "standard error"
        raise Unavailable(f"cannot write to {name}: {error.strerror}", hint="What was asked for is done.") from error


def _give_up(stream: TextIO) -> None:
    """Send what is still buffered nowhere: Python flushes as it ends, and would complain a second time."""
    null = os.open(os.devnull, os.O_WRONLY)
    with contextlib.suppress(OSError, ValueError):
        os.dup2(null, stream.fileno())
    os.close(null)
