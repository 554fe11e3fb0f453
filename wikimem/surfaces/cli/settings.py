"""What the common options and the environment say; only the command line reads the environment."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import click


@dataclass
class Settings:
    """The common options. Those before the subcommand are taken first, those after it win."""

    vault: str | None = None
    project: str | None = None
    agent: str | None = None
    session: str | None = None
    json: bool = False
    quiet: bool = False
    no_color: bool = False
    debug: bool = False


def settings_from(environment: Mapping[str, str]) -> Settings:
    """The settings that the environment gives; an empty variable counts as not set."""
    return Settings(
        vault=environment.get("WIKIMEM_VAULT") or None,
        agent=environment.get("WIKIMEM_AGENT") or None,
        session=environment.get("WIKIMEM_SESSION") or None,
    )


def wants_color(terminal: bool, no_color: bool, environment: Mapping[str, str]) -> bool:
    """Whether to colour a stream: --no-color, then NO_COLOR, then FORCE_COLOR, else on a terminal that is not dumb."""
    if no_color or environment.get("NO_COLOR"):
        return False
    if environment.get("FORCE_COLOR"):
        return True
    return terminal and environment.get("TERM") != "dumb"


TEXT_OPTIONS: Final[tuple[tuple[str, str, str], ...]] = (
    ("vault", "PATH", "The vault, instead of WIKIMEM_VAULT, the working directory's or the default one."),
    ("project", "NAME", "The project at hand, instead of the working directory's."),
    ("agent", "NAME", "The agent on whose behalf this is done, instead of WIKIMEM_AGENT."),
    ("session", "ID", "The session of that agent, instead of WIKIMEM_SESSION."),
)
FLAGS: Final[tuple[tuple[str, str], ...]] = (
    ("json", "Print one JSON object; errors too, on standard error."),
    ("quiet", "No notes and no progress on standard error."),
    ("no_color", "No colours, as NO_COLOR says too."),
    ("debug", "Show the traceback of a bug."),
)


class CommonOption(click.Option):
    """An option that every command takes; help lists these apart."""


def common_options(*, without: frozenset[str] = frozenset()) -> list[click.Parameter]:
    """The common options as click wants them, less those whose name the command itself uses."""

    def keep(context: click.Context, parameter: click.Parameter, value: Any) -> None:
        source = context.get_parameter_source(str(parameter.name))
        if context.obj is not None and source is click.core.ParameterSource.COMMANDLINE:
            setattr(context.obj.settings, str(parameter.name), value)

    texts = [
        CommonOption([f"--{name}", name], metavar=metavar, help=help_, expose_value=False, callback=keep, is_eager=True)
        for name, metavar, help_ in TEXT_OPTIONS
        if name not in without
    ]
    flags = [
        CommonOption(
            [f"--{name.replace('_', '-')}", name],
            is_flag=True,
            help=help_,
            expose_value=False,
            callback=keep,
            is_eager=True,
        )
        for name, help_ in FLAGS
    ]
    return [*texts, *flags]
