"""The commands that are no operations: setting up a vault, starting servers, help; and those not built yet."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from wikimem.operations.planned import answer_unavailable
from wikimem.surfaces.cli.settings import common_options
from wikimem.surfaces.cli.usage import WrittenArgument, WrittenCommand

if TYPE_CHECKING:
    from wikimem.surfaces.cli.run import Session

DEFAULT_VAULT: Final = "~/wikimem"
SHELLS: Final = ("bash", "zsh", "fish")

PLANNED_PROCESSES: Final[dict[str, str]] = {
    "serve": "Serve REST, MCP over HTTP and the viewer.",
    "watch": "Index what changes on disk as it changes.",
    "hook": "Take an event from an agent's hook.",
    "connect": "Write wikimem into an agent's settings.",
    "disconnect": "Take wikimem out of an agent's settings.",
    "doctor": "Check that wikimem, git and the agents work together.",
    "demo": "Try wikimem on an example vault.",
    "config": "Show and change settings.",
    "merge-driver": "Merge pages for git.",
}
"""Processes of the contract that are not built yet, with a line on each."""


@dataclass(frozen=True, slots=True)
class Process:
    summary: str
    make: Callable[[], click.Command]


def _command(name: str, callback: Callable[..., None], params: list[click.Parameter], **settings: Any) -> click.Command:
    return WrittenCommand(
        name,
        callback=callback,
        params=[*params, *common_options()],
        help=settings.pop("help", PROCESSES[name].summary),
        context_settings={"max_content_width": 100, **settings.pop("context_settings", {})},
        **settings,
    )


def _init() -> click.Command:
    def callback(path: str | None, dry_run: bool) -> None:
        from wikimem.operations.processes import init
        from wikimem.surfaces.cli.run import working_directory

        session: Session = click.get_current_context().obj
        named = path or session.settings.vault or DEFAULT_VAULT
        _show(session, "init", init(Path(named).expanduser(), cwd=working_directory(), dry_run=dry_run))

    return _command(
        "init",
        callback,
        [
            WrittenArgument(["path"], required=False, help=f"The folder; {DEFAULT_VAULT} where none is named."),
            click.Option(["--dry-run", "dry_run"], is_flag=True, help="Only say what would be done."),
        ],
        help="Make a vault: a new folder, or one with Markdown files as it is.\n\n"
        "No page of an existing folder is changed, and no file of it is committed.",
        examples=("wikimem init", "wikimem init ~/notes --dry-run"),
    )


def _trust() -> click.Command:
    def callback(path: str | None) -> None:
        from wikimem.operations.processes import trust
        from wikimem.surfaces.cli.run import working_directory

        session: Session = click.get_current_context().obj
        named = path or session.settings.vault or "."
        _show(session, "trust", trust(Path(named).expanduser(), cwd=working_directory()))

    return _command(
        "trust",
        callback,
        [WrittenArgument(["path"], required=False, help="The vault; the working directory where none is named.")],
        help="Say that a vault which came from elsewhere, such as your own clone of it, is yours.\n\n"
        "A folder that merely holds .wikimem/ is never opened before.",
        examples=("git clone git@example.org:me/memory.git", "wikimem trust memory"),
    )


def _show(session: Session, name: str, result: Any) -> None:
    import msgspec

    from wikimem.operations.registry import SCHEMA_VERSION
    from wikimem.present.text import text

    if session.settings.json:
        session.output.document({"schema": f"wikimem/{name}/{SCHEMA_VERSION}", **msgspec.to_builtins(result)})
        return
    session.output.data(text(result))
    session.output.notes(result.notes)


def _mcp() -> click.Command:
    def callback(tools: str) -> None:
        from wikimem.surfaces.cli.run import working_directory
        from wikimem.surfaces.mcp.server import Start, serve

        session: Session = click.get_current_context().obj
        settings = session.settings
        serve(
            Start(settings.vault, working_directory(), settings.agent, settings.session, settings.project),
            every_tool=tools == "all",
        )

    return _command(
        "mcp",
        callback,
        [
            click.Option(
                ["--tools", "tools"],
                type=click.Choice(["core", "all"]),
                default="core",
                help="Which tools to offer: those that an agent needs daily, or every operation. [default: core]",
            )
        ],
        help="Serve MCP on standard input and output, for an agent to start.\n\n"
        "Where the vault is missing or not trusted, the server starts all the same, and every tool says why it "
        "cannot work and what to do.",
        examples=("claude mcp add wikimem -- wikimem mcp", "wikimem --vault ~/notes mcp --tools all"),
    )


def _completion() -> click.Command:
    def callback(shell: str) -> None:
        from click.shell_completion import ShellComplete, get_completion_class

        context = click.get_current_context()
        session: Session = context.obj
        make = get_completion_class(shell) or ShellComplete
        session.output.data(make(context.find_root().command, {}, "wikimem", "_WIKIMEM_COMPLETE").source())

    return _command(
        "completion",
        callback,
        [click.Argument(["shell"], type=click.Choice(SHELLS))],
        needed=["shell"],
        help="Print the completion script of a shell.",
        examples=(
            "wikimem completion bash >> ~/.bashrc",
            "wikimem completion zsh >> ~/.zshrc",
            "wikimem completion fish > ~/.config/fish/completions/wikimem.fish",
        ),
    )


def _help() -> click.Command:
    def callback(topic: str | None) -> None:
        from wikimem.surfaces.cli.topics import show_topic

        context = click.get_current_context()
        show_topic(context, topic)

    return _command(
        "help",
        callback,
        [WrittenArgument(["topic"], required=False, help="A page of the manual, or a command.")],
        help="Show a page of the manual, or the list of them.",
        examples=("wikimem help", "wikimem help pages"),
    )


PROCESSES: Final[dict[str, Process]] = {
    "init": Process("Make a vault, or take a folder of Markdown files as one.", _init),
    "trust": Process("Say that a vault which came from elsewhere is yours.", _trust),
    "mcp": Process("Serve MCP on standard input and output, for agents.", _mcp),
    "completion": Process("Print the completion script of a shell.", _completion),
    "help": Process("Show the manual.", _help),
}
"""The processes that are built, in the order of help."""


def not_built(name: str, summary: str) -> click.Command:
    """The command of something that is not built yet: it takes anything, and answers `unavailable`."""

    def callback(**_: Any) -> None:
        answer_unavailable(name)

    return WrittenCommand(
        name,
        callback=callback,
        params=[click.Argument(["rest"], nargs=-1, type=click.UNPROCESSED, metavar="..."), *common_options()],
        help=f"{summary}\n\nNot built yet: it answers that it is unavailable (exit code 6).",
        short_help=summary,
        context_settings={"ignore_unknown_options": True, "max_content_width": 100},
    )
