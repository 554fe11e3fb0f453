"""The commands that are no operations: setting up a vault, starting servers, help; and those not built yet."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click
from msgspec import Struct

from wikimem.errors import Unavailable
from wikimem.operations.planned import answer_unavailable
from wikimem.surfaces.cli.asking import ask_at_terminal
from wikimem.surfaces.cli.settings import common_options
from wikimem.surfaces.cli.usage import WrittenArgument, WrittenCommand
from wikimem.text.homepath import named_path

if TYPE_CHECKING:
    from wikimem.surfaces.cli.run import Session

DEFAULT_VAULT: Final = "~/wikimem"
EXIT_FAILED: Final = 1
EXIT_UNAVAILABLE: Final = 6
EXIT_DAMAGED: Final = 7
SHELLS: Final = ("bash", "zsh", "fish")
LSP_PARTS: Final = ("pygls", "lsprotocol", "cattrs", "attrs", "attr")
"""What the extra `lsp` brings."""
RESIDENT_ACTIONS: Final = ("status", "stop", "run")

PLANNED_PROCESSES: Final[dict[str, str]] = {
    "serve": "Serve REST, MCP over HTTP and the viewer.",
    "demo": "Try wikimem on an example vault.",
    "config": "Show and change settings.",
    "merge-driver": "Merge pages for git.",
}
"""Processes of the contract that are not built yet, with a line on each."""


class Process(Struct, frozen=True):
    summary: str
    make: Callable[[], click.Command]


def _command(name: str, callback: Callable[..., None], params: list[click.Parameter], **settings: Any) -> click.Command:
    return WrittenCommand(
        name,
        callback=callback,
        params=[*params, *common_options(without=settings.pop("without", frozenset()))],
        help=settings.pop("help", PROCESSES[name].summary),
        context_settings={"max_content_width": 100, **settings.pop("context_settings", {})},
        **settings,
    )


def _init() -> click.Command:
    def callback(path: str | None, dry_run: bool, native: bool, yes: bool) -> None:
        from wikimem.operations.processes import init
        from wikimem.surfaces.cli.run import working_directory

        session: Session = click.get_current_context().obj
        place = named_path(path or session.settings.vault or DEFAULT_VAULT, "path" if path else "--vault")
        if native and not dry_run:
            preview = init(place, cwd=working_directory(), dry_run=True, native=True)
            if preview.native and not yes:
                ask_at_terminal("init --native", session.output, lambda: preview)
        _show(session, "init", init(place, cwd=working_directory(), dry_run=dry_run, native=native))

    return _command(
        "init",
        callback,
        [
            WrittenArgument(["path"], required=False, help=f"The folder; {DEFAULT_VAULT} where none is named."),
            click.Option(["--dry-run", "dry_run"], is_flag=True, help="Only say what would be done."),
            click.Option(
                ["--native", "native"],
                is_flag=True,
                help="Give an existing vault what it lacks of a new one's look in Obsidian and VS Code; asks first.",
            ),
            click.Option(["--yes", "-y", "yes"], is_flag=True, help="Do it without asking."),
        ],
        help="Make a vault: a new folder, or one with Markdown files as it is.\n\n"
        "No page of an existing folder is changed, and no file of it is committed.",
        examples=("wikimem init", "wikimem init ~/notes --dry-run", "wikimem init ~/notes --native"),
    )


def _trust() -> click.Command:
    def callback(path: str | None) -> None:
        from wikimem.operations.processes import trust
        from wikimem.surfaces.cli.run import working_directory

        session: Session = click.get_current_context().obj
        named = path or session.settings.vault or "."
        _show(session, "trust", trust(named_path(named, "path" if path else "--vault"), cwd=working_directory()))

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


def _lsp() -> click.Command:
    def callback(stdio: bool) -> None:
        from wikimem.surfaces.cli.run import working_directory

        del stdio
        context = click.get_current_context()
        session: Session = context.obj
        try:
            from wikimem.surfaces.lsp.server import Start, serve
        except ModuleNotFoundError as error:
            if (error.name or "").partition(".")[0] not in LSP_PARTS:
                raise
            raise Unavailable(
                f"the language server needs {error.name}, which is not installed",
                hint="Run `pip install 'wikimem[lsp]'`.",
            ) from error
        context.exit(serve(Start(session.settings.vault, working_directory())))

    return _command(
        "lsp",
        callback,
        [click.Option(["--stdio", "stdio"], is_flag=True, help="Changes nothing: many editors add it.")],
        help="Serve the Language Server Protocol on standard input and output, for an editor to start.\n\n"
        "Completes and follows links, shows what a page is worth, and reports what `check` finds, while you type. "
        "Nothing is written. It needs `pip install 'wikimem[lsp]'`.",
        examples=("wikimem lsp", "wikimem --vault ~/notes lsp"),
    )


def _resident() -> click.Command:
    def callback(action: str) -> None:
        from wikimem.surfaces.cli.resident import ACTIONS

        ACTIONS[action](click.get_current_context().obj)

    return _command(
        "resident",
        callback,
        [
            click.Argument(["action"], type=click.Choice(RESIDENT_ACTIONS), default="status"),
        ],
        help="Show, stop or be the process that keeps a vault open between commands.\n\n"
        "A reading command starts it by itself, and it ends after a while without one. `run` is that process, in the "
        "foreground.",
        examples=("wikimem resident", "wikimem resident stop", "WIKIMEM_RESIDENT=off wikimem search jose"),
    )


def _hook() -> click.Command:
    def callback(host: str, event: str) -> None:
        from wikimem.surfaces.hooks.main import main as hook

        vault = click.get_current_context().obj.settings.vault
        hook([host, event, *(["--vault", vault] if vault else [])], ends_process=True)

    return _command(
        "hook",
        callback,
        [
            click.Argument(["host"], metavar="AGENT"),
            click.Argument(["event"], metavar="EVENT"),
        ],
        help="Take an event of an agent's session from its hook: JSON on standard input.\n\n"
        "Agents call this; `wikimem help hooks` says how to make them. It always ends with exit code 0 and says "
        "nothing, except what the agent wants to hear.",
        examples=('echo \'{"session_id": "s1", "prompt": "hello"}\' | wikimem hook claude UserPromptSubmit',),
    )


def _watch() -> click.Command:
    def callback(poll: bool, wait: bool) -> None:
        from wikimem.surfaces.cli.run import working_directory
        from wikimem.surfaces.watch.foreground import watch_in_foreground
        from wikimem.wiki import Caller, open_wiki

        session: Session = click.get_current_context().obj
        named, cwd = session.settings.vault, working_directory()
        watch_in_foreground(
            lambda: open_wiki(named, cwd=cwd, caller=Caller(cwd=cwd)),
            session.output.data,
            as_json=session.settings.json,
            poll=poll,
            wait=wait,
        )

    return _command(
        "watch",
        callback,
        [
            click.Option(["--poll", "poll"], is_flag=True, help="Look through the disk every second: no events."),
            click.Option(["--wait", "wait"], is_flag=True, help="Where another process watches, wait for its end."),
        ],
        help="Index what changes on disk as it changes, and commit what people edited once it has come to rest.\n\n"
        "Ends at Ctrl-C. One process watches a vault: where another does already, the exit code is 4.",
        examples=("wikimem watch", "wikimem watch --json", "wikimem --vault ~/notes watch --wait"),
    )


def _doctor() -> click.Command:
    def callback() -> None:
        from wikimem.operations.doctor import doctor
        from wikimem.surfaces.cli.run import working_directory

        context = click.get_current_context()
        session: Session = context.obj
        result = doctor(session.settings.vault, cwd=working_directory())
        _show(session, "doctor", result)
        if result.failed:
            context.exit(EXIT_UNAVAILABLE)

    return _command(
        "doctor",
        callback,
        [],
        help="Check that wikimem, git, the disk and the agents work together.\n\n"
        "One line for each look, and what to do. Nothing is changed. Exits with 6 where a look fails.",
        examples=("wikimem doctor", "wikimem --vault ~/notes doctor --json"),
    )


def _eval() -> click.Command:
    def callback(questions: str, **given: Any) -> None:
        from wikimem.operations.eval import evaluate
        from wikimem.surfaces.cli.run import working_directory

        context = click.get_current_context()
        session: Session = context.obj
        result = evaluate(session.wiki, working_directory() / named_path(questions, "questions"), **given)
        session.progress.close()
        _show(session, "eval", result)
        if result.failed:
            context.exit(EXIT_FAILED)

    return _command(
        "eval",
        callback,
        [
            WrittenArgument(["questions"], help="A file of questions and expected pages: .jsonl, .csv or .md."),
            click.Option(
                ["--limit", "limit"], type=int, default=10, help="Hits to look at, from 10 to 100. [default: 10]"
            ),
            click.Option(
                ["--level", "level"],
                type=click.Choice(["page", "passage"]),
                default="page",
                help="Whether the right page counts, or the right passage of it. [default: page]",
            ),
            click.Option(["--at", "at"], metavar="REV", help="Ask the vault as it was at this revision or date."),
            click.Option(
                ["--against", "against"],
                metavar="KEY=VALUE",
                multiple=True,
                help="Compare with another way to search: streams=words, fusion=rrf, without=said, at=REV; repeat to "
                "combine.",
            ),
            click.Option(
                ["--require", "require"],
                metavar="METRIC=SHARE",
                multiple=True,
                help="Exit with 1 below this, for CI: r@5-any=0.9; repeat for several.",
            ),
            click.Option(["--explain", "explain"], is_flag=True, help="Say why what came instead stood there."),
            click.Option(["--skip-missing", "skip_missing"], is_flag=True, help="Go on without pages that are gone."),
        ],
        needed=["questions"],
        help="Ask your own questions of your own vault, and say how high the pages stand that answer them.\n\n"
        "Nothing is written. `wikimem help eval` says what the file holds and what the figures mean.",
        examples=(
            "wikimem eval questions.jsonl",
            "wikimem eval questions.jsonl --against streams=words --against fusion=rrf",
            "wikimem eval questions.jsonl --against at=HEAD~20",
            "wikimem eval questions.jsonl --require r@5-any=0.9 --json",
        ),
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


def connect_command(name: str) -> click.Command:
    """The command `connect` or `disconnect`."""

    def callback(agents: tuple[str, ...], in_project: bool, dry_run: bool) -> None:
        from wikimem.agents.connect import connect, disconnect
        from wikimem.surfaces.cli.run import working_directory

        context = click.get_current_context()
        session: Session = context.obj
        home, project = Path.home(), working_directory() if in_project else None
        if name == "connect":
            vault = session.settings.vault and str(working_directory() / named_path(session.settings.vault, "--vault"))
            result = connect(agents, vault=vault, home=home, project=project, dry_run=dry_run)
        else:
            result = disconnect(agents, home=home, project=project, dry_run=dry_run)
        _show(session, name, result)
        if result.refused:
            context.exit(EXIT_DAMAGED)

    words = {
        "connect": "Write hooks and the MCP server into the settings of agents: of those named, else of all that are "
        "installed.\n\nA file that does not parse is left alone, and what to add is printed.",
        "disconnect": "Take wikimem out of the settings of agents again.\n\nEvery other byte of them stays as it is.",
    }
    return _command(
        name,
        callback,
        [
            click.Argument(["agents"], metavar="[AGENT]...", nargs=-1),
            click.Option(
                ["--project", "in_project"],
                is_flag=True,
                help="The settings of the working directory's project, instead of your own.",
            ),
            click.Option(["--dry-run", "dry_run"], is_flag=True, help="Only show what would be changed, as a diff."),
        ],
        without=frozenset({"project"}),
        help=words[name],
        examples=(f"wikimem {name}", f"wikimem {name} claude codex --dry-run"),
    )


PROCESSES: Final[dict[str, Process]] = {
    "init": Process("Make a vault, or take a folder of Markdown files as one.", _init),
    "trust": Process("Say that a vault which came from elsewhere is yours.", _trust),
    "mcp": Process("Serve MCP on standard input and output, for agents.", _mcp),
    "lsp": Process("Serve an editor: completion, hover, diagnostics, links.", _lsp),
    "resident": Process("Show or stop the process that keeps a vault open between commands.", _resident),
    "hook": Process("Take an event from an agent's hook.", _hook),
    "connect": Process("Write wikimem into the settings of agents.", lambda: connect_command("connect")),
    "disconnect": Process("Take wikimem out of the settings of agents.", lambda: connect_command("disconnect")),
    "watch": Process("Index what changes as it changes, and commit people's edits.", _watch),
    "doctor": Process("Check that wikimem, git, the disk and the agents work together.", _doctor),
    "eval": Process("Measure how well searches find the pages that answer your questions.", _eval),
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
