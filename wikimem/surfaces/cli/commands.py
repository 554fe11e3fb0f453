"""The commands: one for each operation, from its definition; then the processes; then what is not built yet."""

from __future__ import annotations

import difflib
import textwrap
from collections.abc import Callable
from typing import Any, Final

import click

import wikimem
from wikimem.errors import Invalid
from wikimem.operations import OPERATIONS, PLANNED
from wikimem.surfaces.cli.operation import operation_command
from wikimem.surfaces.cli.processes import PLANNED_PROCESSES, PROCESSES, not_built
from wikimem.surfaces.cli.settings import Settings, common_options
from wikimem.surfaces.cli.usage import write_options


class Cli(click.Group):
    """The `wikimem` command. A command is made when it is asked for, so that start-up pays for one only."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        del ctx
        return list(FACTORIES)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        del ctx
        make = FACTORIES.get(cmd_name)
        return make() if make else None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if name not in FACTORIES and not name.startswith("-"):
            near = difflib.get_close_matches(name, FACTORIES, n=2, cutoff=0.6)
            meant = " or ".join(f"`wikimem {each}`" for each in near)
            raise Invalid(
                f"there is no command '{name}'", hint=f"Did you mean {meant}?" if near else "See `wikimem --help`."
            )
        return super().resolve_command(ctx, args)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        self.format_commands(ctx, formatter)
        write_options(self, ctx, formatter)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        del ctx
        for title, rows in sections():
            with formatter.section(title):
                formatter.write_dl(rows, col_max=14)
        with formatter.section("Not built yet"):
            names = ", ".join([*PLANNED, *PLANNED_PROCESSES])
            width = formatter.width - formatter.current_indent
            for line in textwrap.wrap(names, width, break_on_hyphens=False):
                formatter.write(f"{'':>{formatter.current_indent}}{line}\n")


def sections() -> list[tuple[str, list[tuple[str, str]]]]:
    """What `wikimem --help` lists, under its headings."""
    titles = {"read": "Read", "write": "Write", "destroy": "Destroy (asks first)"}
    found: list[tuple[str, list[tuple[str, str]]]] = [
        (title, [(each.name, each.summary) for each in OPERATIONS if each.effect == effect])
        for effect, title in titles.items()
    ]
    found.append(("Set up and run", [(name, process.summary) for name, process in PROCESSES.items()]))
    return [(title, rows) for title, rows in found if rows]


def _factories() -> dict[str, Callable[[], click.Command]]:
    made: dict[str, Callable[[], click.Command]] = {}
    for operation in OPERATIONS:
        made[operation.name] = lambda operation=operation: operation_command(operation)  # type: ignore[misc]
    for name, process in PROCESSES.items():
        made[name] = process.make
    for name, summary in (*PLANNED.items(), *PLANNED_PROCESSES.items()):
        made[name] = lambda name=name, summary=summary: not_built(name, summary)  # type: ignore[misc]
    return made


FACTORIES: Final[dict[str, Callable[[], click.Command]]] = _factories()


def _version(context: click.Context, parameter: click.Parameter, value: bool) -> None:
    del parameter
    if value and not context.resilient_parsing:
        click.echo(f"wikimem {wikimem.__version__}")
        context.exit()


def _start(**_: Any) -> None:
    context = click.get_current_context()
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


cli: Final = Cli(
    "wikimem",
    help=wikimem.__doc__,
    callback=_start,
    invoke_without_command=True,
    context_settings={"max_content_width": 100},
    params=[
        *common_options(),
        click.Option(
            ["--version"], is_flag=True, expose_value=False, is_eager=True, callback=_version, help="Show the version."
        ),
    ],
    epilog="`wikimem COMMAND --help` explains a command, `wikimem help` lists the manual.",
)

__all__ = ["FACTORIES", "Settings", "cli", "sections"]
