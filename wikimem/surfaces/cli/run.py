"""One run of the command line: parse, do, and translate every error into words and an exit code."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from wikimem.errors import Invalid, NotFound, Unavailable, WikimemError
from wikimem.surfaces.cli.output import Output, ReaderGone, is_terminal
from wikimem.surfaces.cli.progress import Progress
from wikimem.surfaces.cli.settings import Settings, settings_from
from wikimem.surfaces.resident.place import is_off, is_offered

if TYPE_CHECKING:
    from wikimem.surfaces.resident.desk import Desk
    from wikimem.wiki import Wiki

EXIT_BUG: Final = 70
EXIT_INTERRUPTED: Final = 130
EXIT_BROKEN_PIPE: Final = 141
"""What a shell reports for a process that SIGINT or SIGPIPE ended."""


@dataclass
class Session:
    """What a command of this run works with: the settings, the streams, and the vault once it is needed.

    A `desk` keeps the vault open beyond this run: that of the resident process, where the run is there.
    """

    settings: Settings
    environment: Mapping[str, str]
    desk: Desk | None = None
    output: Output = field(init=False)
    progress: Progress = field(default_factory=Progress)
    _wiki: Wiki | None = None

    def __post_init__(self) -> None:
        self.output = Output(self.settings, self.environment)

    def wiki(self) -> Wiki:
        """The vault that the options, the environment or the working directory name. Raises as `open_wiki` does."""
        if self._wiki is None:
            from wikimem.wiki import Caller, open_wiki

            settings = self.settings
            cwd = working_directory()
            self._wiki = open_wiki(
                settings.vault,
                cwd=cwd,
                caller=Caller(settings.agent, settings.session, settings.project, cwd),
                progress=None if settings.quiet or not is_terminal(sys.stderr) else self.progress,
            )
            if self.desk is not None:
                self.desk.take(self._wiki)
            self.output.mask = self._wiki.redactor.mask
        return self._wiki

    @property
    def opened(self) -> Wiki | None:
        """The vault of this run, closed by now or not; None where the command came to need none."""
        return self._wiki

    def close(self) -> None:
        self.progress.close()
        if self._wiki is not None and self.desk is None:
            self._wiki.close()


def working_directory() -> Path:
    """The working directory. Raises NotFound where it has been removed."""
    try:
        return Path.cwd()
    except FileNotFoundError as error:
        raise NotFound("the working directory is gone", hint="Change to a folder that exists.") from error


def run(arguments: Sequence[str], desk: Desk | None = None) -> int:
    """Run one command line and return its exit code.

    Without a desk, a command that a resident process could have answered starts one for the next.
    """
    session = Session(settings_from(os.environ), os.environ, desk)
    try:
        code = _run(session, arguments)
    except ReaderGone:
        code = EXIT_BROKEN_PIPE
    if desk is None and session.opened is not None:
        start_resident(session.opened, arguments)
    return code


def start_resident(wiki: Wiki, arguments: Sequence[str]) -> None:
    """Start the resident process of this vault, where one is wanted and there is none."""
    if is_off() or not is_offered(list(arguments)):
        return
    from wikimem.surfaces.resident.start import start_after

    start_after(wiki, list(arguments))


def server_died(arguments: Sequence[str]) -> int:
    """Say that the resident process ended in the middle of its output, which cannot be taken back."""
    error = Unavailable(
        "the resident process ended while it answered; the output above is not whole", hint="Run the command again."
    )
    return _failed(Session(settings_from(os.environ), os.environ), error, arguments)


def _run(session: Session, arguments: Sequence[str]) -> int:
    from wikimem.surfaces.cli.commands import cli

    try:
        try:
            done = cli.main(args=list(arguments), prog_name="wikimem", standalone_mode=False, obj=session)
            return done if isinstance(done, int) else 0
        finally:
            session.close()
    except WikimemError as error:
        return _failed(session, error, arguments)
    except click.Abort:
        session.output.message("")
        return EXIT_INTERRUPTED
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED
    except ReaderGone:
        raise
    except click.UsageError as error:
        return _failed(session, worded(error), arguments)
    except Exception as error:  # noqa: BLE001 - the last translator: whatever was not foreseen is a bug, and is said so
        session.output.bug(error, report_at())
        return EXIT_BUG


def _failed(session: Session, error: WikimemError, arguments: Sequence[str]) -> int:
    # Parsing stops at the first mistake, perhaps before it has seen --json.
    options = arguments[: arguments.index("--")] if "--" in arguments else arguments
    session.settings.json = session.settings.json or "--json" in options
    session.output.error(error)
    return error.exit_code


def worded(error: click.UsageError) -> Invalid:
    """A mistake in the command line in the words and the form of every other error."""
    command = error.ctx.command_path.removeprefix("wikimem").strip() if error.ctx else ""
    help_ = f"See `wikimem {command} --help`." if command else "See `wikimem --help`."
    prefix = f"{command}: " if command else ""
    if isinstance(error, click.NoSuchOption):
        import difflib

        near = difflib.get_close_matches(error.option_name, error.possibilities or (), n=1)
        hint = f"Did you mean {near[0]}? {help_}" if near else help_
        return Invalid(f"{prefix}there is no option '{error.option_name}'", hint=hint)
    said = error.format_message().rstrip(".")
    return Invalid(prefix + said[:1].lower() + said[1:], hint=help_)


def report_at() -> str:
    """Where bugs go, as the installed package's metadata says."""
    from importlib.metadata import PackageNotFoundError, metadata

    try:
        urls: list[Any] = metadata("wikimem").get_all("Project-URL") or []
    except PackageNotFoundError:
        urls = []
    named = dict(str(url).partition(", ")[::2] for url in urls)
    return named.get("Issues") or "wikimem's issue tracker"
