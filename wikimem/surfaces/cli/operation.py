"""From an Operation to its click command."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, get_args

import click

from wikimem.errors import Invalid
from wikimem.operations.registry import Operation, Param, choices_of
from wikimem.surfaces.cli.asking import ask_at_terminal
from wikimem.surfaces.cli.settings import common_options
from wikimem.surfaces.cli.usage import WrittenArgument, WrittenCommand

if TYPE_CHECKING:
    from wikimem.surfaces.cli.run import Session

STDIN: Final = "-"
EXIT_FAILED: Final = 1
"""For a result that says of itself that it is no good, where the caller asked for that: `check --strict`."""


class Words(click.Choice[str]):
    """The words of a Literal: shown and completed here, checked by the operation, so that every door words it alike."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        del param, ctx
        return value


class OperationCommand(WrittenCommand):
    """A command that says what to do where words of one text were not put in quotes."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        ctx.allow_extra_args = True
        rest = super().parse_args(ctx, args)
        if ctx.args and not ctx.resilient_parsing:
            given = [str(ctx.params[param.name]) for param in self.params if isinstance(param, click.Argument)]
            meant = " ".join([*given, *ctx.args])
            hint = f"Put words that belong together in quotes: wikimem {self.name} '{meant}'." if given else ""
            if not given and any(param.name == "page" for param in self.params):
                hint = f"Name a page with --page: wikimem {self.name} --page '{meant}'."
            raise Invalid(
                f"{self.name}: unexpected argument '{ctx.args[0]}'", hint=hint or f"See `wikimem {self.name} --help`."
            )
        return rest


def operation_command(operation: Operation) -> click.Command:
    """The command of one operation: its own parameters, then the common options that it does not replace."""
    own = frozenset(param.name for param in operation.own_params)
    params: list[click.Parameter] = [_parameter(param) for param in operation.own_params]
    if operation.effect == "destroy":
        params.append(click.Option(["--yes", "-y", "yes"], is_flag=True, help="Do it without asking."))
    params += common_options(without=own)

    def callback(**values: Any) -> int:
        context = click.get_current_context()
        session: Session = context.obj
        yes = bool(values.pop("yes", False))
        typed = {
            name: value
            for name, value in values.items()
            if context.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE
        }
        arguments = _arguments(operation, typed)
        # Before the vault: what makes no sense is said even where there is none.
        operation.check(arguments)
        wiki = session.wiki()
        if operation.effect == "destroy" and not yes and not arguments.get("dry_run"):
            _ask(session, operation, arguments)
        result = operation.run(wiki, arguments)
        session.progress.close()
        _present(session, operation, result)
        return EXIT_FAILED if getattr(result, "failed", False) else 0

    return OperationCommand(
        operation.name,
        callback=callback,
        params=params,
        help=operation.description,
        short_help=operation.summary,
        examples=operation.examples,
        needed=[param.name for param in operation.own_params if param.required],
        context_settings={"max_content_width": 100},
    )


def _present(session: Session, operation: Operation, result: Any) -> None:
    if session.settings.json:
        session.output.document(operation.document(result))
        return
    from wikimem.present.text import text

    session.output.data(text(result))
    session.output.notes(result.notes)


def _ask(session: Session, operation: Operation, arguments: Mapping[str, Any]) -> None:
    """Show what would be done, and go on only when a person at a terminal says yes."""
    ask_at_terminal(
        operation.name, session.output, lambda: operation.run(session.wiki(), {**arguments, "dry_run": True})
    )


def _parameter(param: Param) -> click.Parameter:
    kind = _click_type(param)
    if param.arg.positional:
        return WrittenArgument(
            [param.name], type=kind, required=False, nargs=-1 if param.is_list else 1, help=param.arg.help
        )
    flag = "--" + param.name.replace("_", "-")
    if param.type is bool:
        return click.Option([flag, param.name], is_flag=True, default=False, help=param.arg.help)
    pair = _pair(param)
    return click.Option(
        [flag, param.name],
        type=kind,
        multiple=param.is_list and not pair,
        nargs=2 if pair else 1,
        metavar=param.arg.metavar or _metavar(param),
        help=_explained(param),
    )


def _pair(param: Param) -> bool:
    """A list of exactly two texts, typed after one option."""
    return param.is_list and " " in (param.arg.metavar or "")


def _metavar(param: Param) -> str | None:
    return None if choices_of(param.type) or _plain(param) is not str else "TEXT"


def _explained(param: Param) -> str:
    """The parameter's help with its bounds and its default."""
    extra = []
    if param.arg.ge is not None and param.arg.le is not None:
        extra.append(f"{param.arg.ge:g} to {param.arg.le:g}")
    if not param.required and param.default not in (None, "", [], False):
        extra.append(f"default: {param.default}")
    return f"{param.arg.help} [{'; '.join(extra)}]" if extra else param.arg.help


def _click_type(param: Param) -> click.ParamType[Any]:
    words = choices_of(param.type)
    if words:
        return Words(words)
    plain = _plain(param)
    return click.INT if plain is int else click.FLOAT if plain is float else click.STRING


def _plain(param: Param) -> Any:
    """The type of one value: `float` of `float | None`, `str` of `list[str]`."""
    inner = [kind for kind in get_args(param.type) if kind is not type(None)]
    return inner[0] if inner else param.type


def _arguments(operation: Operation, typed: Mapping[str, Any]) -> dict[str, Any]:
    """What was typed, as the operation takes it: lists for lists, standard input where `-` stands for it."""
    arguments: dict[str, Any] = {}
    for param in operation.own_params:
        if param.name not in typed:
            continue
        value = typed[param.name]
        if isinstance(value, tuple):
            value = list(value)
        if param.arg.stdin and value == STDIN:
            value = read_standard_input(param.name)
        elif not param.arg.raw:
            _check_text(operation.name, param.name, value)
        arguments[param.name] = value
    return arguments


def read_standard_input(name: str) -> str:
    """All of standard input, which is UTF-8 whatever the locale says. Raises Invalid where it is not."""
    data = sys.stdin.buffer.read() if sys.stdin is not None else b""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise Invalid(
            f"{name}: standard input is not UTF-8 (byte {error.start + 1})",
            hint="Convert it first, for example with `iconv -f latin1 -t utf-8`.",
        ) from error


def _check_text(operation: str, name: str, value: Any) -> None:
    """Refuse an argument with bytes that are no text: it could not be written into a page."""
    for text in value if isinstance(value, list) else [value]:
        if isinstance(text, str) and any("\ud800" <= char <= "\udfff" for char in text):
            raise Invalid(f"{operation}: {name}: the text is not UTF-8", hint="Give it in UTF-8.")
