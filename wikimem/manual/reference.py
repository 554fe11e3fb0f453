"""The reference pages, made from the definitions that the program itself runs on."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

from wikimem.errors import ERROR_KINDS
from wikimem.operations import CORE, OPERATIONS, PLANNED
from wikimem.operations.registry import SCHEMA_VERSION, Operation, Param, choices_of
from wikimem.surfaces.cli.processes import PLANNED_PROCESSES, PROCESSES
from wikimem.surfaces.cli.run import EXIT_BROKEN_PIPE, EXIT_BUG, EXIT_INTERRUPTED
from wikimem.surfaces.cli.settings import FLAGS, TEXT_OPTIONS
from wikimem.surfaces.cli.usage import WrittenCommand
from wikimem.vault.config import USER_KEYS, VAULT_KEYS, ConfigKey, UserConfig, VaultConfig

MARK: Final = (
    "<!-- Written by `python -m wikimem.manual`; change the definitions that it is made from, not this page. -->"
)
EFFECTS: Final = {"read": "reads", "write": "writes, one commit", "destroy": "takes away, asks first"}


def cli_page() -> str:
    """cli.md: every command, its parameters, and what `--json` prints."""
    parts = [
        "# Commands",
        MARK,
        "Every command in one place; `wikimem COMMAND --help` shows the same in a terminal. A PAGE is an id, the last "
        "6 or more characters of one, a path, a title, an alias or a `[[wikilink]]`. A DATE is ISO 8601 or words such "
        "as `yesterday`, `last march`, `3 weeks ago`.",
        "## Options of every command",
        "They may stand before or after the command. Where a command has a parameter of the same name, that one is "
        "meant after it.",
        _table(
            ("option", "meaning"),
            [
                *((f"`--{name} {metavar}`", help_) for name, metavar, help_ in TEXT_OPTIONS),
                *((f"`--{name.replace('_', '-')}`", help_) for name, help_ in FLAGS),
                ("`--version`", "Show the version (before the command only)."),
            ],
        ),
        "Data goes to standard output; notes, progress, questions and errors go to standard error. "
        "[Errors](errors.md) lists the exit codes.",
        "## Operations",
        "MCP offers the same; see [MCP](mcp.md).",
        *(_operation(operation) for operation in OPERATIONS),
        "## Processes",
        *(_process(name) for name in PROCESSES),
        "## Not built yet",
        "These names are taken. They accept any arguments and answer `unavailable` (exit code 6).",
        _table(("command", "will"), [(f"`{name}`", text) for name, text in {**PLANNED, **PLANNED_PROCESSES}.items()]),
    ]
    return _joined(parts)


def _operation(operation: Operation) -> str:
    usage = " ".join(
        param.name.upper() if param.required else f"[{param.name.upper()}]"
        for param in operation.own_params
        if param.arg.positional
    )
    head = f"### {operation.name}\n\n`wikimem {operation.name} {usage}`".rstrip("` ") + "`"
    rows = [_row(param) for param in operation.own_params]
    if operation.effect == "destroy":
        rows.append(("`--yes`, `-y`", "", "Do it without asking."))
    return _joined(
        [
            f"{head} · {EFFECTS[operation.effect]}",
            operation.description,
            _table(("parameter", "value", "meaning"), rows),
            _code(operation.examples),
            f"`--json` prints `wikimem/{operation.name}/{SCHEMA_VERSION}`. {_said(operation.result)}".strip(),
            _table(("key", "value"), list(_keys(operation.output_schema()))),
        ]
    )


def _row(param: Param) -> tuple[str, str, str]:
    name = param.name.upper() if param.arg.positional else "--" + param.name.replace("_", "-")
    notes = [param.arg.help]
    if param.arg.ge is not None and param.arg.le is not None:
        notes.append(f"From {param.arg.ge:g} to {param.arg.le:g}.")
    if not param.required and param.default not in (None, "", [], False):
        notes.append(f"Default `{param.default}`.")
    if param.arg.only:
        notes.append("Not over MCP.")
    return f"`{name}`", _value(param), " ".join(notes)


def _value(param: Param) -> str:
    words = choices_of(param.type)
    if words:
        return ", ".join(f"`{word}`" for word in words)
    if param.arg.metavar:
        return f"`{param.arg.metavar}`"
    plain = str(param.type).replace("<class '", "").replace("'>", "").replace(" | None", "")
    names = {"str": "text", "int": "whole number", "float": "number", "bool": "flag", "list[str]": "text, repeatable"}
    return names.get(plain, plain)


def _keys(schema: Mapping[str, Any], prefix: str = "") -> Iterable[tuple[str, str]]:
    """The keys of a result with what they hold; those of objects inside follow with a dotted name."""
    for name, inner in schema.get("properties", {}).items():
        kinds = [each for each in inner.get("anyOf", [inner]) if each.get("type") != "null"]
        kind = kinds[0] if kinds else inner
        optional = " or null" if len(inner.get("anyOf", [inner])) > len(kinds) else ""
        items = kind.get("items") if isinstance(kind.get("items"), dict) else None
        shown = f"{prefix}{name}{'[]' if kind.get('type') == 'array' else ''}"
        yield f"`{shown}`", _kind(items or kind) + optional
        yield from _keys(items or kind, f"{shown}.")


def _kind(schema: Mapping[str, Any]) -> str:
    if "enum" in schema:
        return ", ".join(f"`{word}`" for word in schema["enum"])
    if "anyOf" in schema:
        return " or ".join(dict.fromkeys(_kind(each) for each in schema["anyOf"]))
    kind = schema.get("type")
    if kind == "array":
        return f"list of {_kind(schema.get('items') or {})}"
    if kind == "object" and isinstance(schema.get("additionalProperties"), dict):
        return f"object of {_kind(schema['additionalProperties'])}"
    words = {"string": "text", "integer": "whole number", "boolean": "true or false", "null": "null"}
    return words.get(str(kind), str(kind or "value"))


def _process(name: str) -> str:
    command = PROCESSES[name].make()
    rows: list[tuple[str, str]] = []
    for param in command.params:
        explained = getattr(param, "explained", None) or getattr(param, "help", None)
        if explained and "expose_value" in vars(param) and param.expose_value:
            shown = str(param.name).upper() if param.param_type_name == "argument" else ", ".join(param.opts)
            rows.append((f"`{shown}`", explained))
    examples = command.examples if isinstance(command, WrittenCommand) else ()
    return _joined(
        [
            f"### {name}",
            command.help or "",
            _table(("parameter", "meaning"), rows) if rows else "",
            _code(examples),
        ]
    )


def mcp_page() -> str:
    """mcp.md: the tools, and what else the server offers."""
    tools = [
        (f"`{operation.name}`", EFFECTS[operation.effect], _default(operation.name), operation.summary)
        for operation in OPERATIONS
    ]
    planned = [(f"`{name}`", "not built yet", _default(name), text) for name, text in PLANNED.items()]
    return _joined(
        [
            "# MCP",
            MARK,
            "`wikimem mcp` serves the Model Context Protocol on standard input and output. It speaks revision "
            "2026-07-28 and, with a handshake, those from 2024-11-05 to 2025-11-25. [Agents](agents.md) tells how to "
            "connect one.",
            "## Tools",
            "Parameters are those of the [commands](cli.md), by the same names with underscores. Every tool has "
            "annotations (read-only, destructive, idempotent, closed world) and an input schema; those that are built "
            "have an output schema.",
            _table(("tool", "effect", "offered", "what it does"), [*tools, *planned]),
            "- **Result**: the text form is the content, the JSON form the structured content. The JSON is not given "
            "again as text: that would cost a model two to three times the tokens.\n"
            '- **Error**: `isError`, with two text blocks: the message and hint in words, and `{"error": {...}}` with '
            "`kind`, `message`, `hint` and data such as the current `revision`; see [Errors](errors.md). A tool that "
            "does not exist is a protocol error.\n"
            "- **Agent**: the name that the client gave itself, unless the call or the command line names another. "
            "What is written has the trust `agent`.\n"
            "- **Vault**: chosen when the server starts, as on the command line. Where it is missing or not trusted, "
            "the server starts all the same; every call says why it cannot work and what to do, and works as soon as "
            "that is done.\n"
            "- **Disk**: every call works on the files as they are then; calls are done one after the other.",
            "## Resources",
            "`wikimem://page/{id}` is a page as Markdown, secrets masked. The list has the active pages, the last "
            "changed first, 50 at a time.",
            "## Prompt",
            "`recall` with a `topic` asks the model to search the memory and to answer with the pages it found.",
        ]
    )


def _default(name: str) -> str:
    return "always" if name in CORE else "`--tools all`"


def config_page() -> str:
    """config.md: every setting, and the environment variables."""
    return _joined(
        [
            "# Settings",
            MARK,
            "Two files in TOML, both optional. An unknown key, or a value that makes no sense, is an error that names "
            "the file and the line.",
            "## Your own: `config.toml` in your configuration folder",
            "On Linux `~/.config/wikimem/config.toml`, or under `$XDG_CONFIG_HOME`. What could do harm in a "
            "stranger's hands is read from here only.",
            *_settings(USER_KEYS, UserConfig()),
            "## Of a vault: `.wikimem/config.toml`",
            "It lies in the vault and comes with a clone of it, so it names no command, model or path.",
            *_settings(VAULT_KEYS, VaultConfig()),
            "## Environment",
            _table(
                ("variable", "meaning"),
                [
                    ("`WIKIMEM_VAULT`", "The vault, where `--vault` does not name one."),
                    ("`WIKIMEM_AGENT`", "The agent, where `--agent` does not name one."),
                    ("`WIKIMEM_SESSION`", "The agent's session, where `--session` does not name one."),
                    ("`WIKIMEM_RESIDENT`", "`off`, or after how many idle minutes the [resident](resident.md) ends."),
                    ("`NO_COLOR`, `FORCE_COLOR`, `TERM=dumb`", "Colours never, always, never."),
                    ("`PAGER`", "What `wikimem help` shows long pages with."),
                    ("`XDG_CONFIG_HOME`, `XDG_CACHE_HOME`, `XDG_STATE_HOME`", "Where your folders lie, on Linux."),
                ],
            ),
        ]
    )


def _settings(keys: Sequence[ConfigKey], defaults: object) -> list[str]:
    parts = []
    for key in keys:
        default = getattr(defaults, key.name)
        said = "Not set by default." if default in (None, {}) else f"Default: `{_toml(default)}`."
        parts += [f"### `{key.name}`", f"{key.doc} {said}", f"```toml\n{key.example}\n```"]
    return parts


def _toml(value: Any) -> str:
    if isinstance(value, tuple):
        return "[" + ", ".join(f'"{each}"' for each in value) + "]"
    return str(value)


def errors_page() -> str:
    """errors.md: the kinds of errors, at every door."""
    rows = [(f"`{kind.kind}`", str(kind.exit_code), str(kind.http_status), _said(kind)) for kind in ERROR_KINDS]
    return _joined(
        [
            "# Errors",
            MARK,
            "An error says what happened and what to do next. The command line writes both to standard error as "
            "`error: ...` and `hint: ...`; with `--json` as one object, "
            '`{"error": {"kind", "message", "hint"}}`, with further keys where a program can act on them (the current '
            "`revision` of a page, the `candidates` for an ambiguous one). MCP gives the same document.",
            _table(("kind", "exit code", "HTTP", "meaning"), rows),
            _table(
                ("exit code", "meaning"),
                [
                    ("0", "Done. Finding nothing is no error."),
                    ("1", "`check --strict` found errors or warnings; `eval` did not reach what `--require` asks."),
                    (str(EXIT_BUG), "A bug: the message says where to report it, `--debug` shows the traceback."),
                    (str(EXIT_INTERRUPTED), "Interrupted from the keyboard."),
                    (str(EXIT_BROKEN_PIPE), "Whoever read the output went away; nothing is printed."),
                ],
            ),
            "[Troubleshooting](troubleshooting.md) goes through single messages.",
        ]
    )


PAGES: Final[dict[str, Callable[[], str]]] = {
    "cli.md": cli_page,
    "mcp.md": mcp_page,
    "config.md": config_page,
    "errors.md": errors_page,
}
"""The generated pages by file name."""


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = ["| " + " | ".join(heads) + " |", "|" + "---|" * len(heads)]
    lines += ["| " + " | ".join(" ".join(cell.split()).replace("|", "\\|") for cell in row) + " |" for row in rows]
    return "\n".join(lines) if len(lines) > 2 else ""


def _code(lines: Sequence[str]) -> str:
    return "```console\n" + "\n".join(f"$ {line}" for line in lines) + "\n```" if lines else ""


def _said(kind: type) -> str:
    """A class's docstring as running text; the signature that a dataclass without one gets is none."""
    said = " ".join((inspect.getdoc(kind) or "").split())
    return "" if said.startswith(f"{kind.__name__}(") else said


def _joined(parts: Iterable[str]) -> str:
    return "\n\n".join(part for part in parts if part)
