"""How help is laid out: description, examples, own options, common options."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from wikimem.surfaces.cli.settings import CommonOption


def write_options(command: click.Command, context: click.Context, formatter: click.HelpFormatter) -> None:
    """The command's own options, then those that every command takes."""
    params = command.get_params(context)
    own = [param for param in params if not isinstance(param, CommonOption | click.Argument)]
    common = [param for param in params if isinstance(param, CommonOption)]
    for title, group in (("Options", own), ("Common options", common)):
        rows = [row for row in (param.get_help_record(context) for param in group) if row is not None]
        if rows:
            with formatter.section(title):
                formatter.write_dl(rows, col_max=26)


class WrittenArgument(click.Argument):
    """A positional argument with an explanation, which click's own has not."""

    def __init__(self, *args: Any, help: str, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.explained = help


class WrittenCommand(click.Command):
    """A command whose help shows what its arguments mean, and examples as they are typed."""

    def __init__(self, *args: Any, examples: Sequence[str] = (), needed: Sequence[str] = (), **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.examples = tuple(examples)
        self.needed = frozenset(needed)

    def collect_usage_pieces(self, ctx: click.Context) -> list[str]:
        """Usage tells what is needed; for click all is optional, so that the operation itself says what is missing."""
        pieces = [self.options_metavar] if self.options_metavar else []
        for param in self.get_params(ctx):
            if isinstance(param, click.Argument):
                shown = param.make_metavar(ctx).strip("[]").removesuffix("...")
                shown = shown if param.name in self.needed else f"[{shown}]"
                pieces.append(f"{shown}..." if param.nargs == -1 else shown)
        return pieces

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        arguments = [param for param in self.get_params(ctx) if isinstance(param, WrittenArgument)]
        if arguments:
            with formatter.section("Arguments"):
                rows = [
                    (param.make_metavar(ctx).strip("[]").removesuffix("..."), param.explained) for param in arguments
                ]
                formatter.write_dl(rows, col_max=26)
        if self.examples:
            with formatter.section("Examples"):
                formatter.write("".join(f"{'':>{formatter.current_indent}}{example}\n" for example in self.examples))
        write_options(self, ctx, formatter)
