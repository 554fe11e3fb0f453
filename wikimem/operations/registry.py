"""Turns a typed function into an Operation that every door can serve.

Parameters are `Annotated[type, Arg(help, ...)]`; from them come the CLI's options, the MCP and REST schemas and the
reference pages. msgspec checks arguments and writes the schemas: it does so from plain types and dataclasses, and
costs a tenth of pydantic at start-up.
"""

from __future__ import annotations

import inspect
import keyword
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, get_args, get_origin, get_type_hints

import msgspec
from msgspec import Struct

from wikimem.errors import Invalid

if TYPE_CHECKING:
    from wikimem.wiki import Wiki

Effect = Literal["read", "write", "destroy"]
SCHEMA_VERSION: Final = 1


class Arg(Struct, frozen=True):
    """What the doors need to know about a parameter beyond its type.

    `positional`: a plain argument in the CLI. `stdin`: `-` reads standard input there. `raw`: must reach the
    operation exactly as given, so the redaction gate passes it by (an address or a text to look for, which is never
    written). `only`: the single door that offers it.
    """

    help: str
    ge: float | None = None
    le: float | None = None
    positional: bool = False
    stdin: bool = False
    raw: bool = False
    metavar: str | None = None
    only: Literal["cli"] | None = None


class Param(Struct, frozen=True):
    """One parameter; `type` is without Annotated, `default` is `inspect.Parameter.empty` where it is required."""

    name: str
    type: Any
    default: Any
    arg: Arg

    @property
    def keyword(self) -> str:
        """The function's own name for it: `global` cannot be one in Python."""
        return self.name + "_" if keyword.iskeyword(self.name) else self.name

    @property
    def required(self) -> bool:
        return self.default is inspect.Parameter.empty

    @property
    def is_list(self) -> bool:
        return get_origin(self.type) is list


COMMON: Final[tuple[Param, ...]] = (
    Param("project", str | None, None, Arg("Project to work in, instead of the one of the working directory.")),
    Param("agent", str | None, None, Arg("Agent on whose behalf this is done.")),
    Param("session", str | None, None, Arg("Session of that agent.")),
)
"""Parameters that every operation takes; where one declares the name itself, its own meaning holds."""


@dataclass(frozen=True)
class Operation:
    """One thing that wikimem can do, as every door offers it."""

    name: str
    effect: Effect
    function: Callable[..., Any]
    idempotent: bool = False
    examples: tuple[str, ...] = ()

    @property
    def summary(self) -> str:
        """One line."""
        return self.description.splitlines()[0]

    @property
    def description(self) -> str:
        return inspect.getdoc(self.function) or ""

    @cached_property
    def own_params(self) -> tuple[Param, ...]:
        hints = get_type_hints(self.function, localns={"Wiki": object}, include_extras=True)
        declared = list(inspect.signature(self.function).parameters.values())[1:]
        return tuple(_param(parameter, hints[parameter.name]) for parameter in declared)

    @cached_property
    def common_params(self) -> tuple[Param, ...]:
        own = {param.name for param in self.own_params}
        return tuple(param for param in COMMON if param.name not in own)

    @cached_property
    def params(self) -> tuple[Param, ...]:
        return (*self.own_params, *self.common_params)

    @cached_property
    def arguments(self) -> type[msgspec.Struct]:
        """The struct that checks arguments; unknown names are refused."""
        fields = [(param.keyword, _checked(param), _field(param)) for param in self.params]
        return msgspec.defstruct(f"{self.name}_arguments", fields, kw_only=True, forbid_unknown_fields=True)

    @cached_property
    def result(self) -> Any:
        return get_type_hints(self.function, localns={"Wiki": object})["return"]

    def input_schema(self, *, door: str = "mcp") -> dict[str, Any]:
        """JSON Schema 2020-12 of the arguments, without references."""
        schema = _inlined(msgspec.json.schema(self.arguments))
        hidden = [param.name for param in self.params if param.arg.only not in (None, door)]
        for name in hidden:
            schema["properties"].pop(name)
        schema.pop("title", None)
        return schema

    def output_schema(self) -> dict[str, Any]:
        """JSON Schema 2020-12 of the result, without references."""
        schema = _inlined(msgspec.json.schema(self.result))
        schema.pop("title", None)
        return schema

    def check(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments with their defaults, each of its type. Raises Invalid naming the parameter."""
        try:
            checked = msgspec.convert(dict(arguments), self.arguments, strict=True)
        except msgspec.ValidationError as error:
            raise Invalid(
                f"{self.name}: {self._worded(error)}",
                hint=f"See the schema of `{self.name}`, or `wikimem {self.name} --help` at a command line.",
            ) from error
        return {param.keyword: getattr(checked, param.keyword) for param in self.params}

    def run(self, wiki: Wiki, arguments: Mapping[str, Any]) -> Any:
        """Check `arguments`, pass every text through the redaction gate, then do it: the one way in for every door."""
        checked = self.check(arguments)
        wiki = wiki.on_behalf(**{param.name: checked.pop(param.name) for param in self.common_params})
        if self.effect != "read":
            raw = {param.keyword for param in self.params if param.arg.raw}
            wiki.redacted.clear()
            checked = {name: value if name in raw else wiki.gate(value) for name, value in checked.items()}
            _write_captured_first(wiki, checked)
        with wiki.operating(self.name, self.effect):
            return self.function(wiki, **checked)

    def _worded(self, error: msgspec.ValidationError) -> str:
        """msgspec's words with the parameter in front, and the choices where there are some."""
        text = str(error)
        found = re.search(r" - at `\$\.([A-Za-z_]+)", text)
        if not found:
            return text.replace("Object missing required field", "missing parameter").replace(
                "Object contains unknown field", "unknown parameter"
            )
        name, said = found[1], text.partition(" - at ")[0]
        choices = next((choices_of(param.type) for param in self.params if param.name == name), ())
        if choices:
            said = said.replace("Invalid enum value", "there is no") + "; one of " + ", ".join(choices)
        return f"{name}: {said}"

    def render(self, result: Any) -> dict[str, Any]:
        """The result as JSON-ready values, keys as in the contract."""
        rendered = msgspec.to_builtins(result)
        assert isinstance(rendered, dict), f"{self.name} must return a dataclass"
        return rendered

    def document(self, result: Any) -> dict[str, Any]:
        """What `--json` prints: the result with the name of its schema."""
        return {"schema": f"wikimem/{self.name}/{SCHEMA_VERSION}", **self.render(result)}


def _write_captured_first(wiki: Wiki, arguments: Mapping[str, Any]) -> None:
    """What hooks captured goes onto its pages before anything else is written; reads, dry runs and a `check` that mends
    nothing never do that."""
    if arguments.get("dry_run") or arguments.get("fix") is False:
        return
    from wikimem.memory.sessions.drain import ride_along

    ride_along(wiki)


def operation(
    effect: Effect, *, idempotent: bool = False, examples: tuple[str, ...] = ()
) -> Callable[[Callable[..., Any]], Operation]:
    """Make the decorated function an Operation. Its first parameter is the Wiki; its docstring is the help."""

    def define(function: Callable[..., Any]) -> Operation:
        return Operation(function.__name__.rstrip("_"), effect, function, idempotent, examples)

    return define


def _param(parameter: inspect.Parameter, hint: Any) -> Param:
    if get_origin(hint) is not Annotated:
        raise TypeError(f"parameter {parameter.name!r} needs Annotated[type, Arg(help)]")
    kind, arg, *_ = get_args(hint)
    return Param(parameter.name.rstrip("_"), kind, parameter.default, arg)


def _checked(param: Param) -> Any:
    """The parameter's type with its bounds and its help, as msgspec wants them."""
    kind: Any = param.type
    if param.arg.ge is not None or param.arg.le is not None:
        bounds = msgspec.Meta(ge=param.arg.ge, le=param.arg.le)
        inner: Any = next((each for each in get_args(param.type) if each is not type(None)), param.type)
        bounded: Any = Annotated[inner, bounds]
        kind = bounded if inner is param.type else bounded | None
    return Annotated[kind, msgspec.Meta(description=param.arg.help)]


def _field(param: Param) -> Any:
    if param.required:
        return msgspec.field(name=param.name)
    if param.default in ([], {}):
        return msgspec.field(name=param.name, default_factory=type(param.default))
    return msgspec.field(name=param.name, default=param.default)


def choices_of(kind: Any) -> tuple[str, ...]:
    """The words that a Literal type, optional or not, allows; empty for any other type."""
    for inner in (kind, *get_args(kind)):
        if get_origin(inner) is Literal:
            return get_args(inner)
    return ()


def _inlined(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema with every `$ref` replaced by what it names: some MCP hosts do not follow references."""
    definitions = schema.pop("$defs", {})

    def walk(node: Any) -> Any:
        if isinstance(node, list):
            return [walk(item) for item in node]
        if not isinstance(node, dict):
            return node
        reference = node.get("$ref")
        if isinstance(reference, str):
            return walk(definitions[reference.rpartition("/")[2]])
        return {key: walk(value) for key, value in node.items()}

    inlined = walk(schema)
    assert isinstance(inlined, dict)
    return inlined
